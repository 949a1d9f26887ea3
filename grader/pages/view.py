"""What a page shows of a row. The one place that decides what a learner may see of hidden checks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import PurePosixPath
from typing import TypedDict, Unpack

from grader.gradebook import overview
from grader.gradebook.course import Course, total
from grader.gradebook.records import Adjustment, Row
from grader.gradebook.said import Comments
from grader.pages import text
from grader.pages.lessons import Lessons
from grader.reports.report import WRONG, CheckReport, CheckStatus, KataReport, KataStatus
from grader.reports.style import points

TELLING = 6
"""A hidden check's word of this many letters is blotted out wherever it turns up; shorter ones are common words."""
BIG_SEED = 1000
"""A seed from here on is blotted out as a number alone; smaller ones only where they are called a seed."""

MINUS = "\N{MINUS SIGN}"


@dataclass(frozen=True)
class CheckView:
    """One check, as a page shows it."""

    name: str
    id: str
    aspect: str
    status: CheckStatus
    points: float
    max_points: float
    message: str | None
    likely: str | None
    output: str | None
    hidden: bool = False
    misconception: str | None = None
    look: str = ""
    """Which of the LOOKS it has: its status, or `already_deducted`."""

    @property
    def wraps(self) -> bool:
        """Whether the message is words, which may be broken anywhere, and no picture or table."""
        lines = (self.message or "").split("\n")
        return all(
            re.search(r"[a-z]{3}", line) and not re.search(r"\S {3,}\S|^ {3,}", line) for line in lines
        )


_NOT_ASKED = ("skipped", "todo")


@dataclass(frozen=True)
class HiddenPart:
    """All that a learner is told of a kata's hidden checks."""

    count: int
    points: float
    max_points: float
    aspects: tuple[str, ...]
    deducted: int = 0
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
    """The line, as it was handed in; empty where it cannot be read any more."""
    words: str
    author: str | None
    at: str | None


@dataclass(frozen=True)
class DisputeView:
    """What a learner contested, and what people said to it."""

    words: str
    answers: tuple[tuple[str, str | None, str | None], ...]
    """What was said, by whom, when; the reason for closing it among them, as the last."""
    closed: bool
    at: str | None


