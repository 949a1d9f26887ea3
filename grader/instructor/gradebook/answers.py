"""Written answers in the tables: what was handed in, what people gave for it, and what of it counts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import msgspec
from msgspec import UNSET, UnsetType
from sqlalchemy import Connection, select

from grader.catalogue.answer_sheet import answers_in, digest_of_answer
from grader.instructor.gradebook import schema
from grader.instructor.gradebook.course import Course
from grader.instructor.gradebook.errors import ConflictError
from grader.instructor.gradebook.events import (
    AnswerMark,
    Decision,
    active_marks,
    active_releases,
    decisions,
    fold,
    of,
    write,
)
from grader.instructor.gradebook.identities import (
    LearnerRef,
    ensure_learner_row,
    identity,
    katas,
    list_learners,
    names_of,
)
from grader.instructor.gradebook.row_types import Answers, Given, WrittenScore
from grader.instructor.gradebook.schema import decoded, sanitize, unpack_bundle
from grader.report.json_text import encode
from grader.words import counted

_ANSWERED = msgspec.json.Decoder(dict[int, str])


def answered(data: bytes) -> str:
    """Return, as `schema.answers` keeps it, which questions a sheet answers."""
    found = {number: digest_of_answer(text) for number, text in answers_in(data).items() if number}
    return encode(found).decode()


def handed_in(connection: Connection, names: dict[int, str]) -> dict[tuple[str, int], list[Answers]]:
    """Return every sheet that some learners handed in, by learner and kata's row, oldest first."""
    table = schema.answers
    wanted = table.select().where(table.c.learner_id.in_(list(names)))
    found: dict[tuple[str, int], list[Answers]] = {}
    for row in connection.execute(wanted.order_by(table.c.id)):
        found.setdefault((names[row.learner_id], row.kata_id), []).append(
            Answers(
                id=row.id,
                content=row.content,
                answered=decoded(_ANSWERED, row.answered, "a sheet of answers"),
                submitted_at=row.submitted_at,
                time_source=row.time_source,
                origin=row.origin,
                at=row.at,
            )
        )
    return found


def written_answers(
    connection: Connection, course: Course, learners: Collection[str] | None = None
) -> dict[tuple[str, str], tuple[list[Answers], list[AnswerMark]]]:
    """Return, by learner and kata, every sheet that was handed in and every mark, oldest first."""
    names, slugs = names_of(list_learners(connection, course, learners)), katas(connection, None)
    sheets = {(name, slugs[kata][0]): own for (name, kata), own in handed_in(connection, names).items()}
    of_names = schema.decisions.c.learner_id.in_(list(names))
    about = fold(decisions(connection, of(AnswerMark), of_names), identity(connection, course))
    return {
        key: (sheets.get(key, []), about[key].answer_marks if key in about else [])
        for key in dict.fromkeys((*sheets, *about))
    }


def in_words(given: Collection[Given]) -> str:
    """Return what is given for several answers: the points, where they are the same for all."""
    marks = ((answer.kata, answer.mark) for answer in given)
    words = {f"{of}, Q{mark.question}: {mark.points:g} of {mark.max_points:g} points" for of, mark in marks}
    return words.pop() if len(words) == 1 else f"{counted(len(given), 'answer')} marked"


def counts(
    course: Course, learner: str, kata: str, sheets: Sequence[Answers], rulings: Collection[Decision]
) -> Answers | None:
    """Return the sheet that counts: the newest that came in before closing, else the newest."""
    if not sheets:
        return None
    closes = course.closes_for(learner, kata, rulings)
    in_time = [
        sheet
        for sheet in sheets
        if closes is None or sheet.submitted_at is None or sheet.submitted_at <= closes
    ]
    return max(in_time or sheets, key=lambda sheet: (sheet.submitted_at or sheet.at, sheet.id))


