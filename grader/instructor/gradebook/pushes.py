"""Marks that were set in another system: what of the marks there is ours, and what somebody changed since."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import NamedTuple

from sqlalchemy import Connection

from grader.instructor.gradebook import schema
from grader.instructor.gradebook.course import Course
from grader.instructor.gradebook.identities import ensure_learner_row, find_learner, list_learners, names_of
from grader.instructor.gradebook.schema import insert, sanitize


class Push(NamedTuple):
    """A mark that was sent last."""

    points: float
    before: float | None
    """What was there before; None where nothing was."""
    arrived: bool
    """False: it was about to be sent, and nobody knows what became of it."""
    author: str
    """Whose word it is that it was sent."""

    def made(self, points: float | None) -> bool:
        """Whether a mark that is there now is ours: what we sent, or what we would have sent it over."""
        return points == self.points or (not self.arrived and points == self.before)


def pushed(connection: Connection, course: Course, target: str) -> dict[str, Push]:
    """Return what was sent last to an assignment in another system, by learner."""
    names, table = names_of(list_learners(connection, course)), schema.pushes
    wanted = table.select().where(table.c.target == target).order_by(table.c.id)
    return {
        names[row.learner_id]: Push(row.points, row.before, row.arrived, row.author)
        for row in connection.execute(wanted)
        if row.learner_id in names
    }


def record_push(connection: Connection, course: Course, learner: str, target: str, push: Push) -> None:
    """Write down that a mark is about to be sent, or has arrived."""
    insert(
        connection,
        schema.pushes,
        learner_id=ensure_learner_row(connection, find_learner(connection, course, learner)),
        target=sanitize(target),
        at=datetime.now(UTC),
        **push._replace(author=sanitize(push.author))._asdict(),
    )
