"""What a page shows of a mark. The one place that decides what a learner may see of hidden checks."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from pathlib import PurePosixPath
from typing import NamedTuple

import msgspec

from grader.catalogue import Catalogue, read_hints
from grader.catalogue.answer_sheet import questions_of
from grader.instructor.gradebook import events
from grader.instructor.gradebook.course import Course, Total, total
from grader.instructor.gradebook.dispute_lines import dispute_line
from grader.instructor.gradebook.events import AboutMark, Provenance
from grader.instructor.gradebook.row_types import NEWER, Mark, WrittenScore
from grader.instructor.gradebook.written_answers import WITHDRAWN, WrittenAnswer, earned, written_in_short
from grader.instructor.html import text
from grader.instructor.submissions.as_text import text_of
from grader.instructor.submissions.submission import Bundle
from grader.report.report import WRONG, CheckReport
from grader.report.style import out_of, points

AROUND = 2
"""Lines before and after one that a remark is about."""
MINUS = "\N{MINUS SIGN}"
_NOT_ASKED = ("skipped", "todo")


@dataclass(frozen=True)
class HiddenPart:
    """All that a learner is told of a kata's hidden checks."""

    count: int
    points: float
    max_points: float
    aspects: tuple[str, ...]
    deducted: int
    """How many are counted as passed since their only error is already deducted."""


@dataclass(frozen=True)
class Change:
    """A step from the graded points to the score."""

    words: str
    comment: str | None = None
    author: str | None = None
    at: str | None = None
    revoked: bool = False


@dataclass(frozen=True)
class RemarkView:
    """What somebody wrote about a line of the code that was handed in."""

    place: str
    """File and line; and where it is not of the attempt that counts, that."""
    code: str
    """The line between its neighbours, as they were handed in; empty where they cannot be read any more."""
    words: str
    author: str | None
    at: str | None


@dataclass(frozen=True)
class AnswerView:
    """A written answer, and how it was marked."""

    question: str
    given: str
    """Points as words, or what there is in place of them."""
    text: str
    """What was written, cut to what a page bears."""
    criteria: tuple[tuple[bool, str, str], ...]
    """Whether it is met, what an answer says that meets it, and its points; of an answer that is marked."""
    otherwise: bool
    """The points are not the sum of the criteria: somebody decided so."""
    comment: str
    model: str | None
    """What an answer of full marks says."""


@dataclass(frozen=True)
class DisputeView:
    """What a learner contested, and what people said to it."""

    words: str
    answers: tuple[tuple[str, str | None, str | None], ...]
    """The comments, by whom, when; the reason for closing it among them, as the last."""
    closed: bool
    at: str | None


class Checks(NamedTuple):
    """A mark's checks as a page shows them, with texts that are cut to what it bears."""

    passed: list[CheckReport]
    wrong: list[CheckReport]
    """Those that went wrong."""
    not_asked: list[CheckReport]
    """Those that were skipped, mostly since another has to hold first: a line each, apart from what went wrong."""


class AssignmentMarks(NamedTuple):
    """One learner's marks of an assignment."""

    title: str
    """Empty where there is only one, so that nothing has to be told apart."""
    marks: list[tuple[int, Mark]]
    """With their places among all of the page, from 1."""
    total: Total


class KataTexts:
    """Texts of a pack's katas, each read once; a kata that has left the catalogue has none."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._katas = {kata.slug: kata for kata in catalogue.katas}
        self.hint = cache(self._hint)
        # To think about after a pass, without the answers; PackError as for hints.
        self.questions = cache(lambda slug: questions_of(self._katas[slug]) if slug in self._katas else ())

    def title(self, slug: str) -> str:
        """Return the kata's title, or its slug."""
        kata = self._katas.get(slug)
        return kata.title if kata is not None else slug

    def _hint(self, slug: str) -> str | None:
        """Return the first of the three hints, as Markdown; PackError where they are broken."""
        kata = self._katas.get(slug)
        return read_hints(kata.hints)[0] if kata is not None else None


