"""What happened to marks, oldest first, and their versions, which only ever grow.

Who decides about a mark says which version they looked at. Where it is another by now, nothing is written: two people
who give two points each for the same reason have looked at the same mark.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator

from msgspec.structs import replace
from sqlalchemy import ColumnElement, Connection, Table, func, not_, or_, select, text

from grader.instructor.gradebook import events, schema
from grader.instructor.gradebook.check_points import rescaled
from grader.instructor.gradebook.course import Course
from grader.instructor.gradebook.errors import ConflictError
from grader.instructor.gradebook.events import (
    RULING,
    AboutMark,
    Adjust,
    Alias,
    Answered,
    AnswerMark,
    Attempts,
    Close,
    Decision,
    Dispute,
    Event,
    Extend,
    Left,
    Override,
    Release,
    Remark,
    Together,
    fold,
    of,
    words,
)
from grader.instructor.gradebook.identities import (
    LEARNT_BY,
    LearnerRef,
    find,
    identity,
    learner_index,
    list_learners,
    names_of,
)
from grader.instructor.gradebook.migrate import ADVISORY_KEY
from grader.instructor.gradebook.row_types import (
    Attempt,
    AttemptGraded,
    Decided,
    HistoryEvent,
    Key,
    RedrawnCheck,
    RunRecord,
    SeenAgain,
    StoredSubmission,
    TakenBack,
    UnfinishedRun,
    UnusedTime,
)
from grader.instructor.gradebook.schema import (
    Booked,
    arguments_of,
    booked,
    report_of,
    sanitize,
    texts_of,
    unpack_bundle,
)
from grader.instructor.submissions.submission import Bundle
from grader.report.report import KataReport

_FEW = 500
"""Numbers that one query names: databases bound them. Of more learners, everybody's rows are read."""


def runs(connection: Connection, course: Course) -> list[RunRecord]:
    """Return every run, the newest last."""
    return [
        RunRecord(
            id=row.id,
            started_at=row.started_at,
            finished_at=row.finished_at,
            arguments=arguments_of(row.arguments),
            version=row.version,
        )
        for row in connection.execute(schema.runs.select().order_by(schema.runs.c.id))
    ]


def unfinished_runs(connection: Connection, course: Course) -> list[UnfinishedRun]:
    """Return the runs that something is left of, oldest first."""
    index = learner_index(connection, course)
    left: dict[int, list[tuple[str, str]]] = defaultdict(list)
    for row in connection.execute(schema.awaited.select()):
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


def redrawn(connection: Connection, course: Course) -> list[RedrawnCheck]:
    """Return the checks that were drawn again in the newest grading of anything that was handed in."""
    newest = select(schema.submissions.c.attempt_id)
    wanted = select(schema.attempts.c.report).where(
        schema.attempts.c.redrawn > 0, schema.attempts.c.id.in_(newest)
    )
    draws: dict[tuple[str, str], list[int]] = {}
    for report in map(report_of, connection.execute(wanted).scalars()):
        for check in report.checks:
            if check.redrawn:
                draws.setdefault((report.kata, check.name), []).append(check.redrawn)
    return [
        RedrawnCheck(kata=kata, name=name, hand_ins=len(every), draws=sum(every))
        for (kata, name), every in sorted(draws.items())
    ]


def unused_times(connection: Connection, course: Course) -> list[UnusedTime]:
    """Return the lines of tables of times that are nobody's, in their order."""
    table = schema.unused_times
    return [
        UnusedTime(
            kata=row.kata,
            source=row.source,
            line=row.line,
            name=row.name,
            at=row.at,
            reason=row.reason,
            candidates=texts_of(row.candidates),
        )
        for row in connection.execute(table.select().order_by(table.c.id))
    ]


def attempt(connection: Connection, course: Course, number: int) -> Attempt | None:
    """Return one grading, whole; None when there is none of this number."""
    table = schema.attempts
    wanted = (
        select(table, schema.learners.c.name, schema.katas.c.slug)
        .join(schema.learners, schema.learners.c.id == table.c.learner_id)
        .join(schema.katas, schema.katas.c.id == table.c.kata_id)
        .where(table.c.id == number)
    )
    row = connection.execute(wanted).one_or_none()
    if row is None:
        return None
    return Attempt(
        id=row.id,
        run=row.run_id,
        learner=row.name,
        kata=row.slug,
        key=Key(row.digest, row.terms),
        report=_in_points(course, report_of(row.report)),
        submitted_at=row.submitted_at,
        graded_at=row.graded_at,
    )


