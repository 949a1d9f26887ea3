"""What counts: a mark for every learner and kata, computed from what was graded, decided, and handed in late."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from msgspec.structs import replace
from sqlalchemy import Connection, func, select

from grader.instructor.gradebook import answers, events, history, schema
from grader.instructor.gradebook.attempt_selection import in_order, select_attempts
from grader.instructor.gradebook.course import Course
from grader.instructor.gradebook.events import AboutMark, fold
from grader.instructor.gradebook.identities import (
    LearnerRef,
    Mate,
    find_learner,
    identity,
    katas,
    learner_index,
    list_learners,
    names_of,
)
from grader.instructor.gradebook.row_types import HandIn, Mark, Reports, WrittenScore
from grader.instructor.gradebook.schema import Booked, booked, texts_of
from grader.instructor.submissions.submission import Proposal
from grader.report.report import KataReport

_NOTHING = AboutMark()
_CHUNK = 50
"""Learners that are read at once: few queries, and memory that does not grow with the class."""


def marks(
    connection: Connection,
    course: Course,
    slugs: Collection[str] | None,
    learners: Collection[str] | None,
    read: Callable[[Sequence[int]], Iterable[tuple[int, KataReport]]],
) -> Iterator[Mark]:
    """Yield a mark for every learner and kata, in order; both only as far as they are named.

    Args:
        connection: to read from.
        course: whose rules hold.
        slugs: of these katas alone.
        learners: of these alone, by identity; without, of everybody who has not left.
        read: yields attempts with their reports, when somebody looks at one.
    """
    chosen = katas(connection, slugs)
    # Only when somebody has no mark: to know what others could get takes a look at every attempt.
    nothing: tuple[dict[int, float], datetime] | None = None
    waits = _awaited(connection, course)
    # Some at a time: a few queries for all of them, and never a whole class in memory.
    everybody = list_learners(connection, course, learners)
    if learners is None:
        everybody = [somebody for somebody in everybody if not somebody.left]
    for start in range(0, len(everybody), _CHUNK):
        some = everybody[start : start + _CHUNK]
        counting = _counting(connection, course, some, chosen)
        reports = Reports((mark.attempt for mark in counting.values() if mark.attempt is not None), read)
        about = _about(connection, course, some)
        written_of = _written(connection, course, some, about)
        for somebody in some:
            for kata, (slug, number) in chosen.items():
                mark = counting.get((somebody.name, slug))
                waiting = (somebody.name, slug) in waits
                # Where an earlier download held nothing to grade, that is not a mark while something waits.
                if mark is None or (waiting and mark.hand_in is not None and not mark.hand_in.digest):
                    most, last_run = nothing = nothing or _nothing(connection)
                    result = Booked("not_graded" if waiting else "missing", 0.0, most.get(kata, 0.0))
                    mark = Mark(learner=somebody.name, kata=slug, result=result, graded_at=last_run)
                yield replace(
                    mark,
                    number=number,
                    name=course.name_of(somebody.name),
                    adjustments=about.get((somebody.name, slug), _NOTHING).changes,
                    written=written_of(somebody, kata, slug),
                    reports=reports,
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
    given = _given(connection, course, [somebody], chosen)[somebody.name]
    marks = select_attempts(course, somebody.name, given, somebody.rulings)
    counting = {slug: mark.hand_in.id for slug, mark in marks.items() if mark.hand_in is not None}
    return {slug: (counting[slug], in_order(given[slug])) for slug, _ in chosen.values() if slug in given}


_About = Mapping[tuple[str, str], AboutMark]
"""By learner and kata's slug."""


def _about(connection: Connection, course: Course, some: Sequence[LearnerRef]) -> _About:
    """Return what people decided about marks of some learners."""
    theirs = schema.decisions.c.learner_id.in_(list(names_of(some)))
    found = events.decisions(connection, events.of(events.Adjust, events.Override, events.AnswerMark), theirs)
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


# An earlier version that was grading when the tables were brought up to date goes on without it.
_ARRIVED = func.coalesce(schema.submissions.c.arrived, schema.submissions.c.run_id)
_GIVEN = (
    select(
        schema.submissions,
        schema.runs.c.id.label("came_in"),
        schema.runs.c.started_at,
        schema.attempts.c.status,
        schema.attempts.c.score,
        schema.attempts.c.max_score,
        schema.attempts.c.terms,
        schema.attempts.c.graded_at,
    )
    .join(schema.attempts, schema.attempts.c.id == schema.submissions.c.attempt_id)
    .join(schema.runs, schema.runs.c.id == _ARRIVED)
)


