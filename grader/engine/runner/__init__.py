"""Collecting the checks of a kata, running them over a submission, and telling what came of it."""