def _in_points(course: Course, report: KataReport) -> KataReport:
    """Return a report in the points of the course."""
    table = course.points.get(report.kata)
    return report if table is None else rescaled(report, table)


def reports_of(
    connection: Connection, course: Course, attempts: Collection[int]
) -> Iterator[tuple[int, KataReport]]:
    """Yield attempts with their reports, in the points of the course."""
    for number, report in reports_as_graded(connection, course, attempts):
        yield number, _in_points(course, report)


def results(connection: Connection, course: Course, attempts: Collection[int]) -> dict[int, Booked]:
    """Return what attempts gave in the points of the course: of katas for which it says what checks are worth."""
    return {
        number: Booked(report.status, report.earned, report.possible)
        for number, report in reports_of(connection, course, attempts)
    }


def reports_as_graded(
    connection: Connection, course: Course, attempts: Collection[int]
) -> Iterator[tuple[int, KataReport]]:
    """Yield attempts with their reports, in the pack's points."""
    table, wanted = schema.attempts, list(attempts)
    for start in range(0, len(wanted), _FEW):
        some = table.c.id.in_(wanted[start : start + _FEW])
        for number, report in connection.execute(select(table.c.id, table.c.report).where(some)):
            yield number, report_of(report)


def bundle(connection: Connection, course: Course, number: int) -> Bundle | None:
    """Return the files that an attempt graded; None when it had none, or there is no such attempt."""
    contents = schema.contents
    wanted = (
        select(contents.c.size, contents.c.bundle, contents.c.digest)
        .join(schema.attempts, schema.attempts.c.content == contents.c.digest)
        .where(schema.attempts.c.id == number)
    )
    row = connection.execute(wanted).one_or_none()
    return unpack_bundle(row.bundle, row.size, row.digest) if row is not None else None


def stored_contents(
    connection: Connection, course: Course, learners: Collection[str] | None = None
) -> list[StoredSubmission]:
    """Return every content that was handed in, once for each name and kata, in the order of people.

    Args:
        connection: to read from.
        course: whose roster holds.
        learners: of these alone, by identity.
    """
    whose = list_learners(connection, course, learners)
    order = {row: place for place, somebody in enumerate(whose) for row in somebody.rows}
    table = schema.submissions
    wanted = (
        select(table, schema.learners.c.name, schema.katas.c.slug)
        .join(schema.learners, schema.learners.c.id == table.c.learner_id)
        .join(schema.katas, schema.katas.c.id == table.c.kata_id)
        # Where nothing could be read, nothing is there to be graded again.
        .where(table.c.digest != schema.NOTHING)
        .order_by(table.c.id)
    )
    # Later rows replace earlier ones of the same content, and keep their place.
    found = {
        (row.learner_id, row.slug, row.digest): StoredSubmission(
            learner=row.name, kata=row.slug, attempt=row.attempt_id, submitted_at=row.submitted_at
        )
        for row in connection.execute(wanted)
        if row.learner_id in order
    }
    return [found[key] for key in sorted(found, key=lambda key: order[key[0]])]


def newest_attempt(
    connection: Connection, course: Course, learner: str, kata: str, digest: str | None
) -> int | None:
    """Return the newest grading of a content, by the name that it came in with; None when there is none."""
    table = schema.submissions
    wanted = (
        select(table.c.attempt_id)
        .join(schema.learners, schema.learners.c.id == table.c.learner_id)
        .join(schema.katas, schema.katas.c.id == table.c.kata_id)
        .where(
            schema.learners.c.name == sanitize(learner), schema.katas.c.slug == kata, table.c.digest == digest
        )
        .limit(1)
    )
    return connection.execute(wanted).scalar()


def contents_of_kata(connection: Connection, kata: str) -> Iterator[tuple[str, int, Bundle]]:
    """Yield everything that was handed in for one kata: the learner as graded, the newest attempt, the files."""
    table, contents = schema.attempts, schema.contents
    newest = (
        select(table.c.learner_id, table.c.content, func.max(table.c.id).label("attempt"))
        .join(schema.katas, schema.katas.c.id == table.c.kata_id)
        .where(schema.katas.c.slug == kata, table.c.content.is_not(None))
        .group_by(table.c.learner_id, table.c.content)
        .subquery()
    )
    wanted = (
        select(
            schema.learners.c.name, newest.c.attempt, contents.c.size, contents.c.bundle, contents.c.digest
        )
        .join(newest, newest.c.learner_id == schema.learners.c.id)
        .join(contents, contents.c.digest == newest.c.content)
        .order_by(newest.c.attempt)
    )
    for row in connection.execute(wanted):
        yield row.name, row.attempt, unpack_bundle(row.bundle, row.size, row.digest)


