"""Demos: a kata's idea shown live, with the learner's own code where it passes."""
