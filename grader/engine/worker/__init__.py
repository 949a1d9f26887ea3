"""The untrusted side: all that runs in a submission's process.

May import engine.wire and engine.sandbox; never catalogue, report or files: they know where answers are.
"""
