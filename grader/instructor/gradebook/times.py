"""When things were handed in, from a table: our own, or one of Moodle, GitHub Classroom, Gradescope."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, tzinfo
from pathlib import Path
from typing import NamedTuple

from grader.catalogue import Catalogue
from grader.errors import UsageError
from grader.instructor.gradebook.lateness import due_in_utc
from grader.instructor.gradebook.roster import read_table
from grader.instructor.lms import times_of
from grader.instructor.lms.person import Found
from grader.instructor.lms.system import Times

_EXAMPLE = (
    "For example: learner,kata,submitted_at and a line like ada,masks,2026-10-12T17:30:00; without a column kata, "
    "a time holds for everything in the download."
)
_NOTHING = ("", "-", "none", "null")
_MOODLE = ("%A, %d %B %Y, %I:%M %p", "%d %B %Y, %I:%M %p", "%A, %d %B %Y, %H:%M", "%d %B %Y, %H:%M")


class HandedInAt(NamedTuple):
    """A line."""

    who: Found
    kata: str | None
    """By slug; None: everything in the download."""
    at: datetime
    line: int


_OWN = Times("submitted_at", lambda cells: Found(cells["learner"]))


def read_times(path: Path, zone: tzinfo, catalogue: Catalogue) -> Iterator[HandedInAt]:
    """Yield what the file at `path` says.

    Args:
        path: a CSV file.
        zone: of times without one.
        catalogue: where IDs of katas are looked up.

    Raises:
        UsageError: it is missing or unreadable, or a line breaks a rule: which line, and what is expected.
    """
    place, columns, rows = read_table(path, "times", "Correct --times.")
    table = times_of(columns) or (_OWN if {"learner", _OWN.column} <= set(columns) else None)
    if table is None:
        there = ", ".join(column for column in columns if column) or "none"
        raise UsageError(
            f"{path}:{place}: no columns `learner` and `submitted_at` (there are: {there}).", _EXAMPLE
        )
    for line, cells in rows:
        # Systems list those who handed in nothing, too.
        if cells[table.column].casefold() in _NOTHING:
            continue
        at = _time(cells[table.column], zone)
        if at is None:
            raise UsageError(
                f"{path}:{line}: {cells[table.column]!r} is not a time.", "Write it like 2026-10-12T17:30:00."
            )
        yield HandedInAt(table.who(cells), _kata(path, line, cells, catalogue), at, line)


def _kata(path: Path, line: int, cells: dict[str, str], catalogue: Catalogue) -> str | None:
    if not cells.get("kata"):
        return None
    try:
        return catalogue.resolve_one(cells["kata"]).slug
    except UsageError as error:
        raise UsageError(f"{path}:{line}: {error.message}", _EXAMPLE) from error


def _time(text: str, zone: tzinfo) -> datetime | None:
    """Read a time as the systems write it: ISO 8601 with or without a zone, `… UTC`, Moodle's English words."""
    word = text.removesuffix(" UTC") + "+00:00" if text.endswith(" UTC") else text
    parts = word.rsplit(" ", 1)
    if len(parts) == 2 and parts[1][:1] in ("+", "-") and parts[1][1:].replace(":", "").isdigit():
        word = "".join(parts)
    try:
        return due_in_utc(datetime.fromisoformat(word), zone)
    except (ValueError, OverflowError):
        pass
    for form in _MOODLE:
        try:
            return due_in_utc(datetime.strptime(text, form), zone)
        except (ValueError, OverflowError):
            continue
    return None
