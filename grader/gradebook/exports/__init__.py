"""A class's marks in the formats that other systems read. Pure functions: rows go in, pieces of a file come out.

Every function takes rows in the gradebook's order (by learner, then by kata) and yields its file bit by bit, so
that a large class never lies in memory as a whole. Nothing here opens a database or writes a file.
"""

from grader.gradebook.exports.canvas import canvas
from grader.gradebook.exports.gradescope import gradescope
from grader.gradebook.exports.jsonl import jsonl
from grader.gradebook.exports.junit import junit
from grader.gradebook.exports.model import Column, Person, columns_of
from grader.gradebook.exports.moodle import moodle
from grader.gradebook.exports.tables import long, wide

__all__ = [
    "Column",
    "Person",
    "canvas",
    "columns_of",
    "gradescope",
    "jsonl",
    "junit",
    "long",
    "moodle",
    "wide",
]
