"""The isolation levels, in order, and which one somebody asked for."""

from __future__ import annotations

import os
from typing import Literal

from grader.errors import UsageError

Isolation = Literal["full", "confined", "process"]
"""How far a worker is shut in.

`full`: nothing of the machine is there: own namespaces, own view of files, own user where root grades; and all that
`confined` is: the kernel refuses what it should not touch, files, calls, limits. `process`: a process of its own.
"""

LEVELS: tuple[Isolation, ...] = ("process", "confined", "full")
"""From the weakest to the strongest."""

VARIABLE = "KATA_ISOLATION"


def reaches(level: str, wanted: Isolation) -> bool:
    """Tell whether `level` is at least `wanted`; what is not a level at all never is."""
    return level in LEVELS and LEVELS.index(level) >= LEVELS.index(wanted)


def weakest(*levels: str) -> str:
    """Return the weakest of some levels; what is not a level is weaker than any."""
    return min(levels, key=lambda level: LEVELS.index(level) if level in LEVELS else -1)


def forced() -> Isolation | None:
    """Return the level that `KATA_ISOLATION` asks for: workers get exactly this one. None when it is unset.

    Raises:
        UsageError: it names no level.
    """
    name = os.environ.get(VARIABLE)
    for level in LEVELS:
        if name == level:
            return level
    if name:
        raise UsageError(
            f"{VARIABLE} is {name!r}; it must be full, confined or process.",
            "Leave it unset to get the strongest level that this machine offers.",
        )
    return None
