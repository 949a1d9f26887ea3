"""What happened: runs, attempts with what they graded, and how one mark came about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

import msgspec
from sqlalchemy import Connection, func, or_, select

from grader.gradebook import answers, schema
from grader.gradebook.course import Course
from grader.gradebook.decisions import adjustment_of
from grader.gradebook.errors import GradebookError, UnreadableRecord
from grader.gradebook.identities import LEARNT_BY
from grader.gradebook.records import AnswerMark, Attempt, HistoryEvent, Key, Ruling, RunRecord, StoredHandIn
from grader.gradebook.rulings import rulings
from grader.gradebook.scope import Somebody, find, identity, newest, people
from grader.gradebook.storage import booked, report_of, storable, unpacked
from grader.submissions.submission import Bundle
from grader.words import counted

_GRADE_AGAIN = (
    "The same kata grade command makes a new mark of its own; a copy of the gradebook may have the old one."
)

_FEW = 500
"""Learners that a database is asked for by name; of more, everybody's are read."""


def runs(connection: Connection) -> list[RunRecord]:
    """Return every run, the newest last."""
    return [
        RunRecord(
            id=row.id,
            started_at=row.started_at,
            finished_at=row.finished_at,
            arguments=_arguments(row.arguments),
            version=row.version,
        )
        for row in connection.execute(schema.runs.select().order_by(schema.runs.c.id))
    ]


def _arguments(text: Any) -> dict[str, Any]:
    try:
        return msgspec.json.decode(text, type=dict[str, Any])
    except (msgspec.MsgspecError, TypeError, ValueError):
        return {}  # damaged: what a run was asked for decides about no mark


def attempt(connection: Connection, course: Course, number: int) -> Attempt | None:
    """Return one grading, whole; None when there is none of this number."""
    table = schema.attempts
    wanted = (
        select(
            table.c.id,
            table.c.run_id,
            schema.learners.c.name,
            schema.katas.c.slug,
            table.c.digest,
            table.c.terms,
            table.c.submitted_at,
            table.c.graded_at,
            table.c.report,
        )
        .join(schema.learners, schema.learners.c.id == table.c.learner_id)
        .join(schema.katas, schema.katas.c.id == table.c.kata_id)
        .where(table.c.id == number)
    )
    row = connection.execute(wanted).one_or_none()
    if row is None:
        return None
    try:
        report = report_of(row.report)
    except UnreadableRecord as error:
        raise GradebookError(
            f"{_called(connection, course, number)}: its report cannot be read: {error}.", _GRADE_AGAIN
        ) from None
    return Attempt(
        id=row.id,
        run=row.run_id,
        learner=row.name,
        kata=row.slug,
        key=Key(row.digest, row.terms),
        report=report,
        submitted_at=row.submitted_at,
        graded_at=row.graded_at,
    )


def bundle(connection: Connection, course: Course, number: int) -> Bundle | None:
    """Return the files that an attempt graded; None when it had none, or there is no such attempt."""
    contents = schema.contents
    wanted = (
        select(contents.c.size, contents.c.bundle, contents.c.digest)
        .join(schema.attempts, schema.attempts.c.content == contents.c.digest)
        .where(schema.attempts.c.id == number)
    )
    row = connection.execute(wanted).one_or_none()
    if row is None:
        return None
    return unpack(lambda: _called(connection, course, number), row)


def _called(connection: Connection, course: Course, number: int) -> str:
    """Return an attempt as people name it: the how-manyth of its learner at its kata."""
    everybody = people(connection, course)
    wanted = (
        select(schema.attempts.c.learner_id, schema.katas.c.slug)
        .join(schema.katas, schema.katas.c.id == schema.attempts.c.kata_id)
        .where(schema.attempts.c.id == number)
    )
    row = connection.execute(wanted).one()
    whose = [one for one in everybody if row.learner_id in one.rows]
    return called(whose[0].name, row.slug, numbers(connection, whose)[number])


def called(learner: str, kata: str, number: int) -> str:
    """Return what an attempt is called where it cannot be read."""
    return f"Attempt {number} ({learner}, {kata})"


def stored(connection: Connection, people: Iterable[Somebody]) -> list[StoredHandIn]:
    """Return every content that these handed in, once for each name and kata, in the order of people."""
    order = {row: place for place, one in enumerate(people) for row in one.rows}
    table = schema.submissions
    wanted = (
        select(
            table.c.learner_id,
            schema.learners.c.name,
            schema.katas.c.slug,
            table.c.digest,
            table.c.attempt_id,
            table.c.submitted_at,
        )
        .join(schema.learners, schema.learners.c.id == table.c.learner_id)
        .join(schema.katas, schema.katas.c.id == table.c.kata_id)
        .where(table.c.digest != "")
        .order_by(table.c.id)
    )
    found = {
        (row.learner_id, row.slug, row.digest): StoredHandIn(
            learner=row.name, kata=row.slug, attempt=row.attempt_id, submitted_at=row.submitted_at
        )
        for row in connection.execute(wanted)
        if row.learner_id in order
    }
    return [found[key] for key in sorted(found, key=lambda key: order[key[0]])]