def _counting(
    connection: Connection, course: Course, some: Sequence[LearnerRef], chosen: Mapping[int, tuple[str, str]]
) -> dict[tuple[str, str], Mark]:
    """Return what counts of some learners, by learner and slug, in the order of `chosen`."""
    given = _given(connection, course, some, chosen)
    found: dict[tuple[str, str], Mark] = {}
    for somebody in some:
        marks = select_attempts(course, somebody.name, given[somebody.name], somebody.rulings)
        found |= {(somebody.name, slug): marks[slug] for slug, _ in chosen.values() if slug in marks}
    return found


def _given(
    connection: Connection, course: Course, some: Sequence[LearnerRef], chosen: Mapping[int, tuple[str, str]]
) -> dict[str, dict[str, list[HandIn]]]:
    """Return everything that some learners handed in, by learner and slug: where late days are shared, of all katas."""
    slug_of = {**katas(connection, course.katas), **chosen} if course.late.late_days else chosen
    submissions = schema.submissions.c
    # Whose it is by row: the learner's own, and for what a team hands in together that of each other member.
    owners: dict[int, list[tuple[str, Mate | None]]] = defaultdict(list)
    for somebody in some:
        for number in somebody.rows:
            owners[number].append((somebody.name, None))
        for mate in somebody.mates:
            owners[mate.row].append((somebody.name, mate))
    wanted = _GIVEN.where(submissions.learner_id.in_(list(owners)), submissions.kata_id.in_(list(slug_of)))
    found: dict[str, dict[str, list[HandIn]]] = {somebody.name: {} for somebody in some}
    rows = connection.execute(wanted.order_by(submissions.id)).all()
    # Where the course says what checks are worth, points are not those that were booked with the report.
    own = {row.attempt_id for row in rows if slug_of[row.kata_id][0] in course.points}
    worth = history.results(connection, course, own)
    for row in rows:
        slug, _ = slug_of[row.kata_id]
        hand_in = _hand_in(row)
        if (result := worth.get(row.attempt_id)) is not None:
            hand_in = replace(hand_in, result=result)
        for name, by in owners[row.learner_id]:
            if by is None:
                found[name].setdefault(slug, []).append(hand_in)
            # Of a mate only what was handed in: that somebody handed in nothing is said of them alone.
            elif hand_in.digest and course.covers(by.of, slug):
                found[name].setdefault(slug, []).append(replace(hand_in, by=by.name))
    # In the order of the katas, whatever came in first.
    return {
        name: {slug: own[slug] for slug, _ in slug_of.values() if slug in own} for name, own in found.items()
    }


def _hand_in(row: Any) -> HandIn:
    proposal = Proposal(file=row.proposed, reason=row.proposed_because) if row.proposed is not None else None
    return HandIn(
        id=row.id,
        digest=row.digest,
        submitted_at=row.submitted_at,
        time_source=row.time_source,
        arrived_at=row.started_at,
        arrived=(row.came_in, row.seen),
        attempt=row.attempt_id,
        result=booked(row),
        graded=bool(row.terms),
        graded_at=row.graded_at,
        run=row.run_id,
        origin=row.origin,
        notes=texts_of(row.notes),
        taken=row.taken,
        proposal=proposal,
    )


def _nothing(connection: Connection) -> tuple[dict[int, float], datetime]:
    """Return what there is to say of what was never graded.

    By kata's row the most points that anybody could get, and when a run last looked.
    """
    attempts = schema.attempts
    most = (
        select(attempts.c.kata_id, func.max(attempts.c.max_score))
        .join(schema.submissions, schema.submissions.c.attempt_id == attempts.c.id)
        .group_by(attempts.c.kata_id)
    )
    newest = select(schema.runs.c.started_at).order_by(schema.runs.c.id.desc()).limit(1)
    at = connection.execute(newest).scalar() or connection.execute(select(schema.meta.c.created_at)).scalar()
    assert isinstance(at, datetime)
    return {kata: points for kata, points in connection.execute(most)}, at


def _awaited(connection: Connection, course: Course) -> set[tuple[str, str]]:
    """Return whose hand-ins for which katas are not graded yet, by identity."""
    found = connection.execute(select(schema.awaited.c.learner, schema.awaited.c.kata)).all()
    if not found:  # as mostly
        return set()
    index = learner_index(connection, course)
    return {(index.identity(course, learner), kata) for learner, kata in found}
