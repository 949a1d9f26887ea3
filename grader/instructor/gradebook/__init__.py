"""A class's marks: stored in a database, adjusted by people, exported to other systems. No torch.

What happened is stored permanently (submissions, attempts, contents by digest, results, decisions); what counts is
computed from that and from `course.toml` by pure functions.
May import lms and below; never grading or html.
"""
