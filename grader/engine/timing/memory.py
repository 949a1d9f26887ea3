"""How much memory a worker takes, as the kernel counts it: the worker is not asked."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

LOOK_S = 0.001
"""How often a scale looks: to fill so much memory that it matters takes far longer."""


class Resident(NamedTuple):
    """Bytes of memory in use; 0 where the system does not say."""

    now: int
    peak: int


def resident(pid: int) -> Resident:
    """Return what a process holds now, and held at most since it was forked."""
    found = _read(Path(f"/proc/{pid}/status"))
    if found is None:
        # A main thread that has ended reports nothing, but the others share its memory.
        others = (_read(path) for path in Path(f"/proc/{pid}/task").glob("*/status"))
        found = next((other for other in others if other is not None), None)
    return found or Resident(0, 0)


def _read(path: Path) -> Resident | None:
    found: dict[str, int] = {}
    with contextlib.suppress(OSError, ValueError):
        for line in path.read_text().splitlines():
            name, _, value = line.partition(":")
            if name in ("VmRSS", "VmHWM"):
                found[name] = int(value.split()[0]) << 10
    return Resident(found["VmRSS"], found["VmHWM"]) if len(found) == 2 else None


class PeakMemoryMonitor:
    """Measures the peak memory of a process above its lowest level.

    The kernel's own peak (VmHWM) is not enough: who first lets go of what it was born with can take as much again
    unseen, and who may write to its own /proc makes the peak forgotten (a 5 into clear_refs, since Linux 4.0). So
    somebody looks now and then, too.
    """

    def __init__(self, pid: int) -> None:
        self._pid = pid
        first = resident(pid)
        self._least, self._most = first.now, first.peak
        self._lost = False

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Look again and again meanwhile."""
        over = threading.Event()

        def look() -> None:
            while not over.wait(LOOK_S):
                self.look()

        thread = threading.Thread(target=look, daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            # Then once more: work that ended between two looks has not been seen at all.
            thread.join()
            self.look()

    def look(self) -> None:
        """Take notice of what the process holds now."""
        seen = resident(self._pid)
        if not seen.peak:
            self._lost = True
            return
        self._least, self._most = min(self._least, seen.now), max(self._most, seen.peak, seen.now)

    def peak_growth(self) -> float:
        """Return the bytes between the least and the most; without end where the process was out of sight."""
        return float("inf") if self._lost or not self._most else float(self._most - self._least)
