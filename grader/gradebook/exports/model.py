"""What an export needs beside the rows: who the learners are elsewhere, and which katas are columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby

import msgspec

from grader.catalogue.model import number_key
from grader.gradebook.model import Row


class Person(msgspec.Struct, frozen=True, kw_only=True):
    """What a roster says about a learner; everything may be missing."""

    name: str = ""
    email: str = ""
    login: str = ""
    """How the learner signs in; the identity in the gradebook where nothing is given."""
    sis_id: str = ""
    """The identity in the student information system."""
    canvas_id: str = ""
    section: str = ""


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


People = Mapping[str, Person]
"""By identity in the gradebook; may lack anybody."""

NOBODY = Person()


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


def shown_name(learner: str, own: Mapping[str, Row], people: People) -> str:
    """Return how a learner is called: by the roster, else by the gradebook."""
    row = next(iter(own.values()))
    return people.get(learner, NOBODY).name or row.name or learner
