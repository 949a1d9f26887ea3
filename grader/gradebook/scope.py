"""Who and what there is: learners that were graded or are in the roster, katas that were graded for anybody."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import Connection, select

from grader.errors import did_you_mean
from grader.gradebook import schema
from grader.gradebook.course import Course
from grader.gradebook.errors import GradebookUsageError
from grader.gradebook.storage import storable
from grader.submissions.names import natural_key

Person = tuple[str, int | None]
"""A learner's name and row; None for who is in the roster only."""


def people(connection: Connection, course: Course, learners: Collection[str] | None = None) -> list[Person]:
    """Return everybody, or who of `learners` is there, sorted."""
    rows = connection.execute(select(schema.learners.c.name, schema.learners.c.id))
    found: dict[str, int | None] = {name: number for name, number in rows}
    recorded = {course.same(name) for name in found}
    found |= {name: None for name in course.roster if course.same(name) not in recorded}
    if learners is not None:
        wanted = {course.same(storable(name)) for name in learners}
        found = {name: number for name, number in found.items() if course.same(name) in wanted}
    return sorted(found.items(), key=lambda item: natural_key(item[0]))


def katas(connection: Connection, wanted: Collection[str] | None) -> dict[int, tuple[str, str]]:
    """Return slug and number of katas by their rows, in order: of `wanted`, or of all."""
    table = schema.katas
    rows = connection.execute(select(table.c.id, table.c.slug, table.c.number)).all()
    chosen = [row for row in rows if wanted is None or row.slug in wanted]
    chosen.sort(key=lambda row: (natural_key(row.number), row.slug))
    return {row.id: (row.slug, row.number) for row in chosen}


def find(connection: Connection, course: Course, learner: str, kata: str) -> tuple[int | None, int]:
    """Return the rows of a learner and a kata; the learner's is None for one who is in the roster only.

    Raises:
        GradebookUsageError: there is no such learner or kata.
    """
    everybody = people(connection, course)
    names = {course.same(name): number for name, number in everybody}
    name = course.same(storable(learner))
    if name not in names:
        known = [name for name, _ in everybody]
        raise _unknown("learner", learner, known, "See who is there: kata gradebook show")
    slug = select(schema.katas.c.id).where(schema.katas.c.slug == storable(kata))
    kata_id = connection.execute(slug).scalar()
    if kata_id is None:
        slugs = [known for known, _ in katas(connection, None).values()]
        raise _unknown("kata", kata, slugs, "See what was graded: kata gradebook show")
    return names[name], kata_id


def _unknown(what: str, name: str, known: list[str], hint: str) -> GradebookUsageError:
    return GradebookUsageError(f"The gradebook has no {what} {name}.{did_you_mean(name, known)}", hint)
