"""Fast enough? Decided by clocks that a submission cannot reach, with a stated rate of error."""

from __future__ import annotations

from grader.engine.timing.work import Work

__all__ = ["Work"]
