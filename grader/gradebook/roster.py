"""The roster: a CSV file that says who is in the class, and what other systems call them."""

from __future__ import annotations

import csv
import io
import os
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import msgspec

from grader.data_files import read_text
from grader.errors import UsageError, did_you_mean

LIMIT_BYTES = 20_000_000
_KNOWN = ("learner", "name", "email", "section", "canvas_id", "moodle_id")
_EXAMPLE = "The first line names the columns, such as: learner,name,email,section,canvas_id,moodle_id"


class Person(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the roster."""

    learner: str
    """The identity: what the learner's folder is called."""
    name: str = ""
    email: str = ""
    section: str = ""
    canvas_id: str = ""
    moodle_id: str = ""
    aliases: tuple[str, ...] = ()
    """What else the learner is called: other folders' names, a GitHub handle; semicolons between them."""
    other: dict[str, str] = {}
    """Further columns, by name in lower case, blanks as underscores."""


def same(learner: str) -> str:
    """Return what two spellings of one identity share: file systems differ in how they write `é`."""
    return unicodedata.normalize("NFC", learner)


def read_roster(path: Path) -> dict[str, Person]:
    """Read the roster at `path`, by learner, in its order. Separated by commas, semicolons or tabs.

    Raises:
        UsageError: it is missing or unreadable, or a line breaks a rule: which line, and what is expected.
    """
    lines = _lines(path)
    place, header = next(lines, (1, []))
    columns = [_column(cell) for cell in header]
    if "learner" not in columns:
        guess = did_you_mean("learner", {one: f"it by `{one}`" for one in columns}, most=1, cutoff=0.5)
        there = ", ".join(column for column in columns if column) or "none"
        raise UsageError(f"{path}: no column is called `learner` (there are: {there}).{guess}", _EXAMPLE)
    for column in columns:
        if column and columns.count(column) > 1:
            raise UsageError(f"{path}:{place}: two columns are called `{column}`.", _EXAMPLE)
    people: dict[str, Person] = {}
    seen: dict[str, int] = {}
    for line, cells in lines:
        if not any(cell.strip() for cell in cells):
            continue
        if len(cells) > len(columns) and any(cell.strip() for cell in cells[len(columns) :]):
            raise UsageError(
                f"{path}:{line}: {len(cells)} cells for {len(columns)} columns.",
                'A cell that holds a separator stands in quotes: "Lovelace, Ada".',
            )
        person = _person(dict(zip(columns, (cell.strip() for cell in cells), strict=False)))
        if not person.learner:
            raise UsageError(
                f"{path}:{line}: the column `learner` is empty.", "Every line names its learner."
            )
        first = seen.setdefault(same(person.learner), line)
        if first != line:
            raise UsageError(f"{path}:{line}: {person.learner} is in line {first} already.", "Leave one out.")
        people[person.learner] = person
    return people


def _person(cells: dict[str, str]) -> Person:
    known = {name: cells.pop(name, "") for name in _KNOWN}
    aliases = tuple(filter(None, (word.strip() for word in cells.pop("aliases", "").split(";"))))
    return Person(**known, aliases=aliases, other={name: cell for name, cell in cells.items() if name})


def _lines(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the number of a line and its cells."""
    if not os.path.exists(path):
        raise UsageError(
            f"{path}: there is no such roster.", "Make it, or mend `roster` in the course settings."
        )
    text = read_text(path, LIMIT_BYTES, refuse=UsageError, hint='A spreadsheet saves it as "CSV UTF-8".')
    head = text.partition("\n")[0]
    separator = max(",;\t", key=head.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    end = 0
    try:
        for cells in reader:
            start, end = end + 1, reader.line_num
            if any("\0" in cell for cell in cells):
                raise csv.Error("a zero byte")
            yield start, cells
    except csv.Error as error:
        raise UsageError(f"{path}:{reader.line_num}: not CSV ({error}).", _EXAMPLE) from error


def _column(cell: str) -> str:
    return "_".join(cell.strip().lower().replace("-", " ").split())
