"""Every hostile submission of tests/hostile/corpus, at every isolation level that this machine offers.

    python benchmarks/corpus.py                    as the user who runs this, and as an ordinary user
    python benchmarks/corpus.py --only exhaust/    entries whose family/name holds this
    python benchmarks/corpus.py --level full       at one level
    python benchmarks/corpus.py --write            and rewrite the table of docs/security.md

What is forged, harmed or left behind is what the tests of the corpus look for; what a level cannot stop, as the entry
says, is counted by itself. The size of grading processes is the kernel's own peak (VmHWM), which begins anew for each
entry; an overrun is what a stage took beyond the time that was announced for it, as `kata grade` watches it.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(1, str(Path(__file__).resolve().parent.parent))

from table import Figures, arguments, publish

from grader.engine import sandbox
from grader.engine.sandbox.levels import LEVELS
from tests.hostile.conftest import offered
from tests.hostile.entries import Entry, entries
from tests.hostile.room import MEMORY_MB, Room
from tests.hostile.test_corpus import ROOMS, trouble

BOUND_MB = MEMORY_MB + 512


@dataclass
class Found:
    """What became of the corpus in one room."""

    entries: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    """How many entries forged, harmed, left something, as far as the level promises that they cannot."""
    allowed: int = 0
    """How many did what this level cannot stop."""
    largest: tuple[int, str] = (0, "")
    starts: int = 0
    overrun: tuple[float, str] = (0.0, "")


def graded(level: str, user: int | None, chosen: Sequence[Entry]) -> Found:
    """Grade the entries in a room of this level."""
    found = Found()
    with closing(Room(level, user)) as room:  # type: ignore[arg-type]
        for entry in chosen:
            expected = entry.expected(level)
            room.forget_peaks()
            report = room.grade(entry)
            own, starts = room.peaks()
            happened = trouble(room, report, expected.earns)
            broken = set(happened) - expected.allows
            found.entries += 1
            found.kinds.update(broken)
            found.allowed += bool(set(happened) & expected.allows)
            found.largest = max(found.largest, (own, entry.id))
            found.starts = max(found.starts, starts)
            found.overrun = max(found.overrun, (room.overrun_s, entry.id))
            if broken:
                print(f"{level}: {entry.id}: {happened}", file=sys.stderr)
    return found


def figures(found: dict[str, Found]) -> Figures:
    """Return the figures as a table."""
    table = Figures(
        "The corpus",
        "*Forged*: points that were not earned. *Harmed*: a file of others changed, a secret read, something outside "
        "reached. *Left*: a process, file, memory or socket afterwards. *Not promised*: entries that did what their "
        f"level cannot stop. *Grader*: peak of the process that grades; its bound is {BOUND_MB} MB, the katas' "
        f"`memory_mb` of {MEMORY_MB} and 512. *Starts*: that of the processes that start workers. *Overrun*: the "
        "longest that a stage took beyond its time.",
        ["level", "entries", "forged", "harmed", "left", "not promised", "grader", "starts", "overrun"],
    )
    for name, one in found.items():
        harmed = sum(one.kinds[kind] for kind in ("harmed", "leaked", "reached"))
        sizes = (f"{size >> 20} MB" for size in (one.largest[0], one.starts))
        counts = (one.entries, one.kinds["forged"], harmed, one.kinds["left"], one.allowed)
        table.rows.append([name, *map(str, counts), *sizes, f"{one.overrun[0]:.1f} s"])
    return table


def main() -> None:
    """Grade, print, and write what was asked for."""
    parser = arguments(__doc__)
    parser.add_argument("--only", default="")
    parser.add_argument("--level", choices=LEVELS)
    asked = parser.parse_args()
    chosen = [entry for entry in entries() if asked.only in entry.id]
    found, began = {}, time.monotonic()
    for level, user in ROOMS:
        if asked.level in (None, level) and sandbox.reaches(offered(user), level):
            name = level if user is None else f"{level}, ordinary user"
            found[name] = one = graded(level, user, chosen)
            print(f"{name}: {one}", file=sys.stderr)
    publish(
        [figures(found)],
        "security.md",
        "corpus",
        write=asked.write,
        how=f"`make hostile`, {time.monotonic() - began:.0f} s",
    )
    if any(one.kinds or one.largest[0] > BOUND_MB << 20 for one in found.values()):
        raise SystemExit("something was forged, harmed or left behind, or a grading process grew too large")


if __name__ == "__main__":
    main()
