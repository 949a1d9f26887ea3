"""How long a run trains."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence


class Budget:
    """So many seconds of processor time: what others do on a machine changes how long it takes, not what is learned.

    Where it is so busy that this takes more than three times as long by the clock, the clock ends it.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.processor, self.clock = time.process_time(), time.monotonic()

    def spent(self) -> float:
        """Return the part that is spent, 1.0 at the end."""
        processor = (time.process_time() - self.processor) / self.seconds
        return min(1.0, max(processor, (time.monotonic() - self.clock) / (3 * self.seconds)))


def steps_within(seconds: float, train: Callable[[int], object], tried: int, parts: Sequence[float]) -> float:
    """Return how many steps a training may take that is made in `parts` of its length; `tried` steps are timed."""
    begun = time.process_time()
    train(tried)
    return seconds * tried / max(0.01, time.process_time() - begun) / sum(parts)
