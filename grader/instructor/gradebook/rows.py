"""What counts: a row for every learner and kata, computed from what was graded, decided, and handed in late."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import Connection, func, select

from grader.instructor.gradebook import answers, decisions, events, schema
from grader.instructor.gradebook.attempt_selection import (
    HandIn,
    SelectedAttempt,
    in_order,
    select_attempts,
)
from grader.instructor.gradebook.course import Course
from grader.instructor.gradebook.fold import AboutMark, fold
from grader.instructor.gradebook.lateness import final_score
from grader.instructor.gradebook.lookup import (
    LearnerRef,
    find_learner,
    identity,
    katas,
    list_learners,
    names_of,
)
from grader.instructor.gradebook.records import Mark, Row, WrittenScore
from grader.instructor.gradebook.serialization import booked, report_of, texts_of
from grader.instructor.gradebook.unfinished import awaited
from grader.instructor.submissions.submission import Proposal
from grader.report.report import KataReport

_NOTHING = AboutMark()
_CHUNK = 50
"""Learners that are read at once: few queries, and memory that does not grow with the class."""
_NEVER = "Nothing of this learner was graded for this kata."
_NOT_YET = "This is not graded yet."


def rows(
    connection: Connection,
    course: Course,
    slugs: Collection[str] | None,
    learners: Collection[str] | None,
    ungraded: dict[tuple[str, str], None],
) -> Iterator[Row]:
    """Yield a row for every learner and kata, in order; both only as far as they are named.

    Args:
        connection: to read from.
        course: whose rules hold.
        slugs: of these katas alone.
        learners: of these alone, by identity.
        ungraded: gets what is not graded yet.
    """
    chosen = katas(connection, slugs)
    # Only when somebody has no row: to know what others could get takes a look at every attempt.
    blanks: dict[int, KataReport] | None = None
    last_run = None
    waits = awaited(connection, course)
    # Some at a time: a few queries for all of them, and never a whole class in memory.
    for some in _chunks(list_learners(connection, course, learners)):
        found = _standing(connection, course, some, chosen)
        about = _about(connection, course, some)
        written_of = _written(connection, course, some, about)
        for somebody in some:
            name = somebody.name
            for kata, (slug, _) in chosen.items():
                stands = found.get((name, kata))
                waiting = (name, slug) in waits and (stands is None or not stands.row.digest)
                adjusted = about.get((name, slug), _NOTHING).changes
                written = written_of(somebody, kata, slug)
                # Where an earlier download held nothing to grade, that is not a mark while something waits.
                if stands is not None and not waiting:
                    made = _row(course, name, stands, _ByHand(adjusted, written))
                else:
                    if blanks is None:
                        blanks, last_run = _blanks(connection, chosen), _last_run(connection)
                    assert last_run is not None, slug
                    blank = _not_yet(blanks[kata]) if waiting else blanks[kata]
                    made = _blank_row(course, name, blank, last_run, _ByHand(adjusted, written))
                if not made.graded:
                    ungraded[name, slug] = None
                yield made


def reports(
    connection: Connection,
    course: Course,
    run: int | None,
    slugs: Collection[str] | None,
    learners: Collection[str] | None,
) -> Iterator[KataReport]:
    """Yield the reports that count as they were graded, in order; of one run, those that it saw last."""
    chosen = katas(connection, slugs)
    # As in `rows`, so that a class of thousands is never in memory as a whole.
    for some in _chunks(list_learners(connection, course, learners)):
        found = _standing(connection, course, some, chosen)
        for somebody in some:
            for kata in chosen:
                stands = found.get((somebody.name, kata))
                if stands is not None and run in (None, stands.row.run_id):
                    yield report_of(stands.graded.report)


def marks(
    connection: Connection,
    course: Course,
    slugs: Collection[str] | None,
    learners: Collection[str] | None,
) -> Iterator[Mark]:
    """Yield a mark for every learner and kata, in order, from what was recorded with the reports."""
    chosen = katas(connection, slugs)
    blanks, waits = _blanks(connection, chosen), awaited(connection, course)
    for some in _chunks(list_learners(connection, course, learners)):
        counting = _counting(connection, course, some, chosen)
        about = _about(connection, course, some)
        written_of = _written(connection, course, some, about)
        for somebody in some:
            for kata, (slug, _) in chosen.items():
                adjusted = about.get((somebody.name, slug), _NOTHING).changes
                written = written_of(somebody, kata, slug)
                stands = counting.get((somebody.name, kata))
                waiting = (somebody.name, slug) in waits and (stands is None or not stands.row.digest)
                if stands is not None and not waiting:
                    yield _mark(somebody.name, slug, stands, _ByHand(adjusted, written))
                    continue
                # Nothing was graded, and points that somebody gave by hand count all the same.
                score, _ = final_score(0.0, 0.0, adjusted)
                blank = _not_yet(blanks[kata]) if waiting else blanks[kata]
                yield Mark(
                    learner=somebody.name,
                    kata=slug,
                    status=blank.status,
                    score=score,
                    max_score=blank.max_score,
                    changed=bool(events.standing(adjusted)),
                    graded=_is_graded(adjusted, blank.status != "not_graded"),
                    written=written,
                )


def _mark(name: str, slug: str, stands: _Standing, by_hand: _ByHand) -> Mark:
    row, counted = stands.row, stands.counted
    given = _hand_in(row)
    score, taken = final_score(given.result.score, counted.late.points, by_hand.adjustments)
    return Mark(
        learner=name,
        kata=slug,
        status=given.result.status,
        score=score,
        max_score=given.result.max_score,
        attempt=row.attempt_id,
        attempts=stands.contents,
        submitted_at=row.submitted_at,
        days_late=counted.late.days,
        late_by=given.late_by,
        changed=bool(taken) or bool(events.standing(by_hand.adjustments)),
        graded=_is_graded(by_hand.adjustments, given.graded),
        notes=(*stands.notes, *counted.remarks),
        proposals=stands.proposals,
        taken=given.taken,
        newer=counted.newer,
        written=by_hand.written,
    )


def submissions_of(
    connection: Connection, course: Course, learner: str, slugs: Collection[str] | None = None
) -> dict[str, tuple[int, list[HandIn]]]:
    """Return, by kata, everything that a learner handed in, oldest first, and the number of what counts.

    Raises:
        GradebookUsageError: the learner is unknown.
    """
    somebody = find_learner(connection, course, learner)
    chosen = katas(connection, slugs)
    found = _given(connection, [somebody], _needed(connection, course, chosen))
    slug_of = katas(connection, None)
    mine = {slug_of[kata][0]: [_hand_in(row) for row in rows] for (_, kata), rows in found.items()}
    counted = select_attempts(course, somebody.name, mine, somebody.rulings)
    return {slug: (counted[slug].id, in_order(mine[slug])) for slug, _ in chosen.values() if slug in mine}


_About = Mapping[tuple[str, str], AboutMark]
"""By learner and kata's slug."""


