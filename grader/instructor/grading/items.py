"""Item analysis: how hard each check and each mistake is, and whether it tells who knows more from who knows less."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from grader.instructor.gradebook.row_types import Mark
from grader.report.report import UNWRITTEN, WRONG, KataReport

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


class Results(NamedTuple):
    """What the checks say about a hand-in."""

    checks: tuple[tuple[str, str, bool], ...]
    """Of each that judged it: its id, its name, and whether it passed."""
    mistakes: frozenset[str]
    """Catalogued mistakes that were named."""


def items(rows: Iterable[Mark]) -> list[ItemAnalysis]:
    """Return the checks of some rows, then the mistakes, each the hardest or most frequent first.

    Rows of several katas are one test: the rest of a check are all others that its learner was judged by.
    """
    # Who handed in nothing says nothing of how hard a check is.
    return analysed((row, results_of(row.report)) for row in rows if row.status not in UNWRITTEN)


def results_of(report: KataReport) -> Results:
    """Return what a report's checks say."""
    judged = [
        check
        for check in report.checks
        if check.same_mistake != "counted" and (check.status == "pass" or check.status in WRONG)
    ]
    return Results(
        tuple((check.id, check.name, check.status == "pass") for check in judged),
        frozenset(check.misconception for check in report.checks if check.misconception),
    )


def analysed(graded: Iterable[tuple[Mark, Results]]) -> list[ItemAnalysis]:
    """Return the same of hand-ins whose results are known."""
    learners: dict[str, int] = {}
    alike: dict[tuple[str, Results], list[tuple[int, int]]] = {}
    for mark, results in graded:
        who = learners.setdefault(mark.learner, len(learners))
        alike.setdefault((mark.kata, results), []).append((who, mark.attempts))
    checks = {(kata, check): name for kata, results in alike for check, name, _ in results.checks}
    places = {key: place for place, key in enumerate(checks)}
    table, attempts = (np.full((len(learners), len(checks)), np.nan) for _ in range(2))
    # Most of a class have the results of somebody else: these are written at once.
    for (kata, results), those in alike.items():
        whose, tries = np.array(those).T
        cells = np.ix_(whose, [places[kata, check] for check, *_ in results.checks])
        table[cells] = [passed for *_, passed in results.checks]
        attempts[cells] = tries[:, None]
    return _of_checks(list(checks.items()), table, attempts) + _of_mistakes(alike, table)


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
    return sorted(found, key=lambda item: -item.difficulty)


def _flag(hard: float, discrimination: float | None, results: int) -> str:
    if not hard:
        return "never fails"
    if hard == 1:
        return "never passes"
    if results < FEWEST or discrimination is None or discrimination >= TELLS:
        return ""
    return "tells nothing" if discrimination > -TELLS else "tells the opposite"


def _of_mistakes(
    alike: Mapping[tuple[str, Results], Sequence[tuple[int, int]]], table: Numbers
) -> list[ItemAnalysis]:
    # A mistake fails checks of its own, so that it is compared with all of them: it has no rest.
    whole = np.divide(np.nansum(table, 1), (~np.isnan(table)).sum(1).clip(1))
    found = []
    for kata in dict.fromkeys(kata for kata, _ in alike):
        made = [
            (who, results.mistakes)
            for (of, results), those in alike.items()
            if of == kata
            for who, _ in those
        ]
        names = sorted({name for _, mistakes in made for name in mistakes})
        free = np.array([[name not in mistakes for name in names] for _, mistakes in made], dtype=float)
        share = np.repeat(whole[[who for who, _ in made]][:, None], len(names), axis=1)
        tells = _correlations(free, share, np.ones(free.shape, dtype=bool))
        for name, part, correlation in zip(names, 1 - free.mean(0), tells, strict=True):
            known = None if np.isnan(correlation) else float(correlation)
            found.append(ItemAnalysis(kata, "mistake", name, len(made), float(part), known, None, ""))
    return sorted(found, key=lambda item: -item.difficulty)


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
    return [None if np.isnan(number) else float(number) for number in _correlations(values, rest, use)]


def _correlations(one: Numbers, other: Numbers, use: NDArray[np.bool_]) -> Numbers:
    """Return the correlations of columns, of what is used of them; NaN where one of the two does not vary."""
    count = np.maximum(use.sum(0), 1)
    one, other = (np.where(use, table - (table * use).sum(0) / count, 0.0) for table in (one, other))
    spread = np.sqrt((one**2).sum(0) * (other**2).sum(0))
    # Sums of rounded numbers leave a speck of spread where nothing varies.
    return np.where(spread > 1e-9, (one * other).sum(0) / np.maximum(spread, 1e-9), np.nan)
