"""What people decide besides points: which attempt counts, more time, which file is meant, other names; what they say
about a hand-in: remarks, disputes, who marks it.

Each is a row that says who, when and why, and is never removed: withdrawn, it stays in the history and counts nowhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, NotRequired, TypedDict

import msgspec
from msgspec import Meta
from sqlalchemy import ColumnElement, Connection, select

from grader.gradebook import schema
from grader.gradebook.errors import GradebookUsageError
from grader.gradebook.records import Ruling, RulingKind
from grader.gradebook.storage import DAMAGED, insert, record, storable, take_back
from grader.reports.json_text import encode

COUNTING: tuple[RulingKind, ...] = ("choose", "extend", "take", "alias", "release")
"""Kinds that a mark, or whose it is, hangs on; the others are said about it."""


def rule(
    connection: Connection,
    kind: RulingKind,
    learner: int | None,
    kata: int | None,
    value: Any,
    *,
    comment: str,
    author: str,
) -> int:
    """Write a ruling; return its number.

    Raises:
        GradebookUsageError: nothing says why.
    """
    if not comment.strip():
        raise GradebookUsageError("Nothing is decided without a reason.", "Give one: --comment TEXT")
    return insert(
        connection,
        schema.rulings,
        kind=kind,
        learner_id=learner,
        kata_id=kata,
        value=encode(value).decode(),
        comment=storable(comment),
        author=storable(author),
        at=datetime.now(UTC),
    )


def assign(
    connection: Connection,
    what: Sequence[tuple[int, int]],
    markers: Sequence[str],
    *,
    comment: str,
    author: str,
    most: int | None = None,
) -> list[int]:
    """Share hand-ins, by learner's and kata's row, among markers in turn; return the rulings' numbers.

    Those that are somebody's stay theirs. Where `most` is given, only so many of those that are free are shared, the
    first ones.

    Raises:
        GradebookUsageError: nothing says why.
    """
    table = schema.rulings
    taken = select(table.c.learner_id, table.c.kata_id).where(
        table.c.kind == "assign", table.c.revoked_at.is_(None)
    )
    theirs = {(row.learner_id, row.kata_id) for row in connection.execute(taken)}
    free = [one for one in what if one not in theirs][:most]
    numbers = []
    for place, (learner, kata) in enumerate(free):
        to = markers[place * len(markers) // len(free)]  # neighbours in the list go to one marker
        numbers.append(rule(connection, "assign", learner, kata, to, comment=comment, author=author))
    return numbers


def withdraw(connection: Connection, number: int, *, author: str, comment: str) -> Ruling:
    """Take a ruling back, and return it.

    Raises:
        GradebookUsageError: there is no such ruling, it is withdrawn already, or nothing says why.
    """
    found = find(connection, number)
    hint = "See what was decided: kata gradebook rulings"
    if found is None:
        raise GradebookUsageError(f"There is no ruling {number}.", hint)
    if not take_back(connection, schema.rulings, number, author=author, comment=comment):
        raise GradebookUsageError(f"Ruling {number} was already withdrawn.", hint)
    if not comment.strip():  # the caller's transaction ends without it
        raise GradebookUsageError("Nothing is taken back without a reason.", "Give one: --comment TEXT")
    return found


def releases(every: Iterable[Ruling], kata: str) -> list[Ruling]:
    """Return the releases of a kata that stand, the newest first: learners may read what people wrote about it."""
    found = [one for one in every if one.kind == "release" and not one.revoked]
    return [one for one in reversed(found) if kata in one.value.get("katas", one.value.get("points", ()))]


def find(connection: Connection, number: int) -> Ruling | None:
    """Return the ruling of this number."""
    return next(iter(rulings(connection, schema.rulings.c.id == number)), None)


def rulings(connection: Connection, *only: ColumnElement[bool]) -> list[Ruling]:
    """Return every ruling, oldest first, also those that are withdrawn; of `only`, if it is given, in SQL's words."""
    table = schema.rulings
    wanted = (
        select(table, schema.learners.c.name, schema.katas.c.slug)
        .outerjoin(schema.learners, schema.learners.c.id == table.c.learner_id)
        .outerjoin(schema.katas, schema.katas.c.id == table.c.kata_id)
        .where(*only)
        .order_by(table.c.id)
    )
    return [_ruling(row) for row in connection.execute(wanted)]


class _Extension(TypedDict):
    of: str
    days: Annotated[float, Meta(gt=0, le=3650)]


class _Remark(TypedDict):
    attempt: int
    file: str
    line: int


class _Release(TypedDict):
    of: str
    katas: NotRequired[list[str]]
    points: NotRequired[dict[str, list[float]]]


_VALUES: dict[str, Any] = {
    **dict.fromkeys(("choose", "answer", "close", "reviewed"), msgspec.json.Decoder(int)),
    **dict.fromkeys(("take", "alias", "assign"), msgspec.json.Decoder(str)),
    "extend": msgspec.json.Decoder(_Extension),
    "remark": msgspec.json.Decoder(_Remark),
    "release": msgspec.json.Decoder(_Release),
    "dispute": msgspec.json.Decoder(None),
}
"""What the value of each kind of ruling is."""


def _ruling(row: Any) -> Ruling:
    instead = {"kind": "damaged", "learner": row.name or "", "kata": row.slug}
    try:
        value = _VALUES[row.kind].decode(row.value)
    except (KeyError, TypeError, ValueError, RecursionError, msgspec.MsgspecError):
        return Ruling(id=row.id, comment=DAMAGED, at=row.at, revoked=True, **instead)
    return record(Ruling, row, instead, learner=row.name or "", kata=row.slug, value=value)


def standing(every: Iterable[Ruling]) -> list[Ruling]:
    """Return the rulings that were not withdrawn."""
    return [one for one in every if not one.revoked]