def _about(connection: Connection, course: Course, some: Sequence[LearnerRef]) -> _About:
    """Return what people decided about marks of some learners."""
    theirs = schema.decisions.c.learner_id.in_(list(names_of(some)))
    found = decisions.decisions(
        connection, decisions.of(events.Adjust, events.Override, events.AnswerMark), theirs
    )
    return fold(found, identity(connection, course)) if found else {}


def _written(
    connection: Connection, course: Course, some: Sequence[LearnerRef], about: _About
) -> Callable[[LearnerRef, int, str], WrittenScore | None]:
    """Return what tells the written part of a learner's mark, by the kata's row and slug."""
    writers = [somebody for somebody in some if somebody.writes]
    sheets = answers.handed_in(connection, names_of(writers)) if writers else {}

    def written_of(somebody: LearnerRef, kata: int, slug: str) -> WrittenScore | None:
        given = about.get((somebody.name, slug), _NOTHING).answer_marks
        own = sheets.get((somebody.name, kata), ())
        return answers.written_part(course, somebody.name, slug, own, given, somebody.rulings)

    return written_of


def _chunks(everybody: list[LearnerRef]) -> Iterator[list[LearnerRef]]:
    for start in range(0, len(everybody), _CHUNK):
        yield everybody[start : start + _CHUNK]


