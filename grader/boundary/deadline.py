"""How long an answer is waited for."""

from __future__ import annotations

import time

from grader.machine import core_times, most_stolen


class Deadline:
    """A moment that moves on by what the machine under a virtual one takes away: no submission is to pay for that."""

    def __init__(self, seconds: float) -> None:
        self._at = time.monotonic() + seconds
        self._before = core_times()

    def left(self) -> float:
        """Return the seconds left; 0 or less when it has passed."""
        left = self._at - time.monotonic()
        return left if left > 0 else left + most_stolen(self._before)

    def extend(self, seconds: float) -> None:
        """Move it."""
        self._at += seconds
