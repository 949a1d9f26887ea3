"""Item analysis: how hard each check and each mistake is, and whether it tells who knows more from who knows less."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from grader.instructor.gradebook.records import Row
from grader.report.report import UNWRITTEN, WRONG

FEWEST = 20
"""With fewer results a correlation is mostly chance, and nothing is flagged for it."""
TELLS = 0.15
"""A discrimination below this says next to nothing about the rest; textbooks begin to doubt an item at 0.2."""
Numbers = NDArray[np.float64]


class ItemAnalysis(NamedTuple):
    """A check, or a catalogued mistake, over a class."""

    kata: str
    kind: str
    """`check` or `mistake`."""
    name: str
    results: int
    """Hand-ins that it judged; skipped checks judge nothing."""
    difficulty: float
    """The part of these that failed the check, or made the mistake."""
    discrimination: float | None
    """The point-biserial correlation with all other checks together; None where nothing varies."""
    attempts: float | None
    """Attempts that learners needed on average, of those who passed the check."""
    flag: str
    """Why somebody should look at it; else empty."""


def items(rows: Iterable[Row]) -> list[ItemAnalysis]:
    """Return the checks of some rows, then the mistakes, each the hardest or most frequent first.

    Rows of several katas are one test: the rest of a check are all others that its learner was judged by.
    """
    learners: dict[str, int] = {}
    checks: dict[tuple[str, str], str] = {}
    places: dict[tuple[str, str], int] = {}
    results: list[tuple[int, int, float, int]] = []
    made: dict[tuple[str, str], set[int]] = {}
    wrote: dict[str, set[int]] = {}
    for row in rows:
        # Who handed in nothing says nothing of how hard a check is.
        if row.report.status in UNWRITTEN:
            continue
        who = learners.setdefault(row.learner, len(learners))
        wrote.setdefault(row.kata, set()).add(who)
        for check in row.report.checks:
            key = row.kata, check.id
            checks[key] = check.name
            place = places.setdefault(key, len(places))
            if (look := check.look) == "pass" or look in WRONG:
                results.append((who, place, look == "pass", row.attempts))
            if check.misconception:
                made.setdefault((row.kata, check.misconception), set()).add(who)
    table, attempts = (np.full((len(learners), len(checks)), np.nan) for _ in range(2))
    if results:
        # In one assignment: one element at a time, an array is slower than a list.
        who_of, place_of, passed, tries = (np.array(one) for one in zip(*results, strict=True))
        table[who_of, place_of] = passed
        attempts[who_of, place_of] = tries
    found = _of_checks(list(checks.items()), table, attempts)
    return found + _of_mistakes(made, wrote, table)


def _of_checks(
    checks: list[tuple[tuple[str, str], str]], table: Numbers, attempts: Numbers
) -> list[ItemAnalysis]:
    counts, discrimination = (~np.isnan(table)).sum(0), discriminations(table)
    found = []
    for place, ((kata, _), name) in enumerate(checks):
        if not counts[place]:
            continue
        results = table[:, place]
        hard = 1 - float(np.nanmean(results))
        # Only of those who got there: for the others nobody knows how many it would take.
        tries = attempts[results == 1, place]
        needed = float(tries.mean()) if tries.size else None
        flag = _flag(hard, discrimination[place], int(counts[place]))
        found.append(
            ItemAnalysis(kata, "check", name, int(counts[place]), hard, discrimination[place], needed, flag)
        )
    return sorted(found, key=lambda one: -one.difficulty)


def _flag(hard: float, discrimination: float | None, results: int) -> str:
    if not hard:
        return "never fails"
    if hard == 1:
        return "never passes"
    if results < FEWEST or discrimination is None or discrimination >= TELLS:
        return ""
    return "tells nothing" if discrimination > -TELLS else "tells the opposite"


def _of_mistakes(
    made: dict[tuple[str, str], set[int]], wrote: dict[str, set[int]], table: Numbers
) -> list[ItemAnalysis]:
    found = []
    # A mistake fails checks of its own, so that it is compared with all of them: it has no rest.
    whole = np.divide(np.nansum(table, 1), (~np.isnan(table)).sum(1).clip(1))
    for (kata, name), those in made.items():
        among = sorted(wrote[kata])
        free = np.array([who not in those for who in among], dtype=float)
        share = whole[among]
        discrimination = _correlations(free[:, None], share[:, None], np.ones((len(among), 1), dtype=bool))[0]
        found.append(
            ItemAnalysis(
                kata,
                "mistake",
                name,
                len(among),
                len(those) / len(among),
                None if np.isnan(discrimination) else float(discrimination),
                None,
                "",
            )
        )
    return sorted(found, key=lambda one: -one.difficulty)


def discriminations(table: Numbers) -> list[float | None]:
    """Return, for each column, the correlation of its results with the mean of all others of the same learner.

    Args:
        table: a row for each learner, a column for each check: 1 passed, 0 failed, NaN not judged.
    """
    judged = ~np.isnan(table)
    values = np.where(judged, table, 0.0)
    others = judged.sum(1, keepdims=True) - judged
    # The item itself is left out: with few items it would correlate with its own share of the total.
    rest = (values.sum(1, keepdims=True) - values) / np.maximum(others, 1)
    use = judged & (others > 0)
    return [None if np.isnan(one) else float(one) for one in _correlations(values, rest, use)]


def _correlations(one: Numbers, other: Numbers, use: NDArray[np.bool_]) -> Numbers:
    """Return the correlations of columns, of what is used of them; NaN where one of the two does not vary."""
    count = np.maximum(use.sum(0), 1)
    one, other = (np.where(use, table - (table * use).sum(0) / count, 0.0) for table in (one, other))
    spread = np.sqrt((one**2).sum(0) * (other**2).sum(0))
    # Sums of rounded numbers leave a speck of spread where nothing varies.
    return np.where(spread > 1e-9, (one * other).sum(0) / np.maximum(spread, 1e-9), np.nan)