def attempt_numbers(
    connection: Connection, course: Course, learners: Collection[str] | None = None
) -> dict[int, int]:
    """Return, by attempt, the how-manyth it is of its learner at its kata: what people see and name.

    Args:
        connection: to read from.
        course: whose roster holds.
        learners: only theirs, by identity or any name that they were graded under.
    """
    whose = identity(connection, course)
    wanted = None if learners is None else {whose(name) for name in learners}
    return attempt_ordinals(connection, list_learners(connection, course, wanted))


def attempt_ordinals(connection: Connection, people: Iterable[LearnerRef]) -> dict[int, int]:
    """Return, by attempt, the how-manyth it is of a learner at a kata, in the order of grading, from 1 on."""
    table, whose = schema.attempts, names_of(people)
    wanted = select(table.c.id, table.c.learner_id, table.c.kata_id)
    # A long list of parameters is slower than reading all, and databases bound its length.
    if len(whose) <= _FEW:
        wanted = wanted.where(table.c.learner_id.in_(list(whose)))
    count: Counter[tuple[str, int]] = Counter()
    found = {}
    for row in connection.execute(wanted.order_by(table.c.id)):
        if row.learner_id in whose:
            key = whose[row.learner_id], row.kata_id
            count[key] += 1
            found[row.id] = count[key]
    return found


def of_mark(connection: Connection, course: Course, learner: str, kata: str) -> list[HistoryEvent]:
    """Return what happened to one mark, oldest first.

    Raises:
        GradebookUsageError: there is no such learner or kata.
    """
    somebody, kata_id = find(connection, course, learner, kata)
    given_by = somebody.rows_at(course, kata)
    attempts = list(_attempts(connection, given_by, kata_id))
    if kata in course.points:
        given = results(connection, course, [graded.attempt for graded in attempts])
        attempts = [replace(graded, result=given[graded.attempt]) for graded in attempts]
    own = {graded.attempt: graded.number for graded in attempts}
    found: list[HistoryEvent] = [
        *attempts,
        *_handed_in_again(connection, given_by, kata_id, attempts),
    ]
    for decision in events.decisions(connection, schema.decisions.c.learner_id.in_(somebody.rows)):
        extended = isinstance(decision, Extend) and course.covers(decision.of, kata)
        if decision.kata == kata or isinstance(decision, Alias | Left) or extended:
            found += _happened(decision, own)
    return sorted(found, key=lambda event: event.at)


def rulings(
    connection: Connection,
    course: Course,
    types: Collection[type[Decision]] | None = None,
    learners: Collection[str] | None = None,
) -> list[Event]:
    """Return decisions, oldest first, also those that were taken back, of these learners alone.

    Without `types`, all but points and marks of written answers.
    """
    only = [not_(events.of(Adjust, Override, AnswerMark)) if types is None else events.of(*types)]
    if learners is not None:
        names = names_of(list_learners(connection, course, learners))
        only.append(schema.decisions.c.learner_id.in_(list(names)))
    return events.decisions(connection, *only)


def about_hand_ins(connection: Connection, course: Course) -> dict[tuple[str, str], AboutMark]:
    """Return what people said about hand-ins, by learner's identity and kata."""
    found = events.decisions(connection, events.of(Remark, Dispute, Answered, Close, Release))
    return fold(found, identity(connection, course)) if found else {}


def newest_decisions(
    connection: Connection, course: Course, most: int
) -> list[tuple[str | None, str | None, Decided | TakenBack]]:
    """Return what people decided last, with learner and kata, the newest first."""
    table = schema.decisions.c
    # Names that `kata grade` learnt are left out, unless somebody took them back: a download has one for
    # everybody.
    by_people = or_(not_(events.of(Alias)), table.author != LEARNT_BY, table.revoked_at.is_not(None))
    last = select(table.id).where(by_people).order_by(table.id.desc()).limit(most)
    made = events.decisions(connection, table.id.in_(last))
    # What was decided about many at once is one line, but for those who were taken out of it.
    parts = {number: event.revoked for event in made if isinstance(event, Together) for number in event.parts}
    made = [event for event in made if parts.get(event.id) != event.revoked]
    whose = identity(connection, course)
    remarked = {
        whose(event.learner) for event in made if isinstance(event, Remark) and event.learner is not None
    }
    own = attempt_ordinals(connection, list_learners(connection, course, remarked)) if remarked else {}
    found = [
        (whose(decision.learner) if decision.learner is not None else None, decision.kata, event)
        for decision in made
        for event in _happened(decision, own)
    ]
    return sorted(found, key=lambda item: item[2].at, reverse=True)[:most]


