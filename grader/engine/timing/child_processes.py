"""Does a worker let other processes work for it? Seen from outside; only where nothing keeps it from starting any."""

from __future__ import annotations

import contextlib

from grader.machine import children, stat_field


class ChildProcessDetector:
    """Watches for processes that come from one worker, from before its module was loaded.

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
