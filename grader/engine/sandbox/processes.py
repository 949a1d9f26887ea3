"""Orphans: processes whose parent died, and the zygote that ends them.

An orphan falls to the nearest child subreaper above it (PR_SET_CHILD_SUBREAPER, Linux 3.4), so a subreaper that kills
its children until there are none has ended all that was ever started below it, however often that forked.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Collection
from pathlib import Path

from grader.engine.sandbox import libc
from grader.machine import children, stat_field


def become_subreaper() -> bool:
    """Make this process the parent of every orphan below it; return whether the system can do that."""
    return libc.prctl(libc.PR_SET_CHILD_SUBREAPER, 1) == 0


def kill_descendants(exclude: Collection[int] = ()) -> int:
    """Kill and reap every child of this process but those in `exclude`; return how many.

    With `become_subreaper`, their orphans follow. What lives below an excluded process is left
    alone. 0 where the system does not list children.
    """
    if sys.platform != "linux":
        return 0
    spared = set(exclude)
    killed = 0
    # Again and again: the children of a killed process become ours with its death.
    while found := [pid for pid in _children() if pid not in spared]:
        for pid in found:
            if _end(pid):
                killed += 1
            # Also where it could not be killed: one of another user would be tried for ever.
            spared.add(pid)
    return killed


def _end(pid: int) -> bool:
    try:
        os.kill(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return False
    with contextlib.suppress(ChildProcessError):
        # Reaped here: nobody else waits for an orphan, and its number would stay taken.
        os.waitpid(pid, 0)
    return True


def _children() -> list[int]:
    if any(Path("/proc/self/task").glob("*/children")):
        return children("self")
    return [pid for pid, parent in _parents() if parent == os.getpid()]


def _parents() -> list[tuple[int, int]]:
    """List every process with its parent, for kernels without lists of children (CONFIG_PROC_CHILDREN, 4.2)."""
    pairs = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            pairs.append((int(path.parent.name), stat_field(path.parent.name, 4)))
    return pairs