def _happened(decision: Decision, own: Attempts) -> Iterator[Decided | TakenBack]:
    """Yield a decision, and that it was taken back; `own` are the learner's numbers of attempts."""
    comment = decision.made.comment
    yield Decided(decision, f"{words(decision, own)}: {comment}" if decision.sort is RULING else comment)
    if decision.undone is not None:
        yield TakenBack(decision, decision.undone)


def _attempts(connection: Connection, people: Collection[int], kata: int) -> Iterator[AttemptGraded]:
    table = schema.attempts
    # Reports are nearly all of the table, and the list shows none.
    columns = [column for column in table.c if column.name not in ("report", "versions")]
    mine = select(*columns).where(table.c.learner_id.in_(people), table.c.kata_id == kata)
    for number, row in enumerate(connection.execute(mine.order_by(table.c.id)), 1):
        yield AttemptGraded(
            number=number,
            at=row.graded_at,
            run=row.run_id,
            attempt=row.id,
            digest=row.digest,
            submitted_at=row.submitted_at,
            result=booked(row),
            seed=int(row.seed),
        )


def _handed_in_again(
    connection: Connection, people: Collection[int], kata: int, attempts: Collection[AttemptGraded]
) -> Iterator[SeenAgain]:
    """Yield what came in without being graded: the same content at another time, or with a time that is known now."""
    table = schema.submissions
    # Not by the run that saw it last, or what became known long ago would be news with every run.
    since = func.coalesce(table.c.timed, table.c.run_id)
    # What is stored and graded again later has the newest time; how a content came in first, its first grading tells.
    graded = {event.digest: event.submitted_at for event in reversed(list(attempts))}
    wanted = (
        select(table, schema.runs.c.id.label("since"), schema.runs.c.started_at)
        .join(schema.runs, schema.runs.c.id == since)
        .where(table.c.learner_id.in_(people), table.c.kata_id == kata, table.c.submitted_at.is_not(None))
    )
    for row in connection.execute(wanted.order_by(table.c.id)):
        before = graded.get(row.digest)
        # A class that is graded again brings the same content at the same time: nothing new has happened.
        if row.submitted_at != before:
            what = "time added" if before is None else "the same content came in"
            yield SeenAgain(
                at=row.started_at,
                run=row.since,
                digest=row.digest,
                submitted_at=row.submitted_at,
                comment=f"{what}{f', says {row.time_source}' if row.time_source else ''}",
            )


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
    return sum(int(connection.execute(query).scalar_one()) for query in (graded, decisions))


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


def state(connection: Connection, course: Course) -> tuple[int, ...]:
    """Return numbers that are others as soon as anything was graded, decided or taken back: one cheap query."""
    return tuple(map(int, connection.execute(_STATE).one()))


def computed(connection: Connection, course: Course, name: str, stamp: str) -> bytes | None:
    """Return what somebody computed; None where nobody has, or from something else.

    Args:
        connection: to read from.
        course: whose gradebook it is.
        name: what it is.
        stamp: a text that is another one when it has to be computed anew.
    """
    table = schema.computed
    wanted = select(table.c.value).where(table.c.name == name, table.c.stamp == stamp)
    return connection.execute(wanted).scalar()


def keep_computed(connection: Connection, name: str, stamp: str, value: bytes) -> None:
    """Store what takes long to compute, in the place of what was stored under the name."""
    table = schema.computed
    connection.execute(table.delete().where(table.c.name == name))
    connection.execute(table.insert().values(name=name, stamp=stamp, value=value))


def change_counters(connection: Connection, course: Course) -> dict[str, tuple[int, ...]]:
    """Return, by learner, counts of what was handed in, graded, decided, taken back and left."""
    found: dict[str, tuple[int, ...]] = {learner.name: () for learner in list_learners(connection, course)}
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
