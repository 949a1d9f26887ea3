"""Canvas: the file that its gradebook imports."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from grader.gradebook.exports.cells import line
from grader.gradebook.exports.model import Column, by_learner
from grader.gradebook.model import Row

if TYPE_CHECKING:
    from grader.gradebook.course import Course
    from grader.gradebook.roster import Person

STUDENT_COLUMNS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
POINTS_POSSIBLE = "Points Possible"


def to_canvas(rows: Iterable[Row], columns: Sequence[Column], course: Course) -> Iterator[str]:
    """Yield a gradebook for Canvas (Grades, Import).

    What the importer does with it (`lib/gradebook_importer.rb` of instructure/canvas-lms):

    - the first line must hold these five student columns in this order;
    - a student is found by `ID`, then `SIS User ID`, then `SIS Login ID`, then by name; the roster's
      columns `canvas_id`, `sis_user_id` and `sis_login_id`, where the learner's identity stands for a login that is
      not given;
    - an assignment is found by the number in `Title (number)`, else by its whole title; Canvas offers to make one
      that it does not find;
    - the line whose first cell holds "Points Possible" sets what each assignment is worth;
    - an empty cell changes nothing, and scores count to two decimals.
    """
    headings = [
        f"{column.heading} ({column.canvas_id})" if column.canvas_id else column.heading for column in columns
    ]
    yield line([*STUDENT_COLUMNS, *headings])
    yield line([f"    {POINTS_POSSIBLE}", None, None, None, None, *(column.max_score for column in columns)])
    for learner, own in by_learner(rows):
        person = course.person(learner)
        marks = (own.get(column.kata) for column in columns)
        yield line(
            [
                _student(next(iter(own.values())).name),
                person.canvas_id if person else "",
                _other(person, "sis_user_id"),
                _other(person, "sis_login_id") or learner,
                person.section if person else "",
                *(None if row is None else round(row.score, 2) for row in marks),
            ]
        )


def _student(name: str) -> str:
    """Return a name that is no line of points: Canvas would take the marks of a "Points Possible" for the maxima."""
    return name.replace(POINTS_POSSIBLE, POINTS_POSSIBLE.lower())


def _other(person: Person | None, column: str) -> str:
    return person.other.get(column, "") if person else ""