def newest_attempt(connection: Connection, learner: str, kata: str, digest: str) -> int | None:
    """Return the newest grading of a content; None when there is none."""
    table = schema.submissions
    wanted = (
        select(table.c.attempt_id)
        .join(schema.learners, schema.learners.c.id == table.c.learner_id)
        .join(schema.katas, schema.katas.c.id == table.c.kata_id)
        .where(
            schema.learners.c.name == storable(learner), schema.katas.c.slug == kata, table.c.digest == digest
        )
        .limit(1)
    )
    return connection.execute(wanted).scalar()


def kept(connection: Connection, kata: str) -> Iterator[tuple[str, int, Any]]:
    """Yield everything that was handed in for one kata: the learner as graded, the newest attempt, what was packed."""
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
        yield row.name, row.attempt, row


def unpack(name: Callable[[], str], row: Any) -> Bundle:
    """Return what `kept` yielded as files; `name` says what the attempt is called, should it be unreadable.

    Raises:
        GradebookError: they cannot be read.
    """
    try:
        return unpacked(row.bundle, row.size, row.digest)
    except UnreadableRecord as error:
        raise GradebookError(f"{name()}: what was handed in cannot be read: {error}.", _GRADE_AGAIN) from None


def numbers(connection: Connection, people: Iterable[Somebody]) -> dict[int, int]:
    """Return, by attempt, the how-manyth it is of a learner at a kata, in the order of grading, from 1 on."""
    table, whose = schema.attempts, {row: one.name for one in people for row in one.rows}
    wanted = select(table.c.id, table.c.learner_id, table.c.kata_id)
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


def events(connection: Connection, course: Course, learner: str, kata: str) -> list[HistoryEvent]:
    """Return what happened to one mark, oldest first.

    Raises:
        GradebookUsageError: there is no such learner or kata.
    """
    somebody, kata_id = find(connection, course, learner, kata)
    attempts = list(_attempts(connection, somebody.rows, kata_id))
    own = {one.attempt: one.number for one in attempts}
    found = [
        *attempts,
        *_handed_in_again(connection, somebody.rows, kata_id, attempts),
        *_adjustments(connection, somebody.rows, kata_id),
        *_answer_marks(connection, somebody, kata_id),
    ]
    for one in rulings(connection, schema.rulings.c.learner_id.in_(somebody.rows)):
        extended = one.kind == "extend" and course.covers(one.value["of"], kata)
        if one.kata == kata or one.kind in ("alias", "damaged") or extended:
            found += [_ruled(one, own), *_withdrawn(one)]
    return sorted(found, key=lambda event: event.at)


def decisions(
    connection: Connection, course: Course, most: int
) -> list[tuple[str, str | None, HistoryEvent]]:
    """Return what people decided last, with learner and kata, the newest first.

    Names that `kata grade` learnt are left out, unless somebody took them back: a download has one for everybody.
    """
    found = [
        (row.name, row.slug, event)
        for row in newest(connection, schema.adjustments, most)
        for event in _adjusted(row)
    ]
    table = schema.rulings.c
    by_people = or_(table.kind != "alias", table.author != LEARNT_BY, table.revoked_at.is_not(None))
    last = select(table.id).where(by_people).order_by(table.id.desc()).limit(most)
    ruled = rulings(connection, schema.rulings.c.id.in_(last))
    whose = identity(connection, course)
    remarked = {whose(one.learner) for one in ruled if one.kind == "remark"}
    own = numbers(connection, people(connection, course, remarked)) if remarked else {}
    found += [
        (one.learner, one.kata, event) for one in ruled for event in (_ruled(one, own), *_withdrawn(one))
    ]
    found += [
        (name, slug, event)
        for name, slug, one in answers.newest_marks(connection, most)
        for event in _answer_marked(one)
    ]
    found.sort(key=lambda one: one[2].at, reverse=True)
    return [(whose(name), slug, event) for name, slug, event in found[:most]]


def _withdrawn(one: Ruling) -> Iterator[HistoryEvent]:
    return _revoked(one, ruling=one.id)


def _revoked(one: Any, **which: Any) -> Iterator[HistoryEvent]:
    """Yield that something was taken back, where it was; `which` says by its number what it is."""
    if one.revoked_at is not None:
        yield HistoryEvent(
            kind="revoke", at=one.revoked_at, comment=one.revoked_because, author=one.revoked_by, **which
        )


