"""Tools for authors: the gate that proves a pack, calibration, wheels.

May import learner, engine and below; never instructor or cli.
"""
