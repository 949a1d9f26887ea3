"""Fast enough? Decided by clocks that a submission cannot reach, with a stated rate of error.

May import engine.checks and engine.host; never the runner.
"""

from __future__ import annotations

from grader.engine.timing.work import Work

__all__ = ["Work"]
