"""A class's marks in the formats that other systems read. Pure functions: rows go in, pieces of a file come out.

Every function takes rows in the gradebook's order (by learner, then by kata) and yields its file bit by bit, so
that a large class never lies in memory as a whole. Nothing here opens a database or writes a file.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from grader.gradebook.exports.documents import to_jsonl
from grader.gradebook.exports.gradescope import to_gradescope
from grader.gradebook.exports.tables import (
    by_assignment,
    columns_of,
    to_blackboard,
    to_brightspace,
    to_canvas,
    to_csv,
    to_moodle,
    to_wide,
)
from grader.gradebook.records import Row

if TYPE_CHECKING:
    from grader.gradebook.course import Course

__all__ = ["export", "to_gradescope"]

_TABLES = {
    "canvas": to_canvas,
    "moodle": to_moodle,
    "blackboard": to_blackboard,
    "brightspace": to_brightspace,
}


def export(
    kind: str,
    rows: Callable[[], Iterable[Row]],
    course: Course,
    titles: Mapping[str, str],
    canvas_ids: Mapping[str, str],
    extra: Sequence[str] = (),
    unsure: Collection[tuple[str, str]] = (),
    assignments: Mapping[str, str] | None = None,
) -> Iterator[str]:
    """Yield an export's pieces.

    Args:
        kind: csv, wide, jsonl, canvas, moodle, blackboard or brightspace.
        rows: returns a class's rows; tables read them twice, first for their columns.
        course: what weighs the katas, and who is in the roster.
        titles: the katas' titles, by slug.
        canvas_ids: assignments' numbers in Canvas or Blackboard, by slug.
        extra: further columns of the roster, for csv and wide.
        assignments: a column for each assignment of the course in place of its katas, with numbers there by name.
        unsure: learners and katas whose work may lie there under another name: no 0 for these.
    """
    match kind:
        case "csv":
            return to_csv(rows(), course, extra)
        case "jsonl":
            return to_jsonl(rows())
    columns = columns_of(rows(), titles, canvas_ids)
    if kind == "wide":
        return to_wide(rows(), columns, course, extra)
    if assignments is not None:
        columns = by_assignment(columns, course, assignments)
    return _TABLES[kind](rows(), columns, course, unsure)
