"""What an export needs beside the rows: which katas are columns, and what they add up to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import TYPE_CHECKING

import msgspec

from grader.gradebook.model import Row
from grader.gradebook.order import number_key

if TYPE_CHECKING:
    from grader.gradebook.course import Course


class Column(msgspec.Struct, frozen=True, kw_only=True):
    """A kata as a column of a table."""

    kata: str
    number: str
    title: str
    max_score: float
    canvas_id: str = ""
    """The assignment's number in Canvas; found by its title there when none is given."""

    @property
    def heading(self) -> str:
        """Number and title: what the assignment is called elsewhere."""
        return f"{self.number} {self.title}"


def columns_of(
    rows: Iterable[Row],
    titles: Mapping[str, str] | None = None,
    canvas_ids: Mapping[str, str] | None = None,
) -> list[Column]:
    """Return the katas that occur in `rows`, in the order of their numbers.

    Args:
        rows: a whole class; it is read to its end.
        titles: by slug; a kata that is not there is called by its slug.
        canvas_ids: assignments' numbers in Canvas, by slug.
    """
    found: dict[str, tuple[str, float]] = {}
    for row in rows:
        _, most = found.get(row.kata, ("", 0.0))
        # A check that this machine could not run leaves one learner's maximum; the column's is the largest.
        found[row.kata] = (row.report.number, max(most, row.max_score))
    return [
        Column(
            kata=kata,
            number=number,
            title=(titles or {}).get(kata) or kata,
            max_score=most,
            canvas_id=(canvas_ids or {}).get(kata, ""),
        )
        for kata, (number, most) in sorted(found.items(), key=lambda one: (number_key(one[1][0]), one[0]))
    ]


def by_learner(rows: Iterable[Row]) -> Iterator[tuple[str, dict[str, Row]]]:
    """Yield each learner's rows by kata; only one learner is held at a time."""
    for learner, own in groupby(rows, key=lambda row: row.learner):
        yield learner, {row.kata: row for row in own}


def total(rows: Iterable[Row], course: Course) -> tuple[float, float]:
    """Return what somebody has and what there was to get, each kata weighed as the course says."""
    score = most = 0.0
    for row in rows:
        weight = course.weight(row.kata)
        score, most = score + weight * row.score, most + weight * row.max_score
    return score, most
