"""One core for those who are timed, the others for who times them."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

LOOK_S = 0.03
"""How long the cores are watched to find the idlest."""


@contextmanager
def reserved() -> Iterator[frozenset[int] | None]:
    """Keep this thread off the idlest core meanwhile, and give that core; None where cores cannot be told apart.

    With a single core all share it.
    """
    try:
        ours = os.sched_getaffinity(0)
    except (AttributeError, OSError):
        yield None
        return
    if len(ours) < 2:
        yield frozenset(ours)
        return
    core = _idlest(ours)
    try:
        with contextlib.suppress(OSError):
            os.sched_setaffinity(0, ours - {core})
        yield frozenset({core})
    finally:
        with contextlib.suppress(OSError):
            os.sched_setaffinity(0, ours)


def pin(pid: int, cores: frozenset[int] | None) -> None:
    """Keep a process to these cores, where the system lets us."""
    if cores is not None:
        with contextlib.suppress(AttributeError, OSError):
            os.sched_setaffinity(pid, cores)


def _idlest(cores: set[int]) -> int:
    before = _busy(cores)
    time.sleep(LOOK_S)
    after = _busy(cores)
    return min(sorted(cores, reverse=True), key=lambda core: after.get(core, 0) - before.get(core, 0))


def _busy(cores: set[int]) -> dict[int, int]:
    """Return ticks that each core has spent on anything but idling."""
    found: dict[int, int] = {}
    with contextlib.suppress(OSError, ValueError):
        for line in Path("/proc/stat").read_text().splitlines():
            name, *ticks = line.split()
            if name.startswith("cpu") and name != "cpu" and int(name[3:]) in cores:
                user, nice, system, _idle, _waiting, *rest = map(int, ticks)
                found[int(name[3:])] = user + nice + system + sum(rest[:3])
    return found
