"""How long a worker took, by clocks of ours and of the kernel's: none that a submission can reach.

A sample is one exchange with the worker. Its wall time is less what the kernel says both sides spent waiting for a
processor: that is evidence from outside, and about the machine. Its processor time is that of all the worker's threads.
The larger of both counts: whoever lets other threads work while one waits pays for their time, and whoever sleeps pays
for the wall's.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from grader.machine import processor_time


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
        """Return the seconds of work: without those of an empty exchange, never below a microsecond."""
        return max(self.wall - empty.wall, self.cpu - empty.cpu, 1e-6)


class Stopwatch:
    """Times every exchange with one worker while it is set on its session."""

    def __init__(self, pid: int, *, waits_count: bool = True) -> None:
        """Measure the worker `pid`; `waits_count` says whether its waits for a processor are the machine's affair.

        They are not where another device does its work: its main thread could wait in line for as long as it likes.
        """
        self.samples: list[Sample] = []
        self._pid = pid
        self._waits = Path(f"/proc/{pid}/schedstat") if waits_count else None

    @contextmanager
    def sample(self) -> Iterator[Sample]:
        """Time what happens inside."""
        sample = Sample()
        self.samples.append(sample)
        cpu, theirs, ours = _processor_time(self._pid), _waited(self._waits), _waited(_OWN_WAITS)
        started = time.perf_counter()
        try:
            yield sample
        finally:
            wall = time.perf_counter() - started
            waited = _waited(self._waits) - theirs + _waited(_OWN_WAITS) - ours
            sample.wall = max(wall - max(waited, 0.0), 0.0)
            sample.cpu = max(_processor_time(self._pid) - cpu, 0.0)

    def take(self) -> tuple[Span, list[Sample]]:
        """Return what was timed since the last time, as a sum and sample by sample."""
        samples, self.samples = self.samples, []
        return Span(sum(sample.wall for sample in samples), sum(sample.cpu for sample in samples)), samples


_OWN_WAITS = Path("/proc/thread-self/schedstat")


def _waited(path: Path | None) -> float:
    """Return the seconds that a thread was ready to run and did not; 0 where the system does not say.

    They are the second figure of /proc/PID/schedstat, in nanoseconds, which kernels with CONFIG_SCHED_INFO keep for
    every thread; that of a process's own number is its main thread's. Seen with Linux 6.18.
    """
    if path is None:
        return 0.0
    with contextlib.suppress(OSError, ValueError, IndexError):
        return int(path.read_bytes().split()[1]) * 1e-9
    return 0.0


def _processor_time(pid: int) -> float:
    return processor_time(pid) or 0.0
