"""How long a worker took, by clocks of ours and of the kernel's: none that a submission can reach.

A sample is one exchange with the worker. Its wall time is less what the kernel says both sides spent waiting for a
processor: that is evidence from outside, and about the machine. Its processor time is that of all the worker's threads.
The larger of both counts: code that lets other threads work while it waits pays for their time, code that sleeps for
the wall's.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from grader.machine import processor_time, waited_time

TOLD = 0.1
"""Work that takes less than this part of its exchange is not told from it: a ratio to it would be one to noise."""
LEAST_S = 1e-6


@dataclass
class Sample:
    """One exchange: seconds, and the bytes of tensors that crossed."""

    wall: float = 0.0
    """Less the time that worker and grader waited for a processor."""
    cpu: float = 0.0
    """Of all the worker's threads."""
    sent: int = 0
    received: int = 0


@dataclass(frozen=True)
class Span:
    """Several samples together."""

    wall: float
    cpu: float

    def net(self, empty: Span) -> float:
        """Return the seconds of work: without those of an empty exchange, never less than can be told from it."""
        least = max(TOLD * max(empty.wall, empty.cpu), LEAST_S)
        return max(self.wall - empty.wall, self.cpu - empty.cpu, least)

    def least(self, other: Span) -> Span:
        """Return the lesser of both clocks' readings."""
        return Span(min(self.wall, other.wall), min(self.cpu, other.cpu))


class Stopwatch:
    """Times every exchange with one worker while it is set on its session."""

    def __init__(self, pid: int, *, waits_count: bool = True) -> None:
        """Measure the worker `pid`; `waits_count` says whether its waits for a processor are the machine's affair.

        They are not where another device does its work: its main thread could wait in line for as long as it likes.
        """
        self.samples: list[Sample] = []
        self._pid = pid
        self._waits_count = waits_count

    @contextmanager
    def sample(self) -> Iterator[Sample]:
        """Time what happens inside."""
        sample = Sample()
        self.samples.append(sample)
        # The kernel's clocks first, ours last, and the other way round at the end: what reading them takes is
        # in no sample.
        cpu, waited = processor_time(self._pid) or 0.0, self._waited()
        started = time.perf_counter()
        try:
            yield sample
        finally:
            wall = time.perf_counter() - started
            # Without the time that it was ready and others had the core.
            sample.wall = max(wall - max(self._waited() - waited, 0.0), 0.0)
            sample.cpu = max((processor_time(self._pid) or 0.0) - cpu, 0.0)

    def _waited(self) -> float:
        """Return how long both sides have waited for a processor so far."""
        return waited_time() + (waited_time(self._pid) if self._waits_count else 0.0)

    def take(self) -> tuple[Span, list[Sample]]:
        """Return what was timed since the last time, as a sum and sample by sample."""
        samples, self.samples = self.samples, []
        return Span(sum(sample.wall for sample in samples), sum(sample.cpu for sample in samples)), samples
