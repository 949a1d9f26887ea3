"""Commands that an instructor types, one module each.

May import everything but the other commands' folders.
"""
