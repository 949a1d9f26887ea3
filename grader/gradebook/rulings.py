"""What people decide besides points: which attempt counts, more time, which file is meant, other names.

Each is a row that says who, when and why, and is never removed: withdrawn, it stays in the history and counts nowhere.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import msgspec
from sqlalchemy import Connection, select

from grader.gradebook import schema
from grader.gradebook.errors import GradebookUsageError
from grader.gradebook.records import Ruling, RulingKind
from grader.gradebook.storage import insert, storable
from grader.reports.json_text import encode


def rule(
    connection: Connection,
    kind: RulingKind,
    learner: int,
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


def withdraw(connection: Connection, number: int, *, author: str, comment: str) -> Ruling:
    """Take a ruling back, and return it.

    Raises:
        GradebookUsageError: there is no such ruling, it is withdrawn already, or nothing says why.
    """
    found = next((one for one in rulings(connection) if one.id == number), None)
    hint = "See what was decided: kata gradebook rulings"
    if found is None:
        raise GradebookUsageError(f"There is no ruling {number}.", hint)
    if found.revoked:
        raise GradebookUsageError(f"Ruling {number} is withdrawn already.", hint)
    if not comment.strip():
        raise GradebookUsageError("Nothing is taken back without a reason.", "Give one: --comment TEXT")
    values = {
        "revoked_at": datetime.now(UTC),
        "revoked_by": storable(author),
        "revoked_because": storable(comment),
    }
    connection.execute(schema.rulings.update().where(schema.rulings.c.id == number).values(**values))
    return found


def rulings(connection: Connection) -> list[Ruling]:
    """Return every ruling, oldest first, also those that are withdrawn."""
    table = schema.rulings
    wanted = (
        select(table, schema.learners.c.name, schema.katas.c.slug)
        .join(schema.learners, schema.learners.c.id == table.c.learner_id)
        .outerjoin(schema.katas, schema.katas.c.id == table.c.kata_id)
        .order_by(table.c.id)
    )
    return [
        Ruling(
            id=row.id,
            kind=row.kind,
            learner=row.name,
            kata=row.slug,
            value=msgspec.json.decode(row.value),
            comment=row.comment,
            author=row.author,
            at=row.at,
            revoked=row.revoked_at is not None,
        )
        for row in connection.execute(wanted)
    ]


def standing(every: Iterable[Ruling]) -> list[Ruling]:
    """Return the rulings that were not withdrawn."""
    return [one for one in every if not one.revoked]