@dataclass(frozen=True)
class KataView:
    """One kata of one learner, as a page shows it."""

    number: str
    slug: str
    title: str
    status: KataStatus
    score: float
    max_score: float
    graded: float
    message: str | None
    output: str | None
    attempts: int
    submitted_at: str | None
    changes: tuple[Change, ...]
    checks: tuple[CheckView, ...]
    hidden: HiddenPart | None = None
    hint: str | None = None
    questions: tuple[str, ...] = ()
    written: str | None = None
    """What there is to say of the written answers."""
    marks: tuple[tuple[str, str], ...] = ()
    """What was given for each written answer, and the comment."""
    remarks: tuple[RemarkView, ...] = ()
    """What people wrote about lines of the code."""
    disputes: tuple[DisputeView, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()
    """Label and value, for an instructor: seed, isolation, versions."""
    weight: float = 1.0
    """How often it counts in the total."""

    @property
    def passed(self) -> tuple[CheckView, ...]:
        """The checks that passed."""
        return tuple(check for check in self.checks if check.status == "pass")

    @property
    def wrong(self) -> tuple[CheckView, ...]:
        """Those that went wrong."""
        return tuple(check for check in self._others if check.status not in _NOT_ASKED)

    @property
    def not_asked(self) -> tuple[CheckView, ...]:
        """Those that were skipped, mostly since another has to hold first: a line each, beside what went wrong."""
        return tuple(check for check in self._others if check.status in _NOT_ASKED)

    @property
    def _others(self) -> tuple[CheckView, ...]:
        """What did not pass; nothing where one reason stands for all: it is not written, not there or does not load."""
        others = tuple(check for check in self.checks if check.status != "pass")
        one_reason = self.status in ("not_started", "missing") or (
            self.message is not None and all(check.status == "skipped" for check in others)
        )
        return () if one_reason else others


@dataclass(frozen=True)
class LearnerView:
    """One learner's katas."""

    name: str
    learner: str
    score: float
    max_score: float
    """Over all katas, each weighed as the course says."""
    katas: tuple[KataView, ...]


@dataclass(frozen=True)
class Spoken:
    """What people said about hand-ins."""

    comments: Mapping[tuple[str, str], Comments] = field(default_factory=dict)
    """By learner and kata."""
    line: Callable[[int, str, int], str] = lambda attempt, file, number: ""
    """Returns a line of a file that an attempt graded, which a remark is about."""

    def about(self, row: Row) -> Comments:
        """Return what was said about one."""
        return self.comments.get((row.learner, row.kata), Comments())


SILENCE = Spoken()


def for_instructor(
    rows: Sequence[Row],
    course: Course,
    lessons: Lessons,
    spoken: Spoken = SILENCE,
) -> LearnerView:
    """Return everything there is about one learner, hidden checks and seeds too."""
    katas = []
    for row in rows:
        report = row.report
        katas.append(
            _kata(
                row,
                course,
                lessons,
                checks=[_check(check, full=True) for check in report.checks],
                changes=[_change(item, course, full=True) for item in row.adjustments],
                message=text.message(report.message) if report.message else None,
                output=text.output(report.output) if report.output else None,
                facts=_facts(row, course),
                written=overview.written(row) or None,
                marks=_marks(row),
                remarks=_remarks(row, spoken, course, full=True),
                disputes=_disputes(spoken.about(row), course, full=True),
            )
        )
    return _learner(rows, course, katas)


def for_learner(
    rows: Sequence[Row],
    course: Course,
    lessons: Lessons,
    spoken: Spoken = SILENCE,
) -> LearnerView:
    """Return what a learner may see: of hidden checks the number, the points and the aspects; no seed, no path.

    Of what people wrote about the code a learner sees remarks once the kata is released, and disputes always; not who
    wrote it.
    """
    katas = []
    for row in rows:
        about = spoken.about(row)
        report, blot = row.report, Blot(row.report)
        katas.append(
            _kata(
                row,
                course,
                lessons,
                checks=[_check(check, blot) for check in report.checks if not check.hidden],
                changes=[_change(item, course) for item in row.adjustments if not item.revoked],
                message=text.message(report.message, blot) if report.message else None,
                output=text.output(report.output, blot) if report.output else None,
                hidden=_hidden_part(report.checks),
                hint=_hint(report, lessons) if report.status in ("fail", "timeout") else None,
                questions=lessons.questions(report.kata) if report.status == "pass" else (),
                written=(overview.written(row) or None) if _released(row) else None,
                marks=_marks(row) if _released(row) else (),
                remarks=_remarks(row, spoken, course) if about.released else (),
                disputes=_disputes(about, course),
            )
        )
    return _learner(rows, course, katas, for_learner=True)


def _hint(report: KataReport, lessons: Lessons) -> str | None:
    """Return the kata's first hint, of its points those about what went wrong and a learner may see."""
    whole = lessons.hint(report.kata)
    wrong = [check for check in report.checks if check.status in WRONG and not check.hidden]
    return hint_about(whole, [f"{check.name}\n{check.message or ''}" for check in wrong]) if whole else whole


_POINT = re.compile(r"(?m)^(?=- )")
_ABOUT = re.compile(r"- (`[^`]+`(?:(?:, | and )`[^`]+`)*)")


def hint_about(hint: str, told: Sequence[str]) -> str:
    """Leave out points of a hint that begin with a name, `- `pool`: …`, of which no message speaks.

    What begins with no name is about all of it. Where no point is about what went wrong, the hint stays whole.
    """
    words = set(re.findall(r"\w+", " ".join(told)))
    kept, about = [], False
    for piece in _POINT.split(hint):
        found = _ABOUT.match(piece)
        if found is None:
            kept.append(piece)
        elif any(name.split(".")[0] in words for name in re.findall(r"`([\w.]+)", found[1])):
            kept.append(piece)
            about = True
    return "".join(kept).rstrip() if about else hint


class Blot:
    """Takes a kata's seed, and the words of its hidden checks, out of texts that a learner reads.

    Visible checks should hold neither. This is the second lock on the door.
    """

    def __init__(self, report: KataReport) -> None:
        shown = _words(check for check in report.checks if not check.hidden)
        secret = _words(check for check in report.checks if check.hidden) - shown
        longest_first = sorted((word for word in secret if len(word) >= TELLING), key=len, reverse=True)
        self._words = re.compile("|".join(map(re.escape, longest_first))) if longest_first else None
        seed = report.seed
        self._option = re.compile(r"[ \t]?--seed[ \t=]+\S+")
        self._named = re.compile(rf"(seeds?\W{{0,3}}){seed}(?!\d)", re.IGNORECASE)
        self._bare = re.compile(rf"(?<!\d){seed}(?!\d)") if seed >= BIG_SEED else None

    def __call__(self, told: str) -> str:
        """Return `told` without them."""
        told = self._option.sub("", told)
        told = self._named.sub(r"\1…", told)
        if self._bare is not None:
            told = self._bare.sub("…", told)
        return self._words.sub("(hidden)", told) if self._words is not None else told


def _words(checks: Iterable[CheckReport]) -> set[str]:
    told = ((check.name, check.id, check.misconception, check.likely) for check in checks)
    return {word for words in told for word in words if word}


def _released(row: Row) -> bool:
    """Whether a learner may know of the marks of written answers."""
    return row.written is not None and row.written.released


def _marks(row: Row) -> tuple[tuple[str, str], ...]:
    given = row.written.marks if row.written is not None else ()
    return tuple(
        (f"Question {one.question}: {out_of(one.points, one.max_points)}", text.message(one.comment))
        for one in given
    )


def _remarks(row: Row, spoken: Spoken, course: Course, *, full: bool = False) -> tuple[RemarkView, ...]:
    found = []
    for one in spoken.about(row).remarks:
        attempt, file, number = one.value["attempt"], one.value["file"], one.value["line"]
        earlier = "" if attempt == row.attempt else ", of an attempt other than the one that counts"
        found.append(
            RemarkView(
                f"{text.name(file)}, line {number}{earlier}",
                text.cut(spoken.line(attempt, file, number)).strip(),
                text.message(one.comment),
                text.name(one.author) if full else None,
                when(one.at, course),
            )
        )
    return tuple(found)


def _disputes(about: Comments, course: Course, *, full: bool = False) -> tuple[DisputeView, ...]:
    return tuple(
        DisputeView(
            text.message(thread.about.comment),
            tuple(
                (text.message(one.comment), text.name(one.author) if full else None, when(one.at, course))
                for one in (*thread.answers, *([thread.closed] if thread.closed is not None else ()))
            ),
            thread.closed is not None,
            when(thread.about.at, course),
        )
        for thread in about.threads
    )


def _learner(
    rows: Sequence[Row], course: Course, katas: Sequence[KataView], *, for_learner: bool = False
) -> LearnerView:
    score, most = total(rows, course, for_learner=for_learner)
    return LearnerView(text.name(rows[0].name), text.name(rows[0].learner), score, most, tuple(katas))


def _kata(
    row: Row,
    course: Course,
    lessons: Lessons,
    *,
    checks: Iterable[CheckView],
    changes: Iterable[Change],
    message: str | None,
    output: str | None,
    **more: Unpack[_More],
) -> KataView:
    """Return the view of a row; what it says of checks is decided by the caller."""
    report = row.report
    late = [_late(row)] if row.late_points or row.days_late > 0 else []
    return KataView(
        number=report.number,
        slug=report.kata,
        title=lessons.title(report.kata),
        status=report.status,
        score=row.score,
        max_score=row.max_score,
        graded=report.earned,
        attempts=row.attempts,
        submitted_at=when(row.submitted_at, course),
        message=message,
        output=output,
        changes=(*late, *changes),
        weight=course.weight(row.kata),
        checks=tuple(checks),
        **more,
    )


class _More(TypedDict, total=False):
    hidden: HiddenPart | None
    hint: str | None
    questions: tuple[str, ...]
    facts: tuple[tuple[str, str], ...]
    written: str | None
    marks: tuple[tuple[str, str], ...]
    remarks: tuple[RemarkView, ...]
    disputes: tuple[DisputeView, ...]


def _check(check: CheckReport, blotted: text.Blotted = str, *, full: bool = False) -> CheckView:
    wrong = check.status != "pass"
    return CheckView(
        name=text.name(check.name),
        id=check.id,
        aspect=check.aspect,
        status=check.status,
        points=check.points,
        max_points=check.max_points,
        message=text.message(check.message, blotted) if check.message else None,
        likely=text.message(check.likely, blotted) if check.likely else None,
        output=text.output(check.output, blotted) if check.output and (wrong or full) else None,
        hidden=full and check.hidden,
        misconception=check.misconception if full else None,
        look=check.look,
    )


def _hidden_part(checks: Iterable[CheckReport]) -> HiddenPart | None:
    hidden = [check for check in checks if check.hidden]
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
    amount, unit = (row.days_late, "day") if row.days_late >= 1 else (row.days_late * 24, "hour")
    number = f"{amount:.1f}".removesuffix(".0")
    taken = f"{MINUS}{points(row.late_points)}" if row.late_points else "no points deducted"
    return Change(f"{number} {unit if number == '1' else unit + 's'} late: {taken}")


def _change(item: Adjustment, course: Course, *, full: bool = False) -> Change:
    sign = MINUS if item.points < 0 else "+"
    words = (
        f"adjusted: {sign}{points(abs(item.points))}"
        if item.kind == "adjust"
        else f"set to {points(item.points)}"
    )
    return Change(
        words,
        comment=text.message(item.comment) if item.comment else None,
        author=text.name(item.author) if full else None,
        at=when(item.at, course),
        revoked=item.revoked,
    )


def _facts(row: Row, course: Course) -> tuple[tuple[str, str], ...]:
    report = row.report
    versions = ", ".join(f"{name} {version}" for name, version in sorted(report.versions.items()))
    return (
        ("graded", when(row.graded_at, course) or "unknown"),
        ("took", f"{report.duration_s:.2f} s"),
        ("seed", str(report.seed)),
        ("device", report.device),
        ("isolation", report.isolation),
        ("versions", versions or "unknown"),
        ("file", PurePosixPath(report.file).name if report.file else "none"),
        *(("look at", text.message(what)) for what in report.look_at or ()),
    )


def out_of(score: float, whole: float) -> str:
    """Return points as a person reads them: 0.5 of 2 points."""
    return f"{points(score)} of {points(whole)} {'point' if whole == 1 else 'points'}"


def when(moment: datetime | None, course: Course) -> str | None:
    """Return a moment as a person reads it, in the course's time zone."""
    if moment is None:
        return None
    return f"{moment.astimezone(course.timezone):%Y-%m-%d %H:%M %Z}"
