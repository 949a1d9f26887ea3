"""What checks are worth in a course: `[points.KATA]` of the course settings, by check or by aspect, scaled."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from grader.report.report import CheckReport, KataReport
from grader.report.style import points as as_text

PERFORMANCE = "performance"
"""The aspect of checks of speed and memory, whose points are apart."""
_PLACES = 6
_COUNT = re.compile(r"^[0-9.]+ of [0-9.]+ points count:", re.MULTILINE)
"""How a message says what a check cost, in the pack's points."""


def rescaled(report: KataReport, table: Mapping[str, float]) -> KataReport:
    """Return a report whose checks are worth what a course says; what a kata is out of stays as it is.

    A check is named by its claim or its function. An aspect's points are for all its checks together, shared as the
    pack shares them. What nothing is said of keeps the pack's points; then all are scaled to the kata's.
    """
    counted = _counted(report) if table else []
    worth = _worth(counted, table)
    whole = sum(worth.values())
    if not whole:
        return report
    factor = report.max_score / whole
    checks, score = [], 0.0
    for check in report.checks:
        if id(check) not in worth:
            checks.append(check)
            continue
        most = round(worth[id(check)] * factor, _PLACES)
        # Of a check that is worth nothing in the pack, only whether it passed is known.
        part = check.points / check.max_points if check.max_points else float(check.status == "pass")
        own = round(most * part, _PLACES)
        score += own
        message = _COUNT.sub(f"{as_text(own)} of {as_text(most)} points count:", check.message or "") or None
        checks.append(replace(check, points=own, max_points=most, message=message))
    return replace(report, checks=checks, score=min(round(score, _PLACES), report.max_score))


def unknown_names(reports: Iterable[KataReport], table: Mapping[str, float]) -> tuple[list[str], list[str]]:
    """Return the names in a table that no check of these reports has, and the names that there are."""
    there: dict[str, None] = {}
    aspects: dict[str, None] = {}
    ids: set[str] = set()
    for report in reports:
        for check in report.checks:
            if check.aspect != PERFORMANCE:
                there[check.name] = aspects[check.aspect] = None
                ids.add(check.id)
    known = {*there, *aspects, *ids}
    return [name for name in table if known and name not in known], [*aspects, *there]


def _counted(report: KataReport) -> list[CheckReport]:
    """Return the checks for being right that the kata's points are made of."""
    judged = [check for check in report.checks if check.aspect != PERFORMANCE]
    missing = sum(check.max_points for check in judged) - report.max_score
    # Where the machine could not run a check, its points are not in the maximum.
    skipped = [check for check in judged if check.status == "skipped"]
    if abs(missing) > 1e-6 and abs(missing - sum(check.max_points for check in skipped)) > 1e-6:
        skipped = [check for check in skipped if check.redrawn]
    return [check for check in judged if abs(missing) <= 1e-6 or check not in skipped]


def _worth(checks: Iterable[CheckReport], table: Mapping[str, float]) -> dict[int, float]:
    """Return what each check is worth before scaling, by the object: two may have one name."""
    worth: dict[int, float] = {}
    left: dict[str, list[CheckReport]] = {}
    for check in checks:
        named = table.get(check.id, table.get(check.name))
        worth[id(check)] = check.max_points if named is None else named
        if named is None and check.aspect in table:
            left.setdefault(check.aspect, []).append(check)
    for aspect, members in left.items():
        whole = sum(check.max_points for check in members)
        for check in members:
            share = check.max_points / whole if whole else 1 / len(members)
            worth[id(check)] = table[aspect] * share
    return worth
