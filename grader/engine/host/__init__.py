"""The trusted side of a submission: starting its worker, talking to it, and what a check sees of it."""
