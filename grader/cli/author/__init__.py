"""Commands that the author of a kata types, one module each.

May import everything but the other commands' folders.
"""
