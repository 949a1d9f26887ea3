"""A class: what was handed in, its grading, the gradebook, pages and exports.

May import engine, learner, author and below; never cli.
"""
