"""What counts: a row for every learner and kata, computed from what was graded, decided, and handed in late."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import msgspec
from sqlalchemy import Connection, Select, func, select

from grader.gradebook import schema
from grader.gradebook.course import Course
from grader.gradebook.decisions import decided
from grader.gradebook.errors import UnreadableRecord
from grader.gradebook.lateness import settle
from grader.gradebook.records import Adjustment, Row
from grader.gradebook.scope import Person, katas, people
from grader.gradebook.storage import report_of
from grader.reports.report import KataReport

Tell = Callable[[str, str, str], None]
"""Told of what cannot be read: whose, of which kata, and why."""

_CHUNK = 50
"""Learners that are read at once: few queries, and memory that does not grow with the class."""
_NEVER = "Nothing of this learner was graded for this kata."


def rows(
    connection: Connection,
    course: Course,
    slugs: Collection[str] | None,
    learners: Collection[str] | None,
    tell: Tell,
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
                    made = _row(course, name, chosen[kata], row, adjusted)
                    if made.unreadable is not None:
                        tell(name, slug, made.unreadable)
                    yield made
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
    tell: Tell,
) -> Iterator[KataReport]:
    """Yield the newest reports as they were graded, in order; of one run, those that it saw last."""
    chosen = katas(connection, slugs)
    for some in _chunks(people(connection, course, learners)):
        found = _standing(connection, some, chosen)
        for name, person in some:
            for kata in chosen:
                row = found.get((person, kata))
                if row is not None and run in (None, row.run_id):
                    report, why = _report(name, chosen[kata], row)
                    if why is not None:
                        tell(name, chosen[kata][0], why)
                    yield report


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
            attempts.c.status,
            attempts.c.score,
            attempts.c.max_score,
            attempts.c.seed,
        )
        .join(attempts, attempts.c.id == submissions.c.attempt_id)
        .where(
            submissions.c.learner_id.in_([number for _, number in some if number is not None]),
            submissions.c.kata_id.in_(list(chosen)),
        )
    )
    try:
        return {(row.learner_id, row.kata_id): row for row in connection.execute(wanted)}
    except (ValueError, TypeError):  # a time that is none, say: one row must not take fifty learners along
        keys = wanted.with_only_columns(submissions.c.learner_id, submissions.c.kata_id)
        return {
            (row.learner_id, row.kata_id): _alone(connection, wanted, row) for row in connection.execute(keys)
        }


def _alone(connection: Connection, wanted: Select[Any], key: Any) -> Any:
    mine = (schema.submissions.c.learner_id == key.learner_id, schema.submissions.c.kata_id == key.kata_id)
    try:
        return connection.execute(wanted.where(*mine)).one()
    except (ValueError, TypeError) as error:
        return _Damaged(str(error))


@dataclass(frozen=True)
class _Damaged:
    """A row that cannot even be fetched."""

    report: str
    """No report: what is wrong with the row."""
    status: str = "error"
    score: float = 0.0
    max_score: float = 0.0
    seed: str = "0"
    run_id: int = 0
    attempt_id: int | None = None
    attempts: int = 0
    submitted_at: datetime | None = None
    graded_at: datetime = datetime(1970, 1, 1, tzinfo=UTC)
    origin: str | None = None
    notes: str = "[]"


def _report(name: str, kata: tuple[str, str], row: Any) -> tuple[KataReport, str | None]:
    """Return a row's report; where it cannot be read, what was booked beside it, and why."""
    try:
        report = report_of(row.report)
        booked = row.status, row.score, row.max_score
        if report.kata == kata[0] and (report.status, report.earned, report.possible) == booked:
            return report, None
        why = "it is damaged (what was booked beside it differs)"
    except UnreadableRecord as error:
        why = f"its row is damaged ({row.report})" if isinstance(row, _Damaged) else str(error)
    stand_in = {
        "learner": name,
        "kata": kata[0],
        "number": kata[1],
        "status": row.status,
        "score": row.score,
        "max_score": row.max_score,
        "seed": 0,
        "message": f"The report of this mark cannot be read: {why}. What was booked beside it stands.",
    }
    try:
        report = msgspec.convert(stand_in, KataReport)
        if math.isfinite(report.score + report.max_score):
            return report, why
    except msgspec.ValidationError:
        pass
    stand_in |= {"status": "error", "score": 0.0, "max_score": 0.0}
    stand_in["message"] = f"This mark and its report cannot be read: {why}."
    return msgspec.convert(stand_in, KataReport), f"{why}, nor what was booked beside it"


def _notes(text: Any) -> tuple[str, ...]:
    try:
        return msgspec.json.decode(text, type=tuple[str, ...])
    except (msgspec.MsgspecError, TypeError, ValueError):
        return ("the notes of this row cannot be read",)


def _row(course: Course, name: str, kata: tuple[str, str], row: Any, adjustments: list[Adjustment]) -> Row:
    report, why = _report(name, kata, row)
    late = course.lateness(name, report.kata, row.submitted_at, report.earned, report.possible)
    score, taken = settle(report.earned, late.points, adjustments)
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
        notes=_notes(row.notes),
        unreadable=why,
        score=score,
        max_score=report.possible,
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
