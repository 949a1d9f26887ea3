"""Wrong answers that a kata knows: made from differences, recognised by the numbers they return.

May import engine.checks and engine.host; never the runner, which asks it.
"""
