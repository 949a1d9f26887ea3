"""Commands that a learner types, one module each.

May import everything but the other commands' folders.
"""
