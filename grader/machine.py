"""What the system says of its cores."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

_IDLE, _WAITING, _STEAL = 3, 4, 7
"""proc_stat(5): user, nice, system, idle, iowait, irq, softirq, steal."""


@dataclass(frozen=True)
class CoreTime:
    """Seconds of one core since the system started."""

    busy: float
    stolen: float
    """It wanted to work, and the machine under this virtual one did not let it."""


def core_times(cores: Collection[int] | None = None) -> dict[int, CoreTime]:
    """Return what these cores, or all, have done so far; nothing where the system does not say."""
    found: dict[int, CoreTime] = {}
    with contextlib.suppress(OSError, ValueError, IndexError):
        second = os.sysconf("SC_CLK_TCK")
        for line in Path("/proc/stat").read_text().splitlines():
            name, *counts = line.split()
            if not name.startswith("cpu"):
                break
            if name == "cpu" or (cores is not None and int(name[3:]) not in cores):
                continue
            ticks = [int(count) for count in counts[: _STEAL + 1]]
            busy = sum(ticks) - ticks[_IDLE] - ticks[_WAITING]
            found[int(name[3:])] = CoreTime(busy / second, ticks[_STEAL] / second)
    return found


def most_stolen(before: dict[int, CoreTime]) -> float:
    """Return the seconds that the core which was robbed most has lost since."""
    now = core_times(before.keys())
    return max((now[core].stolen - before[core].stolen for core in now), default=0.0)