class _Standing(NamedTuple):
    """What counts of a learner for a kata."""

    row: Any
    """The hand-in that counts."""
    counted: SelectedAttempt
    contents: int
    """How many different ones were handed in."""
    proposals: tuple[Proposal, ...]
    """Files that may be the answer, of the one that counts and of what was seen last."""
    graded: Any = None
    """The row of its grading, where its report is read."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What there is to say of what was found."""
        return (*texts_of(self.row.notes), *(one.note for one in self.proposals))


# An earlier version that was grading when the tables were brought up to date goes on without it.
_ARRIVED = func.coalesce(schema.submissions.c.arrived, schema.submissions.c.run_id)
_GIVEN = (
    select(
        schema.submissions.c.id,
        schema.submissions.c.learner_id,
        schema.submissions.c.kata_id,
        schema.submissions.c.digest,
        schema.submissions.c.run_id,
        schema.submissions.c.attempt_id,
        schema.submissions.c.seen,
        schema.submissions.c.submitted_at,
        schema.submissions.c.time_source,
        schema.submissions.c.origin,
        schema.submissions.c.notes,
        schema.submissions.c.taken,
        schema.submissions.c.proposed,
        schema.submissions.c.proposed_because,
        _ARRIVED.label("arrived"),
        schema.runs.c.started_at,
        schema.attempts.c.status,
        schema.attempts.c.score,
        schema.attempts.c.max_score,
        schema.attempts.c.terms,
    )
    .join(schema.attempts, schema.attempts.c.id == schema.submissions.c.attempt_id)
    .join(schema.runs, schema.runs.c.id == _ARRIVED)
)
_GRADED = select(schema.attempts.c.id, schema.attempts.c.graded_at, schema.attempts.c.report)


def _needed(connection: Connection, course: Course, chosen: Mapping[int, tuple[str, str]]) -> Collection[int]:
    """Return the katas whose hand-ins must be known: where late days are shared, all of them."""
    return {**katas(connection, course.katas), **chosen} if course.late.late_days else chosen


_Counting = dict[tuple[str, int], _Standing]
"""By learner and kata's row."""


def _counting(
    connection: Connection, course: Course, some: Sequence[LearnerRef], chosen: Mapping[int, tuple[str, str]]
) -> _Counting:
    needed = _needed(connection, course, chosen)
    slug_of = chosen if needed is chosen else katas(connection, None)
    given = _given(connection, some, needed)
    stands: _Counting = {}
    for somebody in some:
        mine = {
            slug_of[kata][0]: given[somebody.name, kata] for kata in needed if (somebody.name, kata) in given
        }
        hand_ins = {slug: [_hand_in(row) for row in found] for slug, found in mine.items()}
        counted = select_attempts(course, somebody.name, hand_ins, somebody.rulings)
        for kata, (slug, _) in chosen.items():
            if slug in counted:
                row = next(row for row in mine[slug] if row.id == counted[slug].id)
                contents = {one.digest for one in hand_ins[slug] if one.digest}
                proposals = _proposals(row, mine[slug])
                stands[somebody.name, kata] = _Standing(row, counted[slug], len(contents), proposals)
    return stands


def _standing(
    connection: Connection, course: Course, some: Sequence[LearnerRef], chosen: Mapping[int, tuple[str, str]]
) -> dict[tuple[str, int], _Standing]:
    stands = _counting(connection, course, some, chosen)
    numbers = {one.row.attempt_id for one in stands.values()}
    wanted = _GRADED.where(schema.attempts.c.id.in_(list(numbers)))
    graded = {row.id: row for row in connection.execute(wanted)}
    return {key: one._replace(graded=graded[one.row.attempt_id]) for key, one in stands.items()}


