"""What people decide about a mark: points given or taken, a mark set, either taken back. Nothing is ever removed."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from sqlalchemy import Connection, select

from grader.gradebook import schema
from grader.gradebook.course import Course
from grader.gradebook.errors import GradebookUsageError
from grader.gradebook.records import Adjustment
from grader.gradebook.scope import Person, find
from grader.gradebook.storage import insert, storable


@dataclass(frozen=True)
class Decision:
    """A person's word, as it is about to be written.

    Raises:
        GradebookUsageError: the points are no number, or a mark below 0, or nothing says why.
    """

    kind: Literal["adjust", "override"]
    points: float
    comment: str
    author: str

    def __post_init__(self) -> None:
        """Refuse what no mark can be made of."""
        if self.kind == "override" and self.points < 0:
            raise GradebookUsageError(f"A mark cannot be {self.points:g}; it is 0 or more.")
        if not math.isfinite(self.points):
            raise GradebookUsageError(f"Points must be a number, not {self.points}.")
        if not self.comment.strip():
            raise GradebookUsageError("A mark is not changed without a reason.", "Give one: --comment TEXT")


def decide(connection: Connection, course: Course, learner: str, kata: str, decision: Decision) -> int:
    """Write a decision; return its number.

    Raises:
        GradebookUsageError: there is no such learner or kata.
    """
    person, kata_id = find(connection, course, learner, kata)
    if person is None:  # in the roster, never graded
        person = insert(connection, schema.learners, name=storable(learner))
    return insert(
        connection,
        schema.adjustments,
        learner_id=person,
        kata_id=kata_id,
        kind=decision.kind,
        points=decision.points,
        comment=storable(decision.comment),
        author=storable(decision.author),
        at=datetime.now(UTC),
    )


def revoke(connection: Connection, adjustment: int, *, author: str, comment: str) -> None:
    """Take a decision back.

    Raises:
        GradebookUsageError: there is no such adjustment, or it is revoked already.
    """
    table = schema.adjustments
    row = connection.execute(select(table.c.revoked_at).where(table.c.id == adjustment)).one_or_none()
    if row is None:
        raise GradebookUsageError(
            f"There is no adjustment {adjustment}.", "See: kata gradebook history LEARNER KATA"
        )
    if row.revoked_at is not None:
        raise GradebookUsageError(f"Adjustment {adjustment} is revoked already.")
    values = {
        "revoked_at": datetime.now(UTC),
        "revoked_by": storable(author),
        "revoked_because": storable(comment),
    }
    connection.execute(table.update().where(table.c.id == adjustment).values(**values))


def decided(
    connection: Connection, people: Iterable[Person]
) -> dict[tuple[int | None, int], list[Adjustment]]:
    """Return what was decided about some learners, by learner's and kata's row, oldest first."""
    table = schema.adjustments
    wanted = table.select().where(
        table.c.learner_id.in_([number for _, number in people if number is not None])
    )
    found: dict[tuple[int | None, int], list[Adjustment]] = {}
    for row in connection.execute(wanted.order_by(table.c.id)):
        found.setdefault((row.learner_id, row.kata_id), []).append(_adjustment(row))
    return found


def _adjustment(row: Any) -> Adjustment:
    return Adjustment(
        id=row.id,
        kind=row.kind,
        points=row.points,
        comment=row.comment,
        author=row.author,
        at=row.at,
        revoked=row.revoked_at is not None,
    )
