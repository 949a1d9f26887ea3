"""Demos: a kata's idea shown live, with the learner's own code if it passes.

May import engine and below; never instructor, author or cli.
"""
