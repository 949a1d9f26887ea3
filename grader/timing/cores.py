"""One core for those who are timed, the others for who times them."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Collection, Iterator
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


def stolen(cores: frozenset[int] | None) -> float:
    """Return the seconds that these cores wanted to work and the machine under this virtual one did not let them.

    0 where nobody says.
    """
    ticks = sum(ticks[_STEAL] for ticks in _ticks(cores or ()).values() if len(ticks) > _STEAL)
    return ticks / os.sysconf("SC_CLK_TCK") if ticks else 0.0


def _idlest(cores: set[int]) -> int:
    before = _busy(cores)
    time.sleep(LOOK_S)
    after = _busy(cores)
    return min(sorted(cores, reverse=True), key=lambda core: after.get(core, 0) - before.get(core, 0))


def _busy(cores: Collection[int]) -> dict[int, int]:
    """Return ticks that each core has spent on anything but idling."""
    return {
        core: sum(ticks[: _STEAL + 1]) - ticks[_IDLE] - ticks[_WAITING]
        for core, ticks in _ticks(cores).items()
    }


_IDLE, _WAITING, _STEAL = 3, 4, 7
"""proc_stat(5): user, nice, system, idle, iowait, irq, softirq, steal."""


def _ticks(cores: Collection[int]) -> dict[int, list[int]]:
    """Return what the kernel counts for each core; nothing where it does not."""
    found: dict[int, list[int]] = {}
    with contextlib.suppress(OSError, ValueError):
        for line in Path("/proc/stat").read_text().splitlines():
            name, *ticks = line.split()
            if name.startswith("cpu") and name != "cpu" and int(name[3:]) in cores:
                found[int(name[3:])] = [int(count) for count in ticks]
    return found
