"""The trusted side of a submission: starts its worker, calls it, and holds what a check sees of it.

May import engine.wire, engine.sandbox and the client of the fork server; never the loader that runs submissions.
"""
