"""When things were handed in, from a table: our own, or one of Moodle, GitHub Classroom, Gradescope."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime, tzinfo
from pathlib import Path
from typing import NamedTuple

from grader.catalogue import Catalogue
from grader.errors import UsageError
from grader.gradebook.identities import Found
from grader.gradebook.lateness import moment
from grader.gradebook.roster import read_table

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


class _Table(NamedTuple):
    """One system's columns."""

    time: str
    who: Callable[[dict[str, str]], Found]


def _of_moodle(cells: dict[str, str]) -> Found:
    number = cells["identifier"].removeprefix("Participant").strip()
    ids = {"moodle": number, "email": cells.get("email_address", ""), "name": cells.get("full_name", "")}
    return Found(cells.get("full_name", ""), ids)


def _of_github(cells: dict[str, str]) -> Found:
    return Found(cells["github_username"], {"email": cells.get("roster_identifier", "")})


def _of_gradescope(cells: dict[str, str]) -> Found:
    name = cells.get("name") or f"{cells.get('first_name', '')} {cells.get('last_name', '')}".strip()
    return Found(cells["email"], {"email": cells["email"], "sid": cells.get("sid", ""), "name": name})


_TABLES = (
    _Table("last_modified_(submission)", _of_moodle),
    _Table("submission_timestamp", _of_github),
    _Table("submission_time", _of_gradescope),
    _Table("submitted_at", lambda cells: Found(cells["learner"])),
)


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
    table = next((one for one in _TABLES if one.time in columns), None)
    if table is None or (table.time == "submitted_at" and "learner" not in columns):
        there = ", ".join(column for column in columns if column) or "none"
        raise UsageError(
            f"{path}:{place}: no columns `learner` and `submitted_at` (there are: {there}).", _EXAMPLE
        )
    for line, cells in rows:
        if cells[table.time].casefold() in _NOTHING:
            continue
        at = _time(cells[table.time], zone)
        if at is None:
            raise UsageError(
                f"{path}:{line}: {cells[table.time]!r} is not a time.", "Write it like 2026-10-12T17:30:00."
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
        return moment(datetime.fromisoformat(word), zone)
    except (ValueError, OverflowError):
        pass
    for form in _MOODLE:
        try:
            return moment(datetime.strptime(text, form), zone)
        except (ValueError, OverflowError):
            continue
    return None
