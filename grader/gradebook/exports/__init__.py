"""A class's marks in the formats that other systems read. Pure functions: rows go in, pieces of a file come out.

Every function takes rows in the gradebook's order (by learner, then by kata) and yields its file bit by bit, so
that a large class never lies in memory as a whole. Nothing here opens a database or writes a file.
"""

from grader.gradebook.exports.canvas import to_canvas
from grader.gradebook.exports.gradescope import to_gradescope
from grader.gradebook.exports.jsonl import to_jsonl
from grader.gradebook.exports.junit import to_junit
from grader.gradebook.exports.model import Column, columns_of
from grader.gradebook.exports.moodle import to_moodle
from grader.gradebook.exports.tables import to_csv, to_wide

__all__ = [
    "Column",
    "columns_of",
    "to_canvas",
    "to_csv",
    "to_gradescope",
    "to_jsonl",
    "to_junit",
    "to_moodle",
    "to_wide",
]
