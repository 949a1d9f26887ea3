"""Somebody in the class: as the roster has them, and as a download calls them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import msgspec


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

    def cell(self, column: str) -> str:
        """Return what a column says, whether it is one of those above or a further one; empty when it is not there."""
        if column in COLUMNS:
            return str(getattr(self, column))
        return self.other.get(column, "")


COLUMNS = ("learner", "name", "email", "section", "canvas_id", "moodle_id")
"""What our own roster calls the columns that everybody may have; `aliases` is one more."""


class Found(NamedTuple):
    """Somebody whom a download holds work of."""

    name: str
    """What the layout calls them."""
    ids: Mapping[str, str] = {}
    """What it tells beyond that, by system."""


Cells = dict[str, str]
"""A line of a table by column, in lower case with underscores; every column of the table is there."""


def full_name(cells: Cells) -> str:
    """Return a name from its parts."""
    last = cells.get("last_name") or cells.get("surname", "")
    return f"{cells.get('first_name', '')} {last}".strip()


def turned(name: str) -> str:
    """Return `Ada Lovelace` for `Lovelace, Ada`."""
    last, comma, first = name.partition(",")
    return f"{first.strip()} {last.strip()}" if comma and first.strip() else name.strip()


def filled(cells: Cells, *columns: str) -> dict[str, str]:
    """Return those of the columns that have something in them."""
    return {column: cells[column] for column in columns if cells.get(column)}


def is_student(cells: Cells) -> bool:
    """Whether a line is not a teacher's: its role is a student's, or not given."""
    return cells.get("role", "student").casefold() in ("student", "")
