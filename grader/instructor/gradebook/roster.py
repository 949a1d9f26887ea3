"""The roster: a CSV file that says who is in the class, and what other systems call them: our own, or a system's."""

from __future__ import annotations

import csv
import io
import os
import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from grader.data_files import read_bytes
from grader.errors import UsageError, did_you_mean
from grader.instructor.lms import SYSTEMS, in_english, roster_of
from grader.instructor.lms.person import COLUMNS, Person

__all__ = ["CsvTable", "Person", "normalized_name", "read_roster", "read_table", "roster_text"]

LIMIT_BYTES = 20_000_000
_EXAMPLE = "The first line names the columns, such as: learner,name,email,section,canvas_id,moodle_id"


@lru_cache(maxsize=1 << 15)  # of each learner it is asked several times a page
def normalized_name(learner: str) -> str:
    """Return what two spellings of one identity share: file systems differ in how they write `é`."""
    return unicodedata.normalize("NFC", learner)


def read_roster(path: Path) -> dict[str, Person]:
    """Read the roster at `path`, by learner, in its order. Separated by commas, semicolons or tabs.

    Raises:
        UsageError: it is missing or unreadable, or a line breaks a rule: which line, and what is expected.
    """
    lines = _lines(path, "roster", "Create it, or correct `roster` in the course settings.")
    place, header = next(lines, (1, []))
    columns = in_english([_column(cell) for cell in header])
    # A column `learner` is ours, whatever else is there; else the headings say which system wrote the file.
    made_by = None if "learner" in columns else roster_of(columns)
    if "learner" not in columns and made_by is None:
        guess = did_you_mean(
            "learner", {column: f"the column `{column}`" for column in columns}, most=1, cutoff=0.5
        )
        there = ", ".join(column for column in columns if column) or "none"
        raise UsageError(
            f"{path}: no column is called `learner` (there are: {there}).{guess}",
            f"{_EXAMPLE}. Rosters of Canvas, Moodle, Blackboard, Brightspace, Gradescope and GitHub Classroom are read "
            "as they are.",
        )
    for column in columns if made_by is None else ():
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
                'Put a cell that holds a separator in quotes: "Lovelace, Ada".',
            )
        named = dict(zip(columns, (cell.strip() for cell in cells), strict=False))
        person = (
            _person(named) if made_by is None else made_by.person({**dict.fromkeys(columns, ""), **named})
        )
        if person is None:
            continue
        if not person.learner:
            raise UsageError(
                f"{path}:{line}: the column `learner` is empty.", "Every line must name its learner."
            )
        # Compared as names of people are: two that differ in case only would be one mark with two owners.
        first = seen.setdefault(normalized_name(person.learner), line)
        if first != line:
            raise UsageError(f"{path}:{line}: {person.learner} is already in line {first}.", "Leave one out.")
        people[person.learner] = person
    _refuse_shared_aliases(path, people, seen)
    _refuse_shared_numbers(path, people, seen)
    return people


def _refuse_shared_numbers(path: Path, people: dict[str, Person], lines: dict[str, int]) -> None:
    """Refuse an address, a login or a number that two people have, or that a spreadsheet made of a long number.

    Args:
        path: the roster.
        people: who is in it.
        lines: where, by identity.
    """
    columns = {"email": "e-mail address"}
    columns |= {column: column.replace("_", " ") for system in SYSTEMS for column in system.logins}
    columns |= {
        known.column: known.kind for system in SYSTEMS for known in system.identifiers if known.column
    }
    owners: dict[tuple[str, str], str] = {}
    for person in people.values():
        own = normalized_name(person.learner)
        for column, kind in columns.items():
            cell = person.cell(column)
            if re.fullmatch(r"\d([.,]\d+)?E\+\d+", cell):
                raise UsageError(
                    f"{path}:{lines[own]}: {cell} in `{column}` is what a spreadsheet makes of a long number.",
                    "Export the roster again; in a spreadsheet, open it with this column as text.",
                )
            other = owners.setdefault((column, cell.casefold()), own) if cell else own
            if other != own:
                raise UsageError(
                    f"{path}:{lines[own]}: {person.learner} has the {kind} {cell}, as the learner in line "
                    f"{lines[other]} has.",
                    "It belongs to one learner alone.",
                )


