"""Moodle: the file that its gradebook imports."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from grader.gradebook.exports.cells import line
from grader.gradebook.exports.model import Column, by_learner
from grader.gradebook.model import Row

if TYPE_CHECKING:
    from grader.gradebook.course import Course

PERSON_COLUMNS = ("Identifier", "Full name", "Email address")


def to_moodle(rows: Iterable[Row], columns: Sequence[Column], course: Course) -> Iterator[str]:
    """Yield a grade file for Moodle (Grades, Import, CSV file).

    Moodle asks which column is whom (docs.moodle.org, "Grade import"; `grade/import/csv/classes/load_data.php`):
    map `Email address` to the email address, or `Identifier` (the roster's
    `moodle_id`, else the learner's identity) to the username or ID number, and each kata to a
    grade item or to a new one. Email addresses are compared letter for letter. A grade above 100 is refused unless
    the site allows it; an empty cell is no grade. There is no feedback column, because importing one replaces the
    grades beside it.
    """
    yield line([*PERSON_COLUMNS, *(column.heading for column in columns)])
    for learner, own in by_learner(rows):
        person = course.person(learner)
        marks = (own.get(column.kata) for column in columns)
        yield line(
            [
                (person.moodle_id if person else "") or learner,
                next(iter(own.values())).name,
                person.email if person else "",
                *(None if row is None else row.score for row in marks),
            ]
        )
