"""Somebody in the class, as the roster has them."""

from __future__ import annotations

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
        if column in ("learner", "name", "email", "section", "canvas_id", "moodle_id"):
            return str(getattr(self, column))
        return self.other.get(column, "")
