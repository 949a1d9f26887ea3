"""What belongs to one learner: the workspace, the questions and the demos.

May import engine and below; never instructor, author or cli.
"""
