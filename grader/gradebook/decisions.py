"""What people decide about a mark: points given or taken, a mark set, either taken back. Nothing is ever removed."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from sqlalchemy import Connection

from grader.gradebook import schema
from grader.gradebook.course import Course
from grader.gradebook.errors import GradebookUsageError
from grader.gradebook.records import Adjustment
from grader.gradebook.scope import Somebody, find
from grader.gradebook.storage import insert, record, storable, take_back
from grader.gradebook.versions import alone_with, insist_on


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


def decide(
    connection: Connection, course: Course, learner: str, kata: str, decision: Decision, seen: int | None
) -> int:
    """Write a decision; return its number.

    Raises:
        GradebookUsageError: there is no such learner or kata.
        ChangedMeanwhile: the mark's version is no longer `seen`.
    """
    alone_with(connection, learner)
    somebody, kata_id = find(connection, course, learner, kata)
    insist_on(connection, somebody, kata_id, seen)
    return insert(
        connection,
        schema.adjustments,
        learner_id=row_of(connection, somebody),
        kata_id=kata_id,
        kind=decision.kind,
        points=decision.points,
        comment=storable(decision.comment),
        author=storable(decision.author),
        at=datetime.now(UTC),
    )


def row_of(connection: Connection, somebody: Somebody) -> int:
    """Return a learner's own row, making it for who is in the roster and was never graded."""
    if somebody.own is not None:
        return somebody.own
    return insert(connection, schema.learners, name=storable(somebody.name))


def revoke(connection: Connection, adjustment: int, *, author: str, comment: str) -> None:
    """Take a decision back.

    Raises:
        GradebookUsageError: there is no such adjustment, or it was already revoked.
    """
    taken = take_back(connection, schema.adjustments, adjustment, author=author, comment=comment)
    if taken is None:
        raise GradebookUsageError(
            f"There is no adjustment {adjustment}.", "See: kata gradebook history LEARNER KATA"
        )
    if not taken:
        raise GradebookUsageError(f"Adjustment {adjustment} was already revoked.")


def decided(connection: Connection, people: Iterable[Somebody]) -> dict[tuple[str, int], list[Adjustment]]:
    """Return what was decided about some learners, by learner and kata's row, oldest first."""
    table = schema.adjustments
    names = {row: one.name for one in people for row in one.rows}
    wanted = table.select().where(table.c.learner_id.in_(list(names)))
    found: dict[tuple[str, int], list[Adjustment]] = {}
    for row in connection.execute(wanted.order_by(table.c.id)):
        found.setdefault((names[row.learner_id], row.kata_id), []).append(adjustment_of(row))
    return found


def adjustment_of(row: Any) -> Adjustment:
    """Return what a row says; a damaged one changes nothing."""
    return record(Adjustment, row, {"kind": "adjust", "points": 0.0})
