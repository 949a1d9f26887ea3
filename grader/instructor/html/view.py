"""What a page shows of a row. The one place that decides what a learner may see of hidden checks."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from pathlib import PurePosixPath

import msgspec

from grader.catalogue import Catalogue, read_hints
from grader.catalogue.answer_sheet import questions_of
from grader.instructor.gradebook import events, overview
from grader.instructor.gradebook.course import Course, Total, total
from grader.instructor.gradebook.events import Provenance
from grader.instructor.gradebook.fold import AboutMark, Thread
from grader.instructor.gradebook.records import NEWER, Row, WrittenScore
from grader.instructor.gradebook.written import WITHDRAWN, WrittenAnswer, earned
from grader.instructor.html import text
from grader.instructor.submissions.as_text import text_of
from grader.instructor.submissions.submission import Bundle
from grader.report.report import WRONG, CheckReport, KataReport, KataStatus
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


@dataclass(frozen=True)
class KataView:
    """One kata of one learner, as a page shows it."""

    number: str
    slug: str
    title: str
    status: KataStatus
    score: float | None
    """None while it is not graded."""
    max_score: float
    graded: float
    message: str | None
    output: str | None
    attempts: int
    newer: tuple[str, ...]
    """Why what was handed in later does not count."""
    submitted_at: str | None
    changes: tuple[Change, ...]
    checks: tuple[CheckReport, ...]
    """With texts that are cut to what a page bears."""
    hidden: HiddenPart | None
    hint: str | None
    questions: tuple[str, ...]
    written: str
    """What there is to say of the written answers."""
    written_part: WrittenScore | None
    """Where they are part of the total."""
    written_weight: float
    answers: tuple[AnswerView, ...]
    """Each written answer, with what was given for it."""
    remarks: tuple[RemarkView, ...]
    disputes: tuple[DisputeView, ...]
    facts: tuple[tuple[str, str], ...]
    """Label and value, for an instructor: seed, isolation, versions."""
    weight: float
    """How often it counts in the total."""

    @property
    def passed(self) -> list[CheckReport]:
        """The checks that passed."""
        return [check for check in self.checks if check.status == "pass"]

    @property
    def wrong(self) -> list[CheckReport]:
        """Those that went wrong."""
        return [check for check in self._others if check.status not in _NOT_ASKED]

    @property
    def not_asked(self) -> list[CheckReport]:
        """Those that were skipped, mostly since another has to hold first: a line each, apart from what went wrong."""
        return [check for check in self._others if check.status in _NOT_ASKED]

    @property
    def _others(self) -> list[CheckReport]:
        """What did not pass; nothing where one reason stands for all: it is not written, not there or does not load."""
        others = [check for check in self.checks if check.status != "pass"]
        one_reason = self.status in ("not_started", "missing", "not_graded") or (
            self.message is not None and all(check.status == "skipped" for check in others)
        )
        return [] if one_reason else others


@dataclass(frozen=True)
class LearnerView:
    """One learner's katas."""

    name: str
    learner: str
    total: Total
    """Over all katas and their written answers, weighed as the course says."""
    katas: tuple[KataView, ...]

    @property
    def weighed(self) -> bool:
        """Whether a line counts another number of times than once."""
        return any(
            one.weight != 1 or (one.written_part is not None and one.written_weight != 1)
            for one in self.katas
        )


class KataTexts:
    """Texts of a pack's katas, each read once; a kata that has left the catalogue has none."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._katas = {kata.slug: kata for kata in catalogue.katas}
        self.hint = cache(self._hint)
        self.questions = cache(self._questions)

    def title(self, slug: str) -> str:
        """Return the kata's title, or its slug."""
        kata = self._katas.get(slug)
        return kata.title if kata is not None else slug

    def _hint(self, slug: str) -> str | None:
        """Return the first of the three hints, as Markdown; PackError where they are broken."""
        kata = self._katas.get(slug)
        return read_hints(kata.hints)[0] if kata is not None else None

    def _questions(self, slug: str) -> tuple[str, ...]:
        """Return the questions to think about after a pass, without the answers; PackError as above."""
        kata = self._katas.get(slug)
        return questions_of(kata) if kata is not None else ()


