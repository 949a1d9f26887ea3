"""A class's marks in the formats that other systems read. Pure functions: rows go in, pieces of a file come out.

Every function takes rows in the gradebook's order (by learner, then by kata) and yields its file bit by bit, so
that a large class never lies in memory as a whole. Nothing here opens a database or writes a file.
May import lms and the gradebook's records and course; never its store.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from grader.instructor.gradebook.exports.documents import to_jsonl
from grader.instructor.gradebook.exports.gradescope import to_gradescope
from grader.instructor.gradebook.exports.tables import by_assignment, columns_of, to_csv, to_grades, to_wide
from grader.instructor.gradebook.row_types import Mark
from grader.instructor.lms import SYSTEMS

if TYPE_CHECKING:
    from grader.instructor.gradebook.course import Course

__all__ = ["export", "to_gradescope"]


def export(
    kind: str,
    rows: Callable[[], Iterable[Mark]],
    course: Course,
    titles: Mapping[str, str],
    canvas_ids: Mapping[str, str],
    extra: Sequence[str] = (),
    unsure: Collection[tuple[str, str]] = (),
    assignments: Mapping[str, str] | None = None,
) -> Iterator[str]:
    """Yield an export's pieces.

    Args:
        kind: csv, wide, jsonl, or the name of a system that has a grade file.
        rows: returns a class's rows; tables read them twice, first for their columns.
        course: what weighs the katas, and who is in the roster.
        titles: the katas' titles, by slug.
        canvas_ids: assignments' numbers in Canvas or Blackboard, by slug.
        extra: further columns of the roster, for csv and wide.
        assignments: a column for each assignment of the course in place of its katas, with numbers there by name.
        unsure: learners and katas whose work may lie there under another name: no 0 for these.
    """
    # Lines of single reports need no look at the whole class; they are written while it is read.
    match kind:
        case "csv":
            return to_csv(rows(), course, extra)
        case "jsonl":
            return to_jsonl(rows())
    # A first reading, for the columns alone: a class of thousands is never in memory.
    columns = columns_of(rows(), titles, canvas_ids)
    if kind == "wide":
        return to_wide(rows(), columns, course, extra)
    if assignments is not None:
        columns = by_assignment(columns, course, assignments)
    # The systems know their own files: a new one is exported without a line here.
    file = next(system.grades for system in SYSTEMS if system.name == kind and system.grades)
    return to_grades(file, rows(), columns, course, unsure)
