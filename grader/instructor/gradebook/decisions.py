"""Decisions in the tables: written, taken back, read. None is ever removed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any, get_type_hints

import msgspec
from sqlalchemy import ColumnElement, Connection, select

from grader.instructor.gradebook import events, schema
from grader.instructor.gradebook.errors import CorruptRecordError, GradebookUsageError
from grader.instructor.gradebook.schema import insert, sanitize
from grader.report.json_text import encode


def of(*types: type[events.Decision]) -> ColumnElement[bool]:
    """Return, in SQL's words, that a decision is of one of these kinds."""
    return schema.decisions.c.kind.in_([events.kind_of(one) for one in types])


def write(
    connection: Connection, event: events.Decision, learner: int | None = None, kata: int | None = None
) -> int:
    """Write a decision about a learner's and a kata's row, or about all; return its number.

    Raises:
        GradebookUsageError: no mark can be made of it, or nothing says why.
    """
    event.check()
    return insert(
        connection,
        schema.decisions,
        kind=event.kind,
        learner_id=learner,
        kata_id=kata,
        value=encode(event.value).decode(),
        comment=sanitize(event.made.comment),
        author=sanitize(event.made.author),
        # Now that it is its turn: who waited for another's decision decides after it.
        at=datetime.now(UTC),
    )


def undo(
    connection: Connection, number: int, by: events.Provenance, only: events.Sort | None = None
) -> events.Event:
    """Take a decision back, and return it as it was; of one sort `only`, if given, as it is called there.

    Raises:
        GradebookUsageError: there is none of this number, it was taken back already, or nothing says why.
    """
    table = schema.decisions
    found = next(iter(decisions(connection, table.c.id == number)), None)
    if found is None or only not in (None, found.sort):
        missing = only or events.DECISION
        raise GradebookUsageError(missing.missing.format(number), missing.hint)
    # One statement that decides: of two people who take the same back, one is told that it was.
    mine = table.update().where(table.c.id == number, table.c.revoked_at.is_(None))
    values = {
        "revoked_at": datetime.now(UTC),
        "revoked_by": sanitize(by.author),
        "revoked_because": sanitize(by.comment),
    }
    if not connection.execute(mine.values(**values)).rowcount:
        raise GradebookUsageError(found.sort.again.format(number), found.sort.hint)
    if not by.comment.strip():  # the caller's transaction ends without it
        raise GradebookUsageError("Nothing is taken back without a reason.", "Give one: --comment TEXT")
    if isinstance(found, events.Together):
        # Who was taken out before stays out: only what still stands is taken back.
        parts = table.update().where(table.c.id.in_(found.parts), table.c.revoked_at.is_(None))
        connection.execute(parts.values(**values))
    return found


def assign(
    connection: Connection,
    what: Sequence[tuple[int, int]],
    drafts: Sequence[events.Assign],
    most: int | None = None,
) -> list[int]:
    """Share hand-ins, by learner's and kata's row, among markers in turn; return the decisions' numbers.

    Those that are somebody's stay theirs. Where `most` is given, only so many of those that are free are shared, the
    first ones.

    Args:
        connection: in a transaction.
        what: hand-ins.
        drafts: one for each marker.
        most: how many at most.
    """
    table = schema.decisions
    taken = select(table.c.learner_id, table.c.kata_id).where(of(events.Assign), table.c.revoked_at.is_(None))
    theirs = {(row.learner_id, row.kata_id) for row in connection.execute(taken)}
    # Looked up in the transaction that writes, so that two who take the next ten take different ones.
    free = [one for one in what if one not in theirs][:most]
    # Neighbours in the list go to one marker.
    return [
        write(connection, drafts[place * len(drafts) // len(free)], learner, kata)
        for place, (learner, kata) in enumerate(free)
    ]


_SELECT = (
    select(schema.decisions, schema.learners.c.name, schema.katas.c.slug)
    .outerjoin(schema.learners, schema.learners.c.id == schema.decisions.c.learner_id)
    .outerjoin(schema.katas, schema.katas.c.id == schema.decisions.c.kata_id)
    .order_by(schema.decisions.c.id)
)


def decisions(connection: Connection, *only: ColumnElement[bool]) -> list[events.Event]:
    """Return every decision, oldest first, also those that were taken back; of `only`, if given, in SQL's words."""
    return [_event(row) for row in connection.execute(_SELECT.where(*only))]


def _event(row: Any) -> events.Event:
    """Return what a row says.

    Raises:
        CorruptRecordError: it is damaged.
    """
    undone = None
    if row.revoked_at is not None:
        undone = events.Provenance(
            author=row.revoked_by or "", comment=row.revoked_because or "", at=row.revoked_at
        )
    made = events.Provenance(author=row.author, comment=row.comment, at=row.at)
    about = {"id": row.id, "learner": row.name, "kata": row.slug}
    try:
        return _READERS[row.kind](row.value, made=made, undone=undone, **about)
    except (KeyError, TypeError, ValueError, RecursionError, msgspec.MsgspecError) as error:
        raise CorruptRecordError(f"decision {row.id} is damaged ({error})") from None


def _reader(of: type[events.Decision]) -> Callable[..., events.Event]:
    """Return what makes a decision of its stored value and of who, when, why and about whom.

    Built once for each kind: to convert a whole decision takes three times as long, and a class has thousands.
    """
    names, types = events.own_fields(of), get_type_hints(of, include_extras=True)
    if len(names) > 1:
        optional = {field.name for field in msgspec.structs.fields(of) if not field.required}
        fields = [(n, types[n], msgspec.UNSET) if n in optional else (n, types[n]) for n in names]
        value: Any = msgspec.defstruct(of.__name__, fields, kw_only=True)
    else:
        value = types[names[0]] if names else None
    decode = msgspec.json.Decoder(value).decode

    def read(text: Any, **about: Any) -> Any:
        found = decode(text)
        own = msgspec.structs.asdict(found) if len(names) > 1 else dict.fromkeys(names, found)
        return of(**own, **about)

    return read


_READERS = {kind: _reader(of) for kind, of in events.TYPES.items()}