@dataclass(frozen=True)
class Viewer:
    """Makes the views of a course, for an instructor or for the learner."""

    course: Course
    lessons: KataTexts
    comments: Mapping[tuple[str, str], AboutMark] = field(default_factory=dict)
    """What people said about hand-ins, by learner and kata."""
    bundle: Callable[[int], Bundle | None] = lambda attempt: None
    """Returns what an attempt graded, as far as it can be read."""
    answers: Callable[[Row], Sequence[WrittenAnswer]] = lambda row: ()
    """Returns what somebody wrote for a kata, with its marks and how it is marked."""
    full: bool = False
    """Everything, for an instructor. A learner sees of hidden checks the number, the points and the aspects; no seed,
    no path; remarks on the code once the kata is released, disputes always, and never who wrote something."""

    def learner(self, rows: Sequence[Row]) -> LearnerView:
        """Return the view of one learner's rows."""
        katas = tuple(map(self.kata, rows))
        return LearnerView(
            text.name(rows[0].name), text.name(rows[0].learner), total(rows, self.course), katas
        )

    def kata(self, row: Row) -> KataView:
        """Return the view of one row."""
        report, about = row.report, self.comments.get((row.learner, row.kata), AboutMark())
        late = [_late(row)] if row.late_points or row.days_late > 0 or row.late_by else []
        changes = [self._change(item) for item in row.adjustments if self.full or not item.revoked]
        marks_known = row.written is not None and (self.full or row.written.released)
        return KataView(
            number=report.number,
            slug=report.kata,
            title=self.lessons.title(report.kata),
            status=report.status,
            score=row.points,
            max_score=row.max_score,
            graded=report.earned,
            # Cut here, once, whatever template shows them: a submission decides how long they are.
            message=text.truncated_head(report.message) if report.message else None,
            output=text.truncated_tail(report.output) if report.output else None,
            attempts=row.attempts,
            newer=tuple(NEWER[why] for why in row.newer),
            submitted_at=when(row.submitted_at, self.course),
            changes=(*late, *changes),
            checks=tuple(self._check(check) for check in report.checks if self.full or not check.hidden),
            hidden=None if self.full else _hidden_part([check for check in report.checks if check.hidden]),
            # A learner who has not passed gets a hint, one who has gets something to think about.
            hint=None if self.full else self._hint(report),
            # Questions that were just marked are not asked again.
            questions=self.lessons.questions(report.kata)
            if not self.full and report.status == "pass" and not marks_known
            else (),
            written=overview.written(row, full=self.full) if marks_known else "",
            written_part=row.written if row.written is not None and row.written.released else None,
            written_weight=self.course.written_weight(row.kata),
            answers=tuple(map(_answer, self.answers(row))) if marks_known else (),
            remarks=self._remarks(row, about) if self.full or about.released else (),
            disputes=tuple(map(self._dispute, about.threads)),
            facts=self._facts(row) if self.full else (),
            weight=self.course.weight(row.kata),
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

    def _hint(self, report: KataReport) -> str | None:
        """Return the kata's first hint, of its points those about what went wrong and a learner may see."""
        whole = self.lessons.hint(report.kata) if report.status in ("fail", "timeout") else None
        wrong = [check for check in report.checks if check.status in WRONG and not check.hidden]
        return (
            hint_about(whole, [f"{check.name}\n{check.message or ''}" for check in wrong]) if whole else None
        )

    def _remarks(self, row: Row, about: AboutMark) -> tuple[RemarkView, ...]:
        found = []
        for one in about.remarks:
            earlier = "" if one.attempt == row.attempt else ", of an attempt other than the one that counts"
            place = f"{text.name(one.file)}, line {one.line}{earlier}"
            code = self._lines(one.attempt, one.file, one.line)
            found.append(RemarkView(place, code, *self._statement(one.made)))
        return tuple(found)

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

    def _dispute(self, thread: Thread) -> DisputeView:
        answers = tuple(
            self._statement(one.made) for one in (*thread.answers, thread.closed) if one is not None
        )
        words, _, at = self._statement(thread.about.made)
        return DisputeView(words, answers, thread.closed is not None, at)

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

    def _facts(self, row: Row) -> tuple[tuple[str, str], ...]:
        report = row.report
        if report.status in ("missing", "not_graded"):  # nothing ran: the rest would be about nothing
            return (("looked for", when(row.graded_at, self.course) or "unknown"),)
        versions = ", ".join(f"{name} {version}" for name, version in sorted(report.versions.items()))
        return (
            ("graded", when(row.graded_at, self.course) or "unknown"),
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


def _answer(one: WrittenAnswer) -> AnswerView:
    mark, criteria = one.mark, one.rubric.criteria if one.rubric is not None else ()
    if mark is not None:
        given = out_of(mark.points, mark.max_points)
    elif one.text:
        given = "still to be marked"
    else:
        given = out_of(0, one.rubric.points) if one.rubric is not None else "left empty"
    stands = [(number, item) for number, item in enumerate(criteria, 1) if item.met != WITHDRAWN]
    met = [number for number, _ in stands if mark is not None and number in mark.criteria]
    return AnswerView(
        question=f"{one.number}. {text.truncated_head(one.question)}",
        given=given,
        text=text.truncated_head(one.text),
        criteria=tuple(
            (number in met, text.truncated_head(item.met), points(item.points)) for number, item in stands
        )
        if mark is not None
        else (),
        otherwise=mark is not None and one.rubric is not None and earned(one.rubric, met) != mark.points,
        comment=text.truncated_head(mark.made.comment) if mark is not None else "",
        model=text.truncated_head(one.rubric.model) if one.rubric is not None else None,
    )


def _hidden_part(hidden: Sequence[CheckReport]) -> HiddenPart | None:
    if not hidden:
        return None
    return HiddenPart(
        count=len(hidden),
        points=sum(check.points for check in hidden),
        max_points=sum(check.max_points for check in hidden),
        aspects=tuple(sorted({check.aspect for check in hidden})),
        deducted=sum(check.same_mistake == "counted" for check in hidden),
    )


def _late(row: Row) -> Change:
    if row.late_by and not row.days_late:
        return Change(f"late? {row.late_by} marks it late, and its time is not known: no points deducted")
    amount, unit = (row.days_late, "day") if row.days_late >= 1 else (row.days_late * 24, "hour")
    number = f"{amount:.1f}".removesuffix(".0")
    taken = f"{MINUS}{points(row.late_points)}" if row.late_points else "no points deducted"
    return Change(f"{number} {unit if number == '1' else unit + 's'} late: {taken}")


def when(moment: datetime | None, course: Course) -> str | None:
    """Return a moment as a person reads it, in the course's time zone."""
    if moment is None:
        return None
    return f"{moment.astimezone(course.timezone):%Y-%m-%d %H:%M %Z}"
