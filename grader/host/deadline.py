"""How long an answer is waited for."""

from __future__ import annotations

import time

from grader.machine import core_times, most_stolen

STALL_S = 1.0
"""A busy machine is late by less."""


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

    def forgive(self, began: float, asked: float) -> None:
        """Move it by what a wait that began at `began` took beyond the seconds that were asked for.

        poll(2) comes back in time, unless nothing ran here: the machine was suspended, or moved to another.
        """
        stalled = time.monotonic() - began - asked
        if stalled > STALL_S:
            self._at += stalled
