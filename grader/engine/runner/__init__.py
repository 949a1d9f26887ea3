"""Collect the checks of a kata, run them over a submission, and make the report.

May import all of the engine; no other folder of the engine imports it.
"""