def written_part(
    course: Course,
    learner: str,
    kata: str,
    sheets: Sequence[Answers],
    given: Iterable[AnswerMark],
    rulings: Collection[Decision],
) -> WrittenScore | None:
    """Return the written part of a mark; None where there is nothing of it.

    It counts from the release on, which says what each question is worth: for everybody out of the same points. What
    was never answered earns 0 then; what was answered and is not marked waits, and is named.
    """
    sheet = counts(course, learner, kata, sheets, rulings)
    stand = active_marks(given)
    released = [
        points for release in active_releases(rulings, kata) if (points := release.worth(kata)) is not None
    ]
    if sheet is None and not stand and not released:
        return None
    text = sheet.answered if sheet is not None else {}
    worth = released[0] if released else []
    # Nothing before the release: until then nobody knows how many questions there are.
    blank = tuple(number for number in range(1, len(worth) + 1) if number not in text and number not in stand)
    # The release goes over the single marks: they may be older than the rubric's last change of points.
    most = {number: mark.max_points for number, mark in stand.items()} | dict(enumerate(worth, 1))
    unmarked = tuple(sorted(number for number in text if number not in stand))
    due = course.due_for(learner, kata, rulings)
    submitted = sheet.submitted_at if sheet is not None else None
    return WrittenScore(
        score=sum(mark.points for mark in stand.values()),
        max_score=sum(most.values()),
        unmarked=unmarked,
        open=sum(most.get(number, 0.0) for number in unmarked),
        changed=tuple(
            number for number, mark in stand.items() if number in text and text[number] != mark.answer
        ),
        blank=blank,
        released=bool(released),
        marks=tuple(stand.values()),
        submitted_at=submitted,
        late=due is not None and submitted is not None and submitted > due,
        answered=text,
    )


def sheet_of(connection: Connection, course: Course, content: str) -> bytes:
    """Return a sheet as it was handed in, by its digest."""
    table = schema.contents
    row = connection.execute(table.select().where(table.c.digest == content)).one()
    bundle = unpack_bundle(row.bundle, row.size, content)
    return bundle.files[bundle.main]


def texts(connection: Connection, course: Course, kata: str) -> dict[str, str]:
    """Return every answer that was ever handed in for a kata, by digest."""
    table, answers = schema.contents, schema.answers
    of_kata = select(answers.c.content).join(schema.katas, schema.katas.c.id == answers.c.kata_id)
    wanted = table.select().where(table.c.digest.in_(of_kata.where(schema.katas.c.slug == sanitize(kata))))
    found: dict[str, str] = {}
    for row in connection.execute(wanted):
        bundle = unpack_bundle(row.bundle, row.size, row.digest)
        written = answers_in(bundle.files[bundle.main])
        found |= {digest_of_answer(text): text for number, text in written.items() if number}
    return found


def mark(
    connection: Connection,
    somebody: LearnerRef,
    kata: int,
    given: AnswerMark,
    seen: int | UnsetType | None = UNSET,
) -> int:
    """Write what somebody gives for an answer; return the mark's number. What stood before stays in the history.

    Raises:
        GradebookUsageError: the points are not a number from 0 to the most that there are.
        ConflictError: another mark stands than the one of number `seen` (None: that there was none); unless unset.
    """
    given.check()
    # Read in the transaction that writes: between two of them somebody else could mark it.
    table = schema.decisions.c
    before = decisions(connection, of(AnswerMark), table.learner_id.in_(somebody.rows), table.kata_id == kata)
    stands = active_marks(decision for decision in before if isinstance(decision, AnswerMark)).get(
        given.question
    )
    if seen is not UNSET and (stands.id if stands is not None else None) != seen:
        sentence = (
            f"{stands.made.author} gave {stands.points:g} of {stands.max_points:g}"
            if stands
            else "it was taken back"
        )
        raise ConflictError(
            f"Question {given.question} was marked in the meantime: {sentence}.",
            "Look at it again.",
        )
    return write(connection, given, ensure_learner_row(connection, somebody), kata)
