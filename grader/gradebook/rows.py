"""What counts: a row for every learner and kata, computed from what was graded, decided, and handed in late."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import Connection, func, select

from grader.gradebook import schema
from grader.gradebook.course import Course
from grader.gradebook.decisions import decided
from grader.gradebook.marks import settle
from grader.gradebook.model import Adjustment, Row
from grader.gradebook.scope import Person, katas, people
from grader.gradebook.storage import report_of
from grader.reports.model import KataReport

_CHUNK = 50
"""Learners that are read at once: few queries, and memory that does not grow with the class."""
_NEVER = "Nothing of this learner was graded for this kata."


def rows(
    connection: Connection, course: Course, slugs: Collection[str] | None, learners: Collection[str] | None
) -> Iterator[Row]:
    """Yield a row for every learner and kata, in order; both only as far as they are named."""
    chosen = katas(connection, slugs)
    blanks: dict[int, KataReport] | None = None
    last_run = None
    for some in _chunks(people(connection, course, learners)):
        found = _standing(connection, some, chosen)
        adjustments = decided(connection, some)
        for name, person in some:
            for kata, (slug, _) in chosen.items():
                row = found.get((person, kata))
                adjusted = adjustments.get((person, kata), [])
                if row is not None:
                    yield _row(course, name, row, adjusted)
                    continue
                if blanks is None:
                    blanks, last_run = _blanks(connection, chosen), _last_run(connection)
                assert last_run is not None, slug
                yield _blank_row(course, name, blanks[kata], last_run, adjusted)


def reports(
    connection: Connection,
    course: Course,
    run: int | None,
    slugs: Collection[str] | None,
    learners: Collection[str] | None,
) -> Iterator[KataReport]:
    """Yield the newest reports as they were graded, in order; of one run, those that it saw last."""
    chosen = katas(connection, slugs)
    for some in _chunks(people(connection, course, learners)):
        found = _standing(connection, some, chosen)
        for _, person in some:
            for kata in chosen:
                row = found.get((person, kata))
                if row is not None and run in (None, row.run_id):
                    yield report_of(row.report)


def _chunks(everybody: list[Person]) -> Iterator[list[Person]]:
    for start in range(0, len(everybody), _CHUNK):
        yield everybody[start : start + _CHUNK]


def _standing(
    connection: Connection, some: Iterable[Person], chosen: Collection[int]
) -> dict[tuple[int | None, int], Any]:
    submissions, attempts = schema.submissions, schema.attempts
    wanted = (
        select(
            submissions.c.learner_id,
            submissions.c.kata_id,
            submissions.c.run_id,
            submissions.c.attempt_id,
            submissions.c.attempts,
            submissions.c.submitted_at,
            submissions.c.origin,
            submissions.c.notes,
            attempts.c.graded_at,
            attempts.c.report,
        )
        .join(attempts, attempts.c.id == submissions.c.attempt_id)
        .where(
            submissions.c.learner_id.in_([number for _, number in some if number is not None]),
            submissions.c.kata_id.in_(list(chosen)),
        )
    )
    return {(row.learner_id, row.kata_id): row for row in connection.execute(wanted)}


def _row(course: Course, name: str, row: Any, adjustments: list[Adjustment]) -> Row:
    report = report_of(row.report)
    late = course.lateness(name, report.kata, row.submitted_at, report.score, report.max_score)
    score, taken = settle(report.score, late.points, adjustments)
    return Row(
        learner=name,
        name=course.name_of(name),
        report=report,
        attempts=row.attempts,
        submitted_at=row.submitted_at,
        graded_at=row.graded_at,
        adjustments=adjustments,
        days_late=late.days,
        late_points=taken,
        attempt=row.attempt_id,
        origin=row.origin,
        notes=msgspec.json.decode(row.notes, type=tuple[str, ...]),
        score=score,
        max_score=report.max_score,
    )


def _blank_row(
    course: Course, name: str, blank: KataReport, at: datetime, adjustments: list[Adjustment]
) -> Row:
    score, _ = settle(0.0, 0.0, adjustments)
    return Row(
        learner=name,
        name=course.name_of(name),
        report=msgspec.structs.replace(blank, learner=name),
        attempts=0,
        submitted_at=None,
        graded_at=at,
        adjustments=adjustments,
        score=score,
        max_score=blank.max_score,
    )


def _blanks(connection: Connection, chosen: Mapping[int, tuple[str, str]]) -> dict[int, KataReport]:
    """Return, by kata, the report of somebody who was never graded: no points, of as many as others could get."""
    attempts = schema.attempts
    most = (
        select(attempts.c.kata_id, func.max(attempts.c.max_score))
        .join(schema.submissions, schema.submissions.c.attempt_id == attempts.c.id)
        .group_by(attempts.c.kata_id)
    )
    points: dict[int, float] = {kata: whole for kata, whole in connection.execute(most)}
    return {
        kata: KataReport(
            kata=slug,
            number=number,
            status="missing",
            score=0.0,
            max_score=points.get(kata, 0.0),
            seed=0,
            message=_NEVER,
        )
        for kata, (slug, number) in chosen.items()
    }


def _last_run(connection: Connection) -> datetime:
    newest = select(schema.runs.c.started_at).order_by(schema.runs.c.id.desc()).limit(1)
    at = connection.execute(newest).scalar() or connection.execute(select(schema.meta.c.created_at)).scalar()
    assert isinstance(at, datetime)
    return at
