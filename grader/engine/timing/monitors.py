"""How much memory a worker takes, and whether others work for it, as the kernel counts it: the worker is not asked."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from grader.machine import children, stat_field

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


class ChildProcessDetector:
    """Watches for processes that come from one worker, from before its module was loaded.

    Needed only where nothing keeps a worker from starting any.

    What it started and keeps is below it. What it started and collected has left its processor time with it (cutime and
    cstime of proc_pid_stat(5)). What it disowned falls to the process that forked the worker, a child subreaper, and is
    next to it there. Seen with Linux 6.18; lists of children need CONFIG_PROC_CHILDREN (4.2).
    """

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._parent = _parent(pid)
        self._known = set(children(self._parent))
        self._collected = _collected(pid)

    def accept_collected(self) -> None:
        """Let what it has collected so far pass: some libraries ask another program something while they load."""
        self._collected = _collected(self._pid)

    def accept_siblings(self) -> None:
        """Let those pass that are next to it now: the grader has started them."""
        self._known = set(children(self._parent))

    def any_seen(self) -> bool:
        """Return whether there are any, or have been."""
        return bool(
            children(self._pid)
            or _collected(self._pid) > self._collected
            or set(children(self._parent)) - self._known - {self._pid}
        )


def _parent(pid: int) -> int:
    with contextlib.suppress(OSError):
        return stat_field(pid, 4)
    return 0


def _collected(pid: int) -> int:
    """Return the processor time of children that have ended, in ticks."""
    with contextlib.suppress(OSError):
        return stat_field(pid, 16) + stat_field(pid, 17)
    return 0