def _proposals(row: Any, every: Sequence[Any]) -> tuple[Proposal, ...]:
    """Return which files may be meant for the answer: next to the hand-in that counts, and seen since."""
    last = max(every, key=lambda one: (one.arrived, one.seen))
    return tuple(
        Proposal(file=one.proposed, reason=one.proposed_because)
        for one in ([row] if last.id == row.id else [row, last])
        if one.proposed is not None
    )


def _given(
    connection: Connection, some: Sequence[LearnerRef], kata_rows: Collection[int]
) -> dict[tuple[str, int], list[Any]]:
    """Return everything that some learners handed in, by learner and kata's row."""
    submissions = schema.submissions
    names = names_of(some)
    wanted = _GIVEN.where(
        submissions.c.learner_id.in_(list(names)), submissions.c.kata_id.in_(list(kata_rows))
    )
    found: dict[tuple[str, int], list[Any]] = {}
    for row in connection.execute(wanted.order_by(submissions.c.id)):
        found.setdefault((names[row.learner_id], row.kata_id), []).append(row)
    return found


def _hand_in(row: Any) -> HandIn:
    return HandIn(
        row.id,
        row.digest,
        row.submitted_at,
        row.started_at,
        (row.arrived, row.seen),
        booked(row),
        bool(row.terms),
        row.time_source if row.submitted_at is None else None,
        row.taken,
    )


class _ByHand(NamedTuple):
    """What people, not checks, gave a learner for a kata."""

    adjustments: list[events.PointsChange]
    written: WrittenScore | None


def _row(course: Course, name: str, stands: _Standing, by_hand: _ByHand) -> Row:
    row, counted = stands.row, stands.counted
    report = report_of(stands.graded.report)
    late = counted.late
    score, taken = final_score(report.earned, late.points, by_hand.adjustments)
    return Row(
        learner=name,
        name=course.name_of(name),
        report=report,
        attempts=stands.contents,
        graded=_is_graded(by_hand.adjustments, bool(row.terms)),
        submitted_at=row.submitted_at,
        graded_at=stands.graded.graded_at,
        adjustments=by_hand.adjustments,
        days_late=late.days,
        late_points=taken,
        attempt=row.attempt_id,
        origin=row.origin,
        notes=(*stands.notes, *(report.look_at or ()), *counted.remarks),
        proposals=stands.proposals,
        taken=row.taken,
        newer=counted.newer,
        time_source=row.time_source,
        late_days_used=counted.free_days,
        closed=counted.closed,
        score=score,
        max_score=report.possible,
        written=by_hand.written,
    )


def _blank_row(course: Course, name: str, blank: KataReport, at: datetime, by_hand: _ByHand) -> Row:
    score, _ = final_score(0.0, 0.0, by_hand.adjustments)
    return Row(
        learner=name,
        name=course.name_of(name),
        report=msgspec.structs.replace(blank, learner=name),
        attempts=0,
        graded=_is_graded(by_hand.adjustments, blank.status != "not_graded"),
        submitted_at=None,
        graded_at=at,
        adjustments=by_hand.adjustments,
        score=score,
        max_score=blank.max_score,
        written=by_hand.written,
    )


def _not_yet(blank: KataReport) -> KataReport:
    """Return the report of somebody whose hand-in a run has not come to."""
    return msgspec.structs.replace(blank, status="not_graded", message=_NOT_YET)


def _is_graded(adjustments: Iterable[events.PointsChange], by_checks: bool) -> bool:
    """Whether there is a mark: by checks, or because somebody set it."""
    return by_checks or any(isinstance(change, events.Override) for change in events.standing(adjustments))


def _blanks(connection: Connection, chosen: Mapping[int, tuple[str, str]]) -> dict[int, KataReport]:
    """Return, by kata, the report of somebody who was never graded: no points, of as many as others could get."""
    attempts = schema.attempts
    most = (
        select(attempts.c.kata_id, func.max(attempts.c.max_score))
        .join(schema.submissions, schema.submissions.c.attempt_id == attempts.c.id)
        .group_by(attempts.c.kata_id)
    )
    points = {kata: whole for kata, whole in connection.execute(most)}
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
