"""Judge one submission: calls into a worker, checks, verdicts, named mistakes, speed.

May import catalogue, report and the modules at the top; never instructor, learner, author or cli.
"""
