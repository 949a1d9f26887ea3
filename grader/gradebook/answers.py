"""Written answers in the tables: what was handed in, what people gave for it, and what of it counts."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec
from sqlalchemy import Connection

from grader.catalogue.answer_sheet import answers_in, digest_of_answer
from grader.gradebook import schema
from grader.gradebook.course import Course
from grader.gradebook.errors import ChangedMeanwhile, GradebookError, GradebookUsageError, UnreadableRecord
from grader.gradebook.records import AnswerMark, Answers, Ruling, WrittenPart
from grader.gradebook.rulings import releases
from grader.gradebook.scope import Somebody, newest
from grader.gradebook.storage import insert, record, storable, take_back, unpacked
from grader.reports.json_text import encode

_ANSWERED = msgspec.json.Decoder(dict[int, str])
_CRITERIA = msgspec.json.Decoder(tuple[int, ...])
ANY = -1
"""Stands for whatever mark is there, where nobody looked at it."""


def answered(data: bytes) -> str:
    """Return, as `schema.answers` keeps it, which questions a sheet answers."""
    found = {number: digest_of_answer(text) for number, text in answers_in(data).items() if number}
    return encode(found).decode()


def handed_in(connection: Connection, people: Iterable[Somebody]) -> dict[tuple[str, int], list[Answers]]:
    """Return every sheet that some learners handed in, by learner and kata's row, oldest first."""
    table = schema.answers
    names = {row: one.name for one in people for row in one.rows}
    wanted = table.select().where(table.c.learner_id.in_(list(names)))
    found: dict[tuple[str, int], list[Answers]] = {}
    for row in connection.execute(wanted.order_by(table.c.id)):
        found.setdefault((names[row.learner_id], row.kata_id), []).append(
            Answers(
                id=row.id,
                content=row.content,
                answered=_decoded(_ANSWERED, row.answered, {}),
                submitted_at=row.submitted_at,
                time_source=row.time_source,
                origin=row.origin,
                at=row.at,
            )
        )
    return found


def marks(connection: Connection, people: Iterable[Somebody]) -> dict[tuple[str, int], list[AnswerMark]]:
    """Return every mark of some learners' written answers, by learner and kata's row, oldest first."""
    table = schema.answer_marks
    names = {row: one.name for one in people for row in one.rows}
    wanted = table.select().where(table.c.learner_id.in_(list(names)))
    found: dict[tuple[str, int], list[AnswerMark]] = {}
    for row in connection.execute(wanted.order_by(table.c.id)):
        found.setdefault((names[row.learner_id], row.kata_id), []).append(_mark_of(row))
    return found


def newest_marks(connection: Connection, most: int) -> list[tuple[str, str, AnswerMark]]:
    """Return the last marks of everybody's written answers, with learner and kata, the newest first."""
    return [(row.name, row.slug, _mark_of(row)) for row in newest(connection, schema.answer_marks, most)]


def _mark_of(row: Any) -> AnswerMark:
    instead = {"question": 0, "answer": "", "criteria": (), "points": 0.0, "max_points": 0.0}
    return record(AnswerMark, row, instead, criteria=_decoded(_CRITERIA, row.criteria, ()))


def standing(every: Iterable[AnswerMark]) -> dict[int, AnswerMark]:
    """Return the marks that count, by question: the newest that nobody took back."""
    found = {one.question: one for one in every if not one.revoked}
    return dict(sorted(found.items()))


def counts(
    course: Course, learner: str, kata: str, sheets: Sequence[Answers], rulings: Collection[Ruling]
) -> Answers | None:
    """Return the sheet that counts: the newest that came in before closing, else the newest."""
    if not sheets:
        return None
    closes = course.closes_for(learner, kata, rulings)
    in_time = [
        one for one in sheets if closes is None or one.submitted_at is None or one.submitted_at <= closes
    ]
    return max(in_time or sheets, key=lambda one: (one.submitted_at or one.at, one.id))


