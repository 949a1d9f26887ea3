"""Written answers as those who mark see them: what is to be marked, marking, taking back, releasing.

The one module that commands and the desk go through. Everything it writes is a row with who, when and why.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import msgspec
from msgspec import UNSET, UnsetType

from grader.catalogue import Catalogue
from grader.catalogue.answer_sheet import answers_in, digest_of_answer, questions_of
from grader.catalogue.rubric import Criterion, Question, Rubric, rubric_of
from grader.instructor.gradebook import events
from grader.instructor.gradebook.answers import counts
from grader.instructor.gradebook.errors import GradebookUsageError
from grader.instructor.gradebook.events import active_marks, active_releases
from grader.instructor.gradebook.row_types import Answers, Given, Mark
from grader.instructor.gradebook.store import Gradebook
from grader.report.style import out_of
from grader.words import counted


class CourseQuestion(Question, frozen=True, kw_only=True):
    """A question with the criteria that this course added or changed: it stays worth what its rubric says."""

    worth: float

    @property
    def points(self) -> float:
        """What the question is worth."""
        return self.worth


class Rubrics:
    """How answers are marked: the rubrics of a catalogue's katas, each read once, and what a course changed of them."""

    def __init__(self, catalogue: Catalogue, book: Gradebook) -> None:
        self._catalogue = catalogue
        self._book = book
        self.of_pack = cache(self._of_pack)

    def _of_pack(self, slug: str) -> Rubric | None:
        """Return a kata's rubric; None where this install has none, and its answers cannot be marked.

        Raises:
            PackError: it is broken.
        """
        kata = self._catalogue.kata(slug)
        return rubric_of(kata) if kata is not None else None

    def of(self, slug: str, new: events.CourseCriterion | None = None) -> Rubric | None:
        """Return how a kata's answers are marked now, as `of_pack` does, or once there is also a new criterion."""
        rubric = self.of_pack(slug)
        if rubric is None:
            return None
        rulings = self._book.rulings([events.SetCriterion])
        made = [
            (ruling.criterion, ruling.revoked)
            for ruling in rulings
            if isinstance(ruling, events.SetCriterion)
        ]
        made += [(new, False)] if new is not None else []
        questions = [
            _changed(
                question,
                [change for change in made if (change[0].kata, change[0].question) == (slug, number)],
            )
            for number, question in enumerate(rubric.questions, 1)
        ]
        return Rubric(questions=tuple(questions))

    def questions(self, slug: str) -> tuple[str, ...]:
        """Return a kata's questions: the rubric's, else those of its lesson."""
        rubric, kata = self.of_pack(slug), self._catalogue.kata(slug)
        if rubric is not None:
            return tuple(question.question for question in rubric.questions)
        return questions_of(kata) if kata is not None else ()


WITHDRAWN = "(withdrawn)"
"""In the place of a criterion that was taken back: those after it keep their numbers, by which marks know them."""


def _changed(question: Question, made: Sequence[tuple[events.CourseCriterion, bool]]) -> Question:
    """Return a question with what people decided about its criteria, oldest first, also what they took back."""
    if not made:
        return question
    criteria = list(question.criteria)
    for change, revoked in made:
        new = Criterion(met=change.met, points=change.points)
        if change.number is None:
            criteria.append(Criterion(met=WITHDRAWN, points=0.0) if revoked else new)
        elif not revoked and change.number <= len(criteria):
            criteria[change.number - 1] = new
    while criteria[-1].met == WITHDRAWN:
        criteria.pop()
    return CourseQuestion(
        question=question.question,
        model=question.model,
        mistakes=question.mistakes,
        criteria=tuple(criteria),
        worth=question.points,
    )


def earned(question: Question, met: Iterable[int]) -> float:
    """Return what criteria give together, by their numbers: from 0 to what the question is worth."""
    # A mark may name one that was added and taken back since.
    given = sum(question.criteria[number - 1].points for number in met if number <= len(question.criteria))
    return min(max(given, 0.0), question.points)


@dataclass(frozen=True)
class WrittenAnswer:
    """One question with what a learner wrote, and what was given for it."""

    number: int
    question: str
    text: str
    """As it was written: anybody's text, to be escaped wherever it is shown. Empty where nothing was written."""
    digest: str
    """Of the text; empty where there is none."""
    rubric: Question | None
    """How it is marked; None where the kata has no rubric."""
    mark: events.AnswerMark | None
    """The mark that counts."""

    @property
    def changed(self) -> bool:
        """Whether the mark is of an earlier text than this."""
        return self.mark is not None and bool(self.digest) and self.mark.answer != self.digest

    @property
    def needs_mark(self) -> bool:
        """Whether somebody should mark it: there is a text, and no mark of just that text."""
        return bool(self.digest) and (self.mark is None or self.changed)


