"""Runs that have not come to their end: what lies in their downloads and is not graded yet."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection

from sqlalchemy import Connection, bindparam, select

from grader.instructor.gradebook import schema
from grader.instructor.gradebook.course import Course
from grader.instructor.gradebook.identities import learner_index
from grader.instructor.gradebook.records import UnfinishedRun
from grader.instructor.gradebook.schema import arguments_of, sanitize

Pair = tuple[str, str]
"""Learner and kata."""
_AWAITED = schema.awaited
_OF_RUN = _AWAITED.delete().where(_AWAITED.c.run_id == bindparam("run"))
_PAIR = _OF_RUN.where(_AWAITED.c.learner == bindparam("who"), _AWAITED.c.kata == bindparam("what"))


def place_of(arguments: object) -> str:
    """Return which download a run read, by its options as they are stored; nothing where it read none."""
    return str(arguments_of(arguments).get("submissions") or "")


def expect(connection: Connection, run: int, place: str, pairs: Collection[Pair]) -> None:
    """Note what a run is going to grade; earlier runs over the same download need not grade it any more."""
    earlier = select(schema.runs.c.id, schema.runs.c.arguments).where(
        schema.runs.c.id.in_(select(_AWAITED.c.run_id))
    )
    same = [row.id for row in connection.execute(earlier) if place_of(row.arguments) == place]
    named = [{"who": sanitize(learner), "what": kata} for learner, kata in pairs]
    for other in same if named else ():
        connection.execute(_PAIR, [{**pair, "run": other} for pair in named])
    if named:
        connection.execute(
            _AWAITED.insert(), [{"run_id": run, "learner": one["who"], "kata": one["what"]} for one in named]
        )


def reach(connection: Connection, run: int, learner: str, kata: str) -> None:
    """Note that a run has graded what somebody handed in for a kata, or found it unchanged or missing."""
    connection.execute(_PAIR, {"run": run, "who": sanitize(learner), "what": kata})


def end(connection: Connection, run: int) -> None:
    """Note that a run has come to its end."""
    connection.execute(_OF_RUN, {"run": run})


def awaited(connection: Connection, course: Course) -> set[Pair]:
    """Return whose hand-ins for which katas are not graded yet, by identity."""
    found = connection.execute(select(_AWAITED.c.learner, _AWAITED.c.kata)).all()
    if not found:  # as mostly
        return set()
    index = learner_index(connection, course)
    return {(index.identity(course, learner), kata) for learner, kata in found}


def unfinished_runs(connection: Connection, course: Course) -> list[UnfinishedRun]:
    """Return the runs that something is left of, oldest first."""
    index = learner_index(connection, course)
    left: dict[int, list[Pair]] = defaultdict(list)
    for row in connection.execute(_AWAITED.select()):
        left[row.run_id].append((index.identity(course, row.learner), row.kata))
    runs = schema.runs
    found = connection.execute(runs.select().where(runs.c.id.in_(list(left))).order_by(runs.c.id))
    return [
        UnfinishedRun(
            id=row.id,
            stopped=row.stopped_at is not None,
            planned=row.planned or 0,
            left=tuple(left[row.id]),
            arguments=arguments_of(row.arguments),
        )
        for row in found
    ]