@dataclass(frozen=True)
class Viewer:
    """Says what pages of a course show of a mark, to an instructor or to the learner."""

    course: Course
    lessons: KataTexts
    comments: Mapping[tuple[str, str], AboutMark] = field(default_factory=dict)
    """What people said about hand-ins, by learner and kata."""
    bundle: Callable[[int], Bundle | None] = lambda attempt: None
    """Returns what an attempt graded, as far as it can be read."""
    answers: Callable[[Mark], Sequence[WrittenAnswer]] = lambda mark: ()
    """Returns what somebody wrote for a kata, with its marks and how it is marked."""
    secret: bytes = b""
    """Of the gradebook: the lines by which learners dispute a mark are made with it."""
    full: bool = False
    """Everything, for an instructor. A learner sees of hidden checks the number, the points and the aspects; no seed,
    no path; remarks on the code once the kata is released, disputes always, and never who wrote something."""

    def title(self, mark: Mark) -> str:
        """Return the kata's title."""
        return self.lessons.title(mark.kata)

    def when(self, moment: datetime | None) -> str | None:
        """Return a moment as a person reads it, in the course's time zone."""
        return when(moment, self.course)

    def by_assignment(self, marks: Sequence[Mark]) -> list[AssignmentMarks]:
        """Return a learner's marks by assignment, the last first; what is in none comes at the end."""
        of: dict[str, list[tuple[int, Mark]]] = {
            name: [] for name in reversed(tuple(self.course.assignments))
        }
        for place, mark in enumerate(marks, 1):
            assignment = self.course.assignment_of(mark.kata)
            of.setdefault(assignment.name if assignment is not None else "", []).append((place, mark))
        found = {name: own for name, own in of.items() if own}
        titles = {name: assignment.title or name for name, assignment in self.course.assignments.items()}
        return [
            AssignmentMarks(
                titles.get(name, "Other katas") if len(found) > 1 else "",
                own,
                total((mark for _, mark in own), self.course),
            )
            for name, own in found.items()
        ]

    def message(self, mark: Mark) -> str | None:
        """Return why the whole kata has its status, where one sentence says it."""
        # Cut here, whatever template shows it: a submission decides how long it is.
        message = mark.report.message
        return text.truncated_head(message) if message else None

    def output(self, mark: Mark) -> str | None:
        """Return what was printed while the submission was loaded."""
        output = mark.report.output
        return text.truncated_tail(output) if output else None

    def newer(self, mark: Mark) -> list[str]:
        """Return why what was handed in later does not count."""
        return [NEWER[why] for why in mark.newer]

    def changes(self, mark: Mark) -> list[Change]:
        """Return the steps from the graded points to the score."""
        late = [_late(mark)] if mark.late_points or mark.late or mark.late_by else []
        changes = [self._change(item) for item in mark.adjustments if self.full or not item.revoked]
        return [*late, *changes]

    def checks(self, mark: Mark) -> Checks:
        """Return the checks that may be seen; of one that fails as a whole for one reason, those that passed."""
        report = mark.report
        shown = [self._check(check) for check in report.checks if self.full or not check.hidden]
        passed = [check for check in shown if check.status == "pass"]
        others = [check for check in shown if check.status != "pass"]
        # It is not written, not there or does not load: that is said once.
        one_reason = report.status in ("not_started", "missing", "not_graded") or (
            bool(report.message) and all(check.status == "skipped" for check in others)
        )
        listed = [] if one_reason else others
        return Checks(
            passed,
            [check for check in listed if check.status not in _NOT_ASKED],
            [check for check in listed if check.status in _NOT_ASKED],
        )

    def hidden(self, mark: Mark) -> HiddenPart | None:
        """Return what a learner is told of the kata's hidden checks."""
        hidden = [check for check in mark.report.checks if check.hidden]
        if self.full or not hidden:
            return None
        return HiddenPart(
            count=len(hidden),
            points=sum(check.points for check in hidden),
            max_points=sum(check.max_points for check in hidden),
            aspects=tuple(sorted({check.aspect for check in hidden})),
            deducted=sum(check.same_mistake == "counted" for check in hidden),
        )

    def hint(self, mark: Mark) -> str | None:
        """Return the kata's first hint, of its points those about what went wrong and a learner may see.

        A learner who has not passed gets it; one who has gets something to think about: `questions`.
        """
        if self.full or mark.status not in ("fail", "timeout"):
            return None
        whole = self.lessons.hint(mark.kata)
        wrong = [check for check in mark.report.checks if check.status in WRONG and not check.hidden]
        return (
            hint_about(whole, [f"{check.name}\n{check.message or ''}" for check in wrong]) if whole else None
        )

    def questions(self, mark: Mark) -> tuple[str, ...]:
        """Return questions to think about after a pass; those that were just marked are not asked again."""
        due = not self.full and mark.status == "pass" and not self._are_marks_known(mark)
        return self.lessons.questions(mark.kata) if due else ()

    def written(self, mark: Mark) -> str:
        """Return what there is to say of the written answers."""
        return written_in_short(mark, full=self.full) if self._are_marks_known(mark) else ""

    def released(self, mark: Mark) -> WrittenScore | None:
        """Return the written answers where they are part of the total."""
        return mark.written if mark.written is not None and mark.written.released else None

    def answers_of(self, mark: Mark) -> list[AnswerView]:
        """Return each written answer, with what was given for it."""
        return [_answer(answer) for answer in self.answers(mark)] if self._are_marks_known(mark) else []

    def _are_marks_known(self, mark: Mark) -> bool:
        return mark.written is not None and (self.full or mark.written.released)

    def weighed(self, marks: Sequence[Mark]) -> bool:
        """Return whether a line of a learner's table counts another number of times than once."""
        return any(self.course.weight(mark.kata) != 1 for mark in marks) or any(
            self.released(mark) is not None and self.course.written_weight(mark.kata) != 1 for mark in marks
        )

    def _check(self, check: CheckReport) -> CheckReport:
        shows_output = check.output and (self.full or check.status != "pass")
        return msgspec.structs.replace(
            check,
            name=text.name(check.name),
            message=text.truncated_head(check.message) if check.message else None,
            likely=text.truncated_head(check.likely) if check.likely else None,
            output=text.truncated_tail(check.output or "") if shows_output else None,
            misconception=check.misconception if self.full else None,
        )

    def _about(self, mark: Mark) -> AboutMark:
        return self.comments.get((mark.learner, mark.kata), AboutMark())

    def remarks(self, mark: Mark) -> list[RemarkView]:
        """Return what somebody wrote about lines of the code."""
        about, found = self._about(mark), []
        for remark in about.remarks if self.full or about.released else ():
            earlier = (
                "" if remark.attempt == mark.attempt else ", of an attempt other than the one that counts"
            )
            place = f"{text.name(remark.file)}, line {remark.line}{earlier}"
            code = self._lines(remark.attempt, remark.file, remark.line)
            found.append(RemarkView(place, code, *self._statement(remark.made)))
        return found

    def dispute_line(self, mark: Mark) -> str:
        """Return the line by which the learner disputes a mark; empty where nothing was handed in."""
        if self.full or not self.secret or not mark.handed_in or mark.attempt is None:
            return ""
        return dispute_line(self.secret, mark.learner, mark.kata, mark.attempt)

    def disputes(self, mark: Mark) -> list[DisputeView]:
        """Return what the learner contested, and what people said to it."""
        found = []
        for thread in self._about(mark).threads:
            answers = tuple(
                self._statement(event.made) for event in (*thread.answers, thread.closed) if event is not None
            )
            words, _, at = self._statement(thread.about.made)
            found.append(DisputeView(words, answers, thread.closed is not None, at))
        return found

    def _lines(self, attempt: int, file: str, number: int) -> str:
        """Return a line between its neighbours, with numbers; empty where it cannot be read any more."""
        bundle = self.bundle(attempt)
        data = bundle.files.get(file) if bundle is not None else None
        lines = text_of(file, data).splitlines() if data is not None else []
        if number > len(lines):
            return ""
        some = range(max(1, number - AROUND), min(len(lines), number + AROUND) + 1)
        return "\n".join(
            f"{'>' if place == number else ' '} {place:>3}  {text.cut(lines[place - 1])}".rstrip()
            for place in some
        )

    def _statement(self, made: Provenance) -> tuple[str, str | None, str | None]:
        """Return a comment, its author, if that is shown, and when."""
        return text.truncated_head(made.comment), self._author(made.author), when(made.at, self.course)

    def _change(self, change: events.PointsChange) -> Change:
        sign = MINUS if change.points < 0 else "+"
        by = f"adjusted: {sign}{points(abs(change.points))}"
        comment, author, at = self._statement(change.made)
        return Change(
            f"set to {points(change.points)}" if isinstance(change, events.Override) else by,
            comment=comment or None,
            author=author,
            at=at,
            revoked=change.revoked,
        )

    def _author(self, name: str) -> str | None:
        return text.name(name) if self.full else None

    def facts(self, mark: Mark) -> tuple[tuple[str, str], ...]:
        """Return label and value, for an instructor: seed, isolation, versions."""
        if not self.full:
            return ()
        report = mark.report
        if report.status in ("missing", "not_graded"):  # nothing ran: the rest would be about nothing
            return (("looked for", when(mark.graded_at, self.course) or "unknown"),)
        versions = ", ".join(f"{name} {version}" for name, version in sorted(report.versions.items()))
        return (
            ("graded", when(mark.graded_at, self.course) or "unknown"),
            ("took", f"{report.duration_s:.2f} s"),
            ("seed", str(report.seed)),
            ("device", report.device),
            ("isolation", report.isolation),
            ("versions", versions or "unknown"),
            ("file", PurePosixPath(report.file).name if report.file else "none"),
            *(("look at", text.truncated_head(what)) for what in report.look_at or ()),
        )


