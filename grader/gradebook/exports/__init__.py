"""A class's marks in the formats that other systems read. Pure functions: rows go in, pieces of a file come out.

Every function takes rows in the gradebook's order (by learner, then by kata) and yields its file bit by bit, so
that a large class never lies in memory as a whole. Nothing here opens a database or writes a file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from grader.gradebook.exports.documents import to_jsonl
from grader.gradebook.exports.gradescope import to_gradescope
from grader.gradebook.exports.junit import to_junit
from grader.gradebook.exports.tables import columns_of, to_canvas, to_csv, to_moodle, to_wide
from grader.gradebook.records import Row

if TYPE_CHECKING:
    from grader.gradebook.course import Course

__all__ = ["export", "to_gradescope"]


def export(
    kind: str,
    rows: Callable[[], Iterable[Row]],
    course: Course,
    titles: Mapping[str, str],
    canvas_ids: Mapping[str, str],
) -> Iterator[str]:
    """Yield an export's pieces.

    Args:
        kind: csv, wide, jsonl, canvas, moodle or junit.
        rows: returns a class's rows; tables read them twice, first for their columns.
        course: what weighs the katas, and who is in the roster.
        titles: the katas' titles, by slug.
        canvas_ids: assignments' numbers in Canvas, by slug.
    """
    match kind:
        case "csv":
            return to_csv(rows(), course)
        case "jsonl":
            return to_jsonl(rows())
        case "junit":
            return to_junit(rows())
    table = {"wide": to_wide, "canvas": to_canvas, "moodle": to_moodle}[kind]
    return table(rows(), columns_of(rows(), titles, canvas_ids), course)
