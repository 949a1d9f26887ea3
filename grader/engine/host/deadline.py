"""How long an answer is waited for, and how long it took, by clocks of ours and of the kernel's.

A sample is one exchange with the worker. Its wall time is less what the kernel says both sides spent waiting for a
processor: that is evidence from outside, and about the machine. Its processor time is that of all the worker's threads.
The larger of both counts: code that lets other threads work while it waits pays for their time, code that sleeps for
the wall's.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass

from grader.machine import core_times, most_stolen, processor_time, waited_time

STALL_S = 1.0
"""A busy machine is late by less."""


MOST_WAITED_S = 20.0
"""What a check is given back at most; less than a grading process may be silent."""


class Deadline:
    """A moment that moves on by what others take away, below a virtual machine or on it: no submission pays for it."""

    def __init__(self, seconds: float) -> None:
        self._at = time.monotonic() + seconds
        self._before = core_times()
        self._worker: _Waiting | None = None

    def follow(self, pid: int) -> None:
        """Move on, too, by what the worker `pid` waits from now on for a processor that others have."""
        self._worker = _Waiting(pid)

    def within(self, seconds: float) -> Deadline:
        """Return one for a part of this one's time, which moves on by the same waits."""
        part = copy(self)
        part._at = min(self._at, time.monotonic() + seconds)
        return part

    def waited(self) -> float:
        """Return the seconds by which it has moved because this thread computed, or it or the worker had to wait."""
        return self._worker.seconds() if self._worker is not None else 0.0

    def left(self) -> float:
        """Return the seconds left; 0 or less when it has passed."""
        # Cheap as long as it has not passed, which is nearly always: what was taken away is read from /proc
        # only then.
        left = self._at - time.monotonic()
        return left if left > 0 else left + most_stolen(self._before) + self.waited()

    def extend(self, seconds: float) -> None:
        """Move it."""
        self._at += seconds

    def add_stall(self, began: float, wait_s: float) -> None:
        """Move it by what a wait that began at `began` took beyond the seconds that were asked for."""
        # poll(2) comes back in time, unless nothing ran here: the machine was suspended, or moved to another.
        stalled = time.monotonic() - began - wait_s
        # Less than that is what a busy machine does, which is given back by another measure.
        if stalled > STALL_S:
            self._at += stalled


class _Waiting:
    """How long a worker has been kept from running: by others, or by what this thread did between two questions.

    Its main thread's waits are not enough: its own other threads may be what it waits for. Those use the processor, so
    what the whole process has used of the time that went by is not waiting.
    """

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._began, self._used, self._waited = time.monotonic(), processor_time(pid), self._both()
        self._known = 0.0

    def seconds(self) -> float:
        """Return it; what was known last when the process is gone."""
        used = processor_time(self._pid)
        if self._used is not None and used is not None:
            idle = time.monotonic() - self._began - (used - self._used)
            # Never more than its threads left unused together: one thread must not wait on account of the
            # others.
            found = min(self._both() - self._waited, idle, MOST_WAITED_S)
            # Never less than before: a reading falls where the process has used more since, and a deadline that
            # moves back would end a call that was in time.
            self._known = max(self._known, found)
        return self._known

    def _both(self) -> float:
        # Between two questions the check's own lines run here: that others keep them waiting is nobody's fault.
        # Nor that they compute: what a reference imports or works out is the grader's time.
        return waited_time(self._pid) + waited_time(None) + time.thread_time()


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