def _ruled(one: Ruling, own: Mapping[Any, int | None]) -> HistoryEvent:
    return HistoryEvent(
        kind=one.kind,
        at=one.at,
        ruling=one.id,
        comment=f"{described(one, own)}: {one.comment}",
        author=one.author,
        revoked=one.revoked,
    )


def described(one: Ruling, own: Mapping[Any, int | None]) -> str:
    """Return what a ruling says, in a few words; `own` are the learner's numbers of attempts, as `numbers` has them."""
    match one.kind:
        case "choose":
            return "this hand-in counts"
        case "extend":
            days = float(one.value["days"])
            return f"{counted(days, 'more day')} for {one.value['of'] or 'everything'}"
        case "take":
            return f"{one.value} is the answer"
        case "alias":
            return f"also called {one.value}"
        case "remark":
            return f"on {one.value['file']}, line {one.value['line']}, of attempt {own.get(one.value['attempt'])}"
        case "dispute":
            return "disputed"
        case "answer":
            return f"answer to dispute {one.value}"
        case "close":
            return f"dispute {one.value} closed"
        case "assign":
            return f"to be marked by {one.value}"
        case "reviewed":
            return "looked through"
        case "release":
            return f"marks and remarks of {one.value['of'] or 'everything'} are released"
        case "damaged":
            return f"ruling {one.id}"


def _attempts(connection: Connection, people: Collection[int], kata: int) -> Iterator[HistoryEvent]:
    table = schema.attempts
    columns = [column for column in table.c if column.name not in ("report", "versions")]
    mine = select(*columns).where(table.c.learner_id.in_(people), table.c.kata_id == kata)
    for number, row in enumerate(connection.execute(mine.order_by(table.c.id)), 1):
        status, score, max_score = booked(row)
        yield HistoryEvent(
            kind="attempt",
            number=number,
            at=row.graded_at,
            run=row.run_id,
            attempt=row.id,
            digest=row.digest,
            submitted_at=row.submitted_at,
            status=status,
            score=score,
            max_score=max_score,
            seed=int(row.seed) if str(row.seed).isdecimal() else None,
        )


def _handed_in_again(
    connection: Connection, people: Collection[int], kata: int, attempts: Collection[HistoryEvent]
) -> Iterator[HistoryEvent]:
    """Yield what came in without being graded: the same content at another time, or with a time that is known now."""
    table = schema.submissions
    # What is stored and graded again later has the newest time; how a content came in first, its first grading tells.
    graded = {event.digest: event.submitted_at for event in reversed(list(attempts))}
    wanted = (
        select(
            table.c.digest,
            table.c.submitted_at,
            table.c.time_source,
            table.c.run_id,
            schema.runs.c.started_at,
        )
        .join(schema.runs, schema.runs.c.id == table.c.run_id)
        .where(table.c.learner_id.in_(people), table.c.kata_id == kata, table.c.submitted_at.is_not(None))
    )
    for row in connection.execute(wanted.order_by(table.c.id)):
        if row.submitted_at != graded.get(row.digest):
            yield HistoryEvent(
                kind="handed_in",
                at=row.started_at,
                run=row.run_id,
                digest=row.digest,
                submitted_at=row.submitted_at,
                comment=f"the same content came in{f', says {row.time_source}' if row.time_source else ''}",
                author="kata grade",
            )


def _answer_marks(connection: Connection, somebody: Somebody, kata: int) -> Iterator[HistoryEvent]:
    """Yield what was given for written answers, and what of it was taken back."""
    for one in answers.marks(connection, [somebody]).get((somebody.name, kata), ()):
        yield from _answer_marked(one)


def _answer_marked(one: AnswerMark) -> Iterator[HistoryEvent]:
    yield HistoryEvent(
        kind="answer_mark",
        at=one.at,
        answer_mark=one.id,
        question=one.question,
        points=one.points,
        max_score=one.max_points,
        comment=one.comment,
        author=one.author,
        revoked=one.revoked,
    )
    yield from _revoked(one, answer_mark=one.id, question=one.question)


def _adjustments(connection: Connection, people: Collection[int], kata: int) -> Iterator[HistoryEvent]:
    table = schema.adjustments
    mine = table.select().where(table.c.learner_id.in_(people), table.c.kata_id == kata)
    for row in connection.execute(mine.order_by(table.c.id)):
        yield from _adjusted(row)


def _adjusted(row: Any) -> Iterator[HistoryEvent]:
    one = adjustment_of(row)
    yield HistoryEvent(
        kind=one.kind,
        at=one.at,
        adjustment=one.id,
        points=one.points,
        comment=one.comment,
        author=one.author,
        revoked=one.revoked,
    )
    yield from _revoked(row, adjustment=row.id)