@dataclass(frozen=True)
class AnswerSheet:
    """All of a learner's answers for a kata."""

    learner: str
    kata: str
    answers: tuple[WrittenAnswer, ...]
    rest: str
    """What was written under no question's number."""
    handed_in: Answers | None
    """Where it came from and when; None where nothing was handed in."""
    late: bool
    """It came in after the due time; nothing is taken off for it."""
    versions: int
    """How many sheets were handed in."""
    released: bool

    @property
    def waiting(self) -> int:
        """How many answers should be marked."""
        return sum(answer.needs_mark for answer in self.answers)


@dataclass(frozen=True)
class Waiting:
    """A sheet with answers that should be marked, for a queue."""

    learner: str
    kata: str
    questions: tuple[int, ...]


def sheets_to_mark(book: Gradebook, katas: Collection[str] | None = None) -> list[Waiting]:
    """Return every sheet on which answers wait, in the gradebook's order; sheets' texts are not read for it."""
    found = []
    for row in book.rows(katas=katas):
        if row.written is not None and (row.written.unmarked or row.written.changed):
            numbers = tuple(sorted({*row.written.unmarked, *row.written.changed}))
            found.append(Waiting(row.learner, row.kata, numbers))
    return found


def load_sheet(book: Gradebook, rubrics: Rubrics, learner: str, kata: str) -> AnswerSheet:
    """Return what a learner wrote for a kata, question by question, and what was given for it.

    Raises:
        PackError: the kata's rubric is broken.
        GradebookError: what was handed in cannot be read.
    """
    sheets, marks = book.written_answers([learner]).get((learner, kata), ([], []))
    mine = book.standing(events.Extend, [learner])
    # The sheet that counts, which need not be the newest: points are given for that one.
    counted = counts(book.course, learner, kata, sheets, mine)
    texts = answers_in(book.answer_sheet(counted.content)) if counted is not None else {}
    given, rubric = active_marks(marks), rubrics.of(kata)
    questions = rubrics.questions(kata)
    # All three: a lesson may have lost a question since, and neither words nor a mark may vanish with it. 0
    # is what stands under no number.
    numbers = {*range(1, len(questions) + 1), *given, *texts} - {0}
    due = book.course.due_for(learner, kata, mine)
    at = counted.submitted_at if counted is not None else None
    return AnswerSheet(
        learner=learner,
        kata=kata,
        answers=tuple(
            _answer(
                number,
                (texts.get(number, ""), digest_of_answer(texts[number]) if number in texts else ""),
                questions,
                rubric,
                given.get(number),
            )
            for number in sorted(numbers)
        ),
        rest=texts.get(0, ""),
        handed_in=counted,
        late=due is not None and at is not None and at > due,
        versions=len({sheet.content for sheet in sheets}),
        released=bool(active_releases(book.rulings([events.Release]), kata)),
    )


def answers_in_rows(book: Gradebook, rubrics: Rubrics) -> Callable[[Mark], list[WrittenAnswer]]:
    """Return what tells a row's answers, with marks and how they are marked; texts are read once for each kata."""
    texts, rubric_of_kata = cache(book.answer_texts), cache(rubrics.of)

    def answers(row: Mark) -> list[WrittenAnswer]:
        part = row.written
        if part is None:
            return []
        rubric, questions = rubric_of_kata(row.kata), rubrics.questions(row.kata)
        given = {mark.question: mark for mark in part.marks}
        found = []
        for number in sorted({*part.answered, *given, *part.blank}):
            digest = part.answered.get(number, "")
            written = texts(row.kata).get(digest, ""), digest
            found.append(_answer(number, written, questions, rubric, given.get(number)))
        return found

    return answers


def _answer(
    number: int,
    written: tuple[str, str],
    questions: Sequence[str],
    rubric: Rubric | None,
    mark: events.AnswerMark | None,
) -> WrittenAnswer:
    """Return an answer of this number, from its text and the text's digest; the kata may not ask it any more."""
    return WrittenAnswer(
        number=number,
        question=questions[number - 1]
        if number <= len(questions)
        else f"(the kata has no question {number})",
        text=written[0],
        digest=written[1],
        rubric=rubric.questions[number - 1] if rubric and number <= len(rubric.questions) else None,
        mark=mark,
    )


