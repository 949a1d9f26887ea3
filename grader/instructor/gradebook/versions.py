"""The version of a mark: how much was graded, decided and taken back about it. It only ever grows.

Who decides about a mark says which version they looked at. Where it is another by now, nothing is written: two people
who give two points each for the same reason have looked at the same mark.
"""

from __future__ import annotations

from sqlalchemy import ColumnElement, Connection, Table, func, not_, or_, select, text

from grader.instructor.gradebook import schema
from grader.instructor.gradebook.course import Course
from grader.instructor.gradebook.errors import ConflictError
from grader.instructor.gradebook.events import AnswerMark, of
from grader.instructor.gradebook.identities import LearnerRef, find, identity, list_learners, names_of
from grader.instructor.gradebook.migrate import ADVISORY_KEY
from grader.instructor.gradebook.schema import sanitize


def lock_learner(connection: Connection, learner: str) -> None:
    """Wait until nobody else is deciding about a learner. An SQLite file has one writer at a time anyway."""
    if connection.dialect.name == "postgresql":
        key = {"ours": ADVISORY_KEY + 1, "learner": sanitize(learner)}
        connection.execute(text("SELECT pg_advisory_xact_lock(:ours, hashtext(:learner))"), key)


def version_of(connection: Connection, somebody: LearnerRef, kata: int) -> int:
    """Return the version of one learner's mark for one kata, by the kata's row."""
    attempts, decided = schema.attempts.c, schema.decisions.c
    graded = select(func.count()).where(attempts.learner_id.in_(somebody.rows), attempts.kata_id == kata)
    # More time for everything, say, is about no kata alone. Marks of answers have numbers of their own to look at.
    about = or_(decided.kata_id == kata, decided.kata_id.is_(None)), not_(of(AnswerMark))
    decisions = select(func.count() + func.count(decided.revoked_at)).where(
        decided.learner_id.in_(somebody.rows), *about
    )
    return sum(int(connection.execute(one).scalar_one()) for one in (graded, decisions))


def version(connection: Connection, course: Course, learner: str, kata: str) -> int:
    """Return the version of a mark, for `seen`: it grows with whatever is graded, decided or taken back about it.

    Raises:
        GradebookUsageError: the learner or the kata is unknown.
    """
    return version_of(connection, *find(connection, course, learner, kata))


def check_version(connection: Connection, somebody: LearnerRef, kata: int, seen: int | None) -> None:
    """Refuse a decision about a mark that has changed since it was looked at; None: it was not looked at.

    Raises:
        ConflictError: its version is no longer `seen`.
    """
    if seen is not None and version_of(connection, somebody, kata) != seen:
        raise ConflictError(
            f"In the meantime somebody decided about {somebody.name} or graded again; nothing was written.",
            "Look at what has changed, then decide again.",
        )


_KEPT = (schema.attempts, schema.submissions, schema.answers, schema.decisions)


def _numbers(table: Table) -> list[ColumnElement[int]]:
    """Return what grows with whatever is added to a table, taken back, or handed in again and may count instead."""
    found: list[ColumnElement[int]] = [func.count()]
    if "revoked_at" in table.c:
        found.append(func.count(table.c.revoked_at))
    if table is schema.submissions:
        found.append(func.coalesce(func.sum(table.c.seen + table.c.run_id), 0))
    if table in (schema.awaited, schema.unused_times):  # there may be as many of another run
        found.append(func.coalesce(func.sum(table.c.run_id), 0))
    return found


_STATE = select(
    *(
        select(number).select_from(table).scalar_subquery()
        for table in (*_KEPT, schema.learners, schema.awaited, schema.unused_times)
        for number in _numbers(table)
    )
)


def state(connection: Connection) -> tuple[int, ...]:
    """Return numbers that are others as soon as any stamp is."""
    return tuple(map(int, connection.execute(_STATE).one()))


def change_counters(connection: Connection, course: Course) -> dict[str, tuple[int, ...]]:
    """Return, by learner, counts of what was handed in, graded, decided, taken back and left."""
    found: dict[str, tuple[int, ...]] = {one.name: () for one in list_learners(connection, course)}
    whose = names_of(list_learners(connection, course))
    for table in _KEPT:
        each = select(table.c.learner_id, *_numbers(table)).group_by(table.c.learner_id)
        for learner, *numbers in connection.execute(each):
            if learner in whose:
                found[whose[learner]] += (learner, *map(int, numbers))
    called = identity(connection, course)
    waits = schema.awaited
    for name, *numbers in connection.execute(
        select(waits.c.learner, *_numbers(waits)).group_by(waits.c.learner)
    ):
        if (learner := called(name)) in found:
            found[learner] += tuple(map(int, numbers))
    return found