def written_part(
    course: Course,
    learner: str,
    kata: str,
    sheets: Sequence[Answers],
    given: Iterable[AnswerMark],
    rulings: Collection[Ruling],
) -> WrittenPart | None:
    """Return the written part of a mark; None where there is nothing of it.

    A question counts once it is marked. What was answered and is not marked is told and counts for nothing; what was
    never answered earns 0 from the release on, which says what each question was worth.
    """
    sheet = counts(course, learner, kata, sheets, rulings)
    stand = standing(given)
    stands = (one for one in releases(rulings, kata) if kata in one.value.get("points", ()))
    release = next(stands, None)
    if sheet is None and not stand and release is None:
        return None
    text = sheet.answered if sheet is not None else {}
    worth: Sequence[float] = release.value["points"][kata] if release is not None else ()
    blank = tuple(number for number in range(1, len(worth) + 1) if number not in text and number not in stand)
    due = course.due_for(learner, kata, rulings)
    submitted = sheet.submitted_at if sheet is not None else None
    return WrittenPart(
        score=sum(one.points for one in stand.values()),
        max_score=sum(one.max_points for one in stand.values()) + sum(worth[one - 1] for one in blank),
        unmarked=tuple(sorted(number for number in text if number not in stand)),
        changed=tuple(
            number for number, one in stand.items() if number in text and text[number] != one.answer
        ),
        blank=blank,
        released=release is not None,
        marks=tuple(stand.values()),
        submitted_at=submitted,
        late=due is not None and submitted is not None and submitted > due,
    )


def sheet_of(connection: Connection, content: str) -> bytes:
    """Return a sheet as it was handed in.

    Raises:
        GradebookError: it cannot be read.
    """
    table = schema.contents
    row = connection.execute(table.select().where(table.c.digest == content)).one_or_none()
    try:
        if row is None:
            raise UnreadableRecord("it is not there")
        bundle = unpacked(row.bundle, row.size, content)
        return bundle.files[bundle.main]
    except UnreadableRecord as error:
        raise GradebookError(f"A sheet of answers cannot be read: {error}.") from None


def mark(
    connection: Connection,
    somebody: Somebody,
    learner: int,
    kata: int,
    question: int,
    *,
    answer: str,
    criteria: Sequence[int],
    points: float,
    max_points: float,
    comment: str,
    author: str,
    seen: int | None = ANY,
) -> int:
    """Write what somebody gives for an answer; return the mark's number. What stood before stays in the history.

    Raises:
        GradebookUsageError: the points are no number from 0 to `max_points`.
        ChangedMeanwhile: another mark stands than the one of number `seen` (None: that there was none).
    """
    if not math.isfinite(points) or not 0 <= points <= max_points:
        raise GradebookUsageError(f"Points must be a number from 0 to {max_points:g}, not {points:g}.")
    before = marks(connection, [somebody._replace(rows=(*somebody.rows, learner))])
    stands = standing(before.get((somebody.name, kata), ())).get(question)
    if seen != ANY and (stands.id if stands is not None else None) != seen:
        told = (
            f"{stands.author} gave {stands.points:g} of {stands.max_points:g}"
            if stands
            else "it was taken back"
        )
        raise ChangedMeanwhile(
            f"Question {question} was marked in the meantime: {told}.",
            "Look at it again; nothing was written.",
        )
    return insert(
        connection,
        schema.answer_marks,
        learner_id=learner,
        kata_id=kata,
        question=question,
        answer=answer,
        criteria=encode(list(criteria)).decode(),
        points=points,
        max_points=max_points,
        comment=storable(comment),
        author=storable(author),
        at=datetime.now(UTC),
    )


def revoke(connection: Connection, number: int, *, author: str, comment: str) -> None:
    """Take a mark back; the one before it counts again.

    Raises:
        GradebookUsageError: there is no such mark, it is revoked already, or nothing says why.
    """
    taken = take_back(connection, schema.answer_marks, number, author=author, comment=comment)
    if taken is None:
        raise GradebookUsageError(
            f"There is no mark {number} of a written answer.", "See: kata gradebook answers LEARNER ID"
        )
    if not taken:
        raise GradebookUsageError(f"Mark {number} was already taken back.")
    if not comment.strip():  # the caller's transaction ends without it
        raise GradebookUsageError("Nothing is taken back without a reason.", "Give one: --comment TEXT")


def _decoded(decoder: Any, text: Any, otherwise: Any) -> Any:
    """Return a value; a damaged row must not take a class along."""
    try:
        return decoder.decode(text)
    except (msgspec.MsgspecError, TypeError, ValueError, RecursionError):
        return otherwise
