"""Plain CSV: one line for each learner and kata, or one line for each learner."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from grader.gradebook.exports.cells import line, number
from grader.gradebook.exports.model import Column, by_learner, total
from grader.gradebook.model import Adjustment, Row

if TYPE_CHECKING:
    from grader.gradebook.course import Course

LONG = (
    "learner",
    "name",
    "email",
    "number",
    "kata",
    "status",
    "score",
    "max_score",
    "graded_score",
    "days_late",
    "late_points",
    "adjusted_points",
    "comments",
    "checks_passed",
    "checks",
    "attempts",
    "submitted_at",
    "graded_at",
    "isolation",
)


def to_csv(rows: Iterable[Row], course: Course) -> Iterator[str]:
    """Yield one line for each learner and kata.

    `score` is the mark; `graded_score` what the checks gave; `adjusted_points` what people changed after lateness
    was taken off. Times are ISO 8601 with their offset. RFC 4180; how texts are kept from running as formulas, and
    how to undo that, is said at `cells.defuse`.
    """
    yield line(LONG)
    for row in rows:
        report, person = row.report, course.person(row.learner)
        yield line(
            [
                row.learner,
                row.name,
                person.email if person else "",
                report.number,
                row.kata,
                report.status,
                row.score,
                row.max_score,
                report.score,
                row.days_late,
                row.late_points,
                adjusted_points(row),
                comments(row),
                sum(check.status == "pass" for check in report.checks),
                len(report.checks),
                row.attempts,
                _iso(row.submitted_at),
                _iso(row.graded_at),
                report.isolation,
            ]
        )


def to_wide(rows: Iterable[Row], columns: Sequence[Column], course: Course) -> Iterator[str]:
    """Yield one line for each learner: a column for each kata, by slug, then the total and what there was to get.

    The total weighs the katas as the course says.

    A kata that a learner has no row for is an empty cell.
    """
    yield line(["learner", "name", "email", *(column.kata for column in columns), "score", "max_score"])
    for learner, own in by_learner(rows):
        marks = [own.get(column.kata) for column in columns]
        person = course.person(learner)
        yield line(
            [
                learner,
                next(iter(own.values())).name,
                person.email if person else "",
                *(None if row is None else row.score for row in marks),
                *total((row for row in marks if row), course),
            ]
        )


def adjusted_points(row: Row) -> float:
    """Return by how much people changed a mark that lateness had already been taken from."""
    return row.score - max(0.0, row.report.score - row.late_points)


def comments(row: Row) -> str:
    """Return what people said about a mark: `(+2) the seed was unlucky; (= 9) graded by hand`."""
    return "; ".join(f"({signed(one)}) {one.comment}" for one in row.adjustments if not one.revoked)


def signed(one: Adjustment) -> str:
    """Return an adjustment as a person writes it: +2, -1.5, = 9."""
    sign = "= " if one.kind == "override" else "+" if one.points >= 0 else ""
    return sign + number(one.points)


def _iso(moment: datetime | None) -> str | None:
    return moment.isoformat(timespec="seconds") if moment else None