def mark(
    book: Gradebook,
    rubrics: Rubrics,
    learner: str,
    kata: str,
    question: int,
    *,
    criteria: Sequence[int] = (),
    points: float | None = None,
    comment: str = "",
    author: str,
    seen: int | UnsetType | None = UNSET,
    answer: str | None = None,
) -> int:
    """Mark an answer; return the mark's number, for `Gradebook.undo`.

    Args:
        book: where to.
        rubrics: how.
        learner: whose answer.
        kata: of which kata.
        question: its number.
        criteria: numbers of the criteria that are met, from 1 on.
        points: in place of what the criteria give together.
        comment: for the learner, who reads it after the release.
        author: whose word it is.
        seen: number of the mark that was shown with the answer, None where there was none; without, whatever stands.
        answer: digest of the text that was shown; without, of what counts now.

    Raises:
        GradebookUsageError: there is no such question or criterion, or the points are out of bounds.
        ConflictError: somebody else marked it since it was shown.
    """
    if answer is None:
        shown = {answer.number: answer.digest for answer in load_sheet(book, rubrics, learner, kata).answers}
        # Of what was read: if the learner hands in another text, the mark is shown as older than it.
        answer = shown.get(question, "")
    made = events.Provenance(author=author, comment=comment)
    given = mark_of(rubrics, kata, question, criteria, points, made=made)
    # Whether somebody else has marked it meanwhile is decided in the transaction, by `seen`.
    given = msgspec.structs.replace(given, answer=answer)
    return book.mark_answers([Given(learner, kata, given, seen)])


def mark_of(
    rubrics: Rubrics,
    kata: str,
    question: int,
    criteria: Collection[int],
    points: float | None,
    *,
    made: events.Provenance,
) -> events.AnswerMark:
    """Return what criteria, or points in place of them, give for an answer to a question, yet without its text.

    Raises:
        GradebookUsageError: there is no such question or criterion.
    """
    of = rubric_question(rubrics, kata, question)
    met = sorted(set(criteria))
    wrong = [
        number
        for number in met
        if not 1 <= number <= len(of.criteria) or of.criteria[number - 1].met == WITHDRAWN
    ]
    if wrong:
        there = (f"{number} {each.met} ({each.points:g})" for number, each in enumerate(of.criteria, 1))
        raise GradebookUsageError(
            f"{kata}, question {question}: there is no criterion {wrong[0]}.",
            f"There are 1 to {len(of.criteria)}: " + "; ".join(there),
        )
    return events.AnswerMark(
        question=question,
        answer="",
        criteria=tuple(met),
        points=earned(of, met) if points is None else points,
        max_points=of.points,
        made=made,
    )


def set_criterion(
    book: Gradebook,
    rubrics: Rubrics,
    new: events.CourseCriterion,
    *,
    follow: bool,
    author: str,
) -> int:
    """Add a criterion to a question, or change one; return the number, for `Gradebook.undo`.

    Args:
        book: where; the pack's rubric stays as it is, other courses know nothing of it.
        rubrics: how answers are marked so far.
        new: the criterion.
        follow: answers that were marked with it get the new points, unless somebody gave them other points by hand;
            a further criterion becomes one that all answers meet that were marked so far.
        author: whose word it is.

    Raises:
        GradebookUsageError: there is no such question or criterion, it is empty, or gives more than the question.
    """
    before = rubric_question(rubrics, new.kata, new.question)
    if not new.met.strip():
        raise GradebookUsageError("The criterion says nothing.", "Write what an answer says that meets it.")
    if not math.isfinite(new.points) or abs(new.points) > before.points:
        raise GradebookUsageError(
            f"A criterion here gives from {-before.points:g} to {before.points:g} points, not {new.points:g}."
        )
    if new.number is not None and not 1 <= new.number <= len(before.criteria):
        raise GradebookUsageError(f"There is no criterion {new.number}.")
    # Both readings of the question, before and after: what an answer got by its criteria is known by the first.
    after = rubric_question(rubrics, new.kata, new.question, new)
    given = list(_following(book, new, before, after, author)) if follow else []
    # In one transaction with the marks that follow from it, and one number that takes all of it back.
    why = f"question {new.question}: {new.met} ({new.points:g})"
    criterion = events.SetCriterion(criterion=new, made=events.Provenance(author=author, comment=why))
    return book.mark_answers(given, criterion)