_POINT = re.compile(r"(?m)^(?=- )")
_ABOUT = re.compile(r"- (`[^`]+`(?:(?:, | and )`[^`]+`)*)")


def hint_about(hint: str, messages: Sequence[str]) -> str:
    """Leave out points of a hint that begin with a name, `- `pool`: …`, of which no message speaks.

    What begins with no name is about all of it. Where no point is about what went wrong, the hint stays whole.
    """
    words = set(re.findall(r"\w+", " ".join(messages)))
    points, about = [], False
    for piece in _POINT.split(hint):
        found = _ABOUT.match(piece)
        named = found and any(name.split(".")[0] in words for name in re.findall(r"`([\w.]+)", found[1]))
        if found is None or named:
            points.append(piece)
        about = about or bool(named)
    return "".join(points).rstrip() if about else hint


def _answer(answer: WrittenAnswer) -> AnswerView:
    mark, criteria = answer.mark, answer.rubric.criteria if answer.rubric is not None else ()
    if mark is not None:
        given = out_of(mark.points, mark.max_points)
    elif answer.text:
        given = "still to be marked"
    else:
        given = out_of(0, answer.rubric.points) if answer.rubric is not None else "left empty"
    stands = [(number, item) for number, item in enumerate(criteria, 1) if item.met != WITHDRAWN]
    met = [number for number, _ in stands if mark is not None and number in mark.criteria]
    return AnswerView(
        question=f"{answer.number}. {text.truncated_head(answer.question)}",
        given=given,
        text=text.truncated_head(answer.text),
        criteria=tuple(
            (number in met, text.truncated_head(item.met), points(item.points)) for number, item in stands
        )
        if mark is not None
        else (),
        otherwise=mark is not None
        and answer.rubric is not None
        and earned(answer.rubric, met) != mark.points,
        comment=text.truncated_head(mark.made.comment) if mark is not None else "",
        model=text.truncated_head(answer.rubric.model) if answer.rubric is not None else None,
    )


def _late(mark: Mark) -> Change:
    if mark.late_by and not mark.days_late:
        return Change(f"late? {mark.late_by} marks it late, and its time is not known: no points deducted")
    taken = f"{MINUS}{points(mark.late_points)}" if mark.late_points else "no points deducted"
    return Change(f"{mark.lateness.words}: {taken}")


def when(moment: datetime | None, course: Course) -> str | None:
    """Return a moment as a person reads it, in the course's time zone."""
    if moment is None:
        return None
    return f"{moment.astimezone(course.timezone):%Y-%m-%d %H:%M %Z}"
