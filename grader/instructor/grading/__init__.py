"""Grade a class: grading processes that grade, an executor that spreads the work, a gradebook that keeps it.

May import gradebook, submissions, lms and the engine; never html or cli.
"""