def _following(
    book: Gradebook, new: events.CourseCriterion, before: Question, after: Question, author: str
) -> Iterator[Given]:
    """Yield the marks that a criterion makes of those that it gave points in, and a further one of all."""
    for (learner, kata), (_, marks) in book.written_answers().items():
        stands = active_marks(marks).get(new.question) if kata == new.kata else None
        # What is not the sum of its criteria was given by hand, and stays.
        if stands is None or stands.points != earned(before, stands.criteria):
            continue
        # Not the next number after those that stand: one that was taken back keeps its own.
        met = stands.criteria if new.number is not None else (*stands.criteria, len(after.criteria))
        points = earned(after, met)
        if (points, met) != (stands.points, stands.criteria):
            mark = events.AnswerMark(
                question=new.question,
                answer=stands.answer,
                criteria=met,
                points=points,
                max_points=after.points,
                made=events.Provenance(author=author, comment=stands.made.comment),
            )
            yield Given(learner, kata, mark, stands.id)


def release(
    book: Gradebook, rubrics: Rubrics, of: str, *, comment: str, author: str, anyway: bool = False
) -> int:
    """Let learners see what people gave for answers and wrote about code; return the number, for `Gradebook.undo`.

    Until it is withdrawn, feedback and exports for learners hold it, and questions without an answer count as 0; not
    so of a kata of which nobody's answer was marked, unless the course's table `[written]` names it.

    Args:
        book: where.
        rubrics: what questions are worth.
        of: an assignment, a kata, or empty for all.
        comment: why.
        author: whose word it is.
        anyway: also while answers wait to be marked; they stay unmarked, and count for nothing.

    Raises:
        GradebookUsageError: answers wait, or there is nothing to release.
    """
    katas = [slug for slug in book.katas() if book.course.covers(of, slug)]
    if not katas:
        raise GradebookUsageError(
            f"The gradebook holds nothing of {of or 'any kata'}.", "See: kata gradebook"
        )
    every = book.written_answers().items()
    marked = {kata for (_, kata), (_, marks) in every if active_marks(marks)}
    rubric = {slug: found for slug in katas if (found := rubrics.of(slug)) is not None}
    waiting = sheets_to_mark(book, list(rubric)) if rubric else []
    if waiting and not anyway:
        count = sum(len(queued.questions) for queued in waiting)
        raise GradebookUsageError(
            f"{counted(count, 'answer')} of {counted(len({queued.learner for queued in waiting}), 'learner')} "
            f"{'waits' if count == 1 else 'wait'} to be marked.",
            "See them: kata gradebook answers. To release the others anyway: --anyway",
        )
    # Somebody may release remarks on code alone: then nobody loses points for answers that nobody marks.
    counting = marked | set(book.course.written)
    # Stored with the decision: a rubric that changes later must not change marks that learners have seen.
    points = {slug: list(found.points) for slug, found in rubric.items() if slug in counting}
    made = events.Provenance(author=author, comment=comment)
    return book.decide(events.Release(of=of, katas=katas, points=points, made=made))


def rubric_question(
    rubrics: Rubrics, kata: str, question: int, new: events.CourseCriterion | None = None
) -> Question:
    """Return how one question is marked, or will be once there is also a new criterion.

    Raises:
        GradebookUsageError: the kata has no rubric, or no such question.
    """
    rubric = rubrics.of(kata, new)
    if rubric is None:
        raise GradebookUsageError(
            f"{kata}: this install has no rubric, so its answers cannot be marked.",
            "A rubric is rubric.toml next to the kata's solution; the authors' guide lists its keys.",
        )
    if not 1 <= question <= len(rubric.questions):
        raise GradebookUsageError(f"{kata} has no question {question}; it has 1 to {len(rubric.questions)}.")
    return rubric.questions[question - 1]


def written_in_short(row: Mark, *, full: bool = True) -> str:
    """Return what there is to say of the written answers, in full or to the learner; nothing where there are none."""
    part = row.written
    if part is None:
        return ""
    counts = {
        "still to be marked": part.unmarked,
        "changed since marked": part.changed if full else (),
        "left empty (0 points)": part.blank,
    }
    parts = [out_of(part.score, part.max_score)] if part.max_score else []
    parts += [f"{len(questions)} {what}" for what, questions in counts.items() if questions]
    parts += ["released" if part.released else "not released"] if full and parts else []
    return "; ".join(parts)