def _refuse_shared_aliases(path: Path, people: dict[str, Person], lines: dict[str, int]) -> None:
    """Refuse another name that leads to two people: work under it would land at one of them, and nobody knows which.

    Args:
        path: the roster.
        people: who is in it.
        lines: where, by identity.
    """
    owners = {key: key for key in lines}
    for person in people.values():
        own = normalized_name(person.learner)
        for alias in person.aliases:
            if (other := owners.setdefault(normalized_name(alias), own)) != own:
                raise UsageError(
                    f"{path}:{lines[own]}: {alias} is to be {person.learner}, and is in line {lines[other]} for "
                    "another learner.",
                    "A name in the column `aliases` leads to one learner alone.",
                )


def mark_columns(path: Path) -> dict[str, str]:
    """Return the columns of marks in a system's own roster, by title: what an import finds them again by.

    Raises:
        UsageError: the file is missing or cannot be read.
    """
    _, header = next(_lines(path, "roster", "Name the roster that the system gave."), (1, []))
    patterns = [system.grades.column for system in SYSTEMS if system.grades and system.grades.column]
    made = (
        match for cell in header for pattern in patterns if (match := re.fullmatch(pattern, cell.strip()))
    )
    return {match[1]: match[0] for match in made}


def _person(cells: dict[str, str]) -> Person:
    known = {name: cells.pop(name, "") for name in COLUMNS}
    aliases = tuple(filter(None, (word.strip() for word in cells.pop("aliases", "").split(";"))))
    return Person(**known, aliases=aliases, other={name: cell for name, cell in cells.items() if name})


def roster_text(people: Sequence[Person]) -> str:
    """Return a roster of our own, with every column that anybody has something in."""
    other = dict.fromkeys(name for person in people for name in person.other)
    columns = [
        name
        for name in (*COLUMNS, *other)
        if name == "learner" or any(person.cell(name) for person in people)
    ]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*columns, "aliases"])
    for person in people:
        writer.writerow([*(person.cell(name) for name in columns), ";".join(person.aliases)])
    return out.getvalue()


class CsvTable(NamedTuple):
    """A CSV file with a header."""

    line: int
    """Of the header."""
    columns: list[str]
    rows: Iterator[tuple[int, dict[str, str]]]
    """The number of a line, and its cells by column; blank lines are left out."""


def read_table(path: Path, what: str, mend: str) -> CsvTable:
    """Read a CSV file whose first line names the columns; a row that is too short ends in empty cells.

    Raises:
        UsageError: the file is missing or cannot be read; `what` it is, and how to `mend` that.
    """
    lines = _lines(path, what, mend)
    line, header = next(lines, (1, []))
    columns = in_english([_column(cell) for cell in header])

    def rows() -> Iterator[tuple[int, dict[str, str]]]:
        for number, row in lines:
            cells = dict.fromkeys(columns, "") | dict(zip(columns, map(str.strip, row), strict=False))
            if any(cells.values()):
                yield number, cells

    return CsvTable(line, columns, rows())


def _lines(path: Path, what: str, mend: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the number of a line and its cells.

    Raises:
        UsageError: the file is missing or cannot be read; `what` it is, and how to `mend` that.
    """
    if not os.path.exists(path):
        raise UsageError(f"{path}: there is no such {what}.", mend)
    text = _text(path)
    # Excel writes down by what it separates, in a line before the columns.
    declared = re.match(r'"?sep=(.)"?(?:\r\n?|\n)', text, re.IGNORECASE)
    if declared is not None:
        text = text[declared.end() :]
    head = text.partition("\n")[0]
    # From the headings alone: cells of later lines hold commas of their own.
    separator = declared[1] if declared is not None else max(",;\t", key=head.count)
    reader = csv.reader(
        io.StringIO(text, newline=""), delimiter=separator, strict=True, skipinitialspace=True
    )
    end = above = int(declared is not None)
    try:
        for cells in reader:
            start, end = end + 1, reader.line_num + above
            if any("\0" in cell for cell in cells):
                raise csv.Error("a zero byte")
            yield start, cells
    except csv.Error as error:
        raise UsageError(f"{path}:{reader.line_num + above}: not CSV ({error}).", _EXAMPLE) from error


def _text(path: Path) -> str:
    """Read a file as UTF-8, or as UTF-16 where it begins so, as Blackboard and Excel write it."""
    hint = 'In a spreadsheet program, save it as "CSV UTF-8".'
    data = read_bytes(path, LIMIT_BYTES, refuse=UsageError, hint=hint)
    coding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        return data.decode(coding)
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: not UTF-8 (byte {error.start}); save it as UTF-8.", hint) from error


def _column(cell: str) -> str:
    """Return a column's name as it is stored: lower case, blanks and hyphens as underscores."""
    return "_".join(cell.strip().lower().replace("-", " ").split())
