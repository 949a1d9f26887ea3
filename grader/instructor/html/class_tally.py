"""A class in numbers and bars: counted row by row, so that memory holds figures and never reports."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from grader.instructor.gradebook.course import Course, Total, total, written_total
from grader.instructor.gradebook.row_types import Mark
from grader.instructor.html import text
from grader.instructor.submissions.names import natural_key
from grader.report.report import UNWRITTEN, KataStatus
from grader.report.style import STATUS_STYLES
from grader.words import counted

WEAK = 0.5
"""Who has less of the points is listed as somebody who needs help."""
SHARES: tuple[tuple[KataStatus, ...], ...] = (
    ("pass",),
    ("fail",),
    ("error", "timeout"),
    ("in_progress",),
    ("missing", "not_started", "not_graded"),
)


@dataclass
class CheckTally:
    """How one check went for the class."""

    name: str
    aspect: str
    hidden: bool
    max_points: float
    ends: Counter[str] = field(default_factory=Counter)

    @property
    def ran(self) -> int:
        """Answers that the check looked at."""
        return self.ends.total() - self.not_run

    @property
    def not_run(self) -> int:
        """Answers of which it says nothing: skipped, still to be written, or with an error that is deducted already."""
        return self.ends["skipped"] + self.ends["todo"] + self.deducted

    @property
    def deducted(self) -> int:
        """Answers that are counted as passed since their only error is already deducted."""
        return self.ends["already_deducted"]

    @property
    def failed(self) -> int:
        """Answers that it looked at and that did not pass."""
        return self.ran - self.ends["pass"]

    @property
    def rate(self) -> float | None:
        """The part of those it looked at that passed; None when it looked at none."""
        return self.ends["pass"] / self.ran if self.ran else None


@dataclass
class MistakeTally:
    """A recognised mistake."""

    kata: str
    number: str
    name: str
    says: str
    learners: int = 0


@dataclass
class KataTally:
    """How one kata went for the class."""

    number: str
    slug: str
    title: str
    max_score: float = 0.0
    statuses: Counter[KataStatus] = field(default_factory=Counter)
    parts: list[float] = field(default_factory=list)
    """Scores of those who handed in more than the stub, as parts of the maximum."""
    scores: list[float] = field(default_factory=list)
    attempts: list[int] = field(default_factory=list)
    durations: list[float] = field(default_factory=list)
    late: int = 0
    checks: dict[tuple[bool, str], CheckTally] = field(default_factory=dict)
    mistakes: dict[str, MistakeTally] = field(default_factory=dict)

    @property
    def shares(self) -> list[tuple[str, int]]:
        """Learners by what became of them: passed, failed, error or time-out, in progress, nothing to grade."""
        return [(kinds[0], sum(self.statuses[kind] for kind in kinds)) for kinds in SHARES]

    def add(self, row: Mark) -> None:
        """Count one learner's row."""
        report = row.report
        self.statuses[report.status] += 1
        self.max_score = max(self.max_score, row.max_score)
        self.late += row.days_late > 0 or bool(row.late_by)
        if report.status in UNWRITTEN or not row.graded:
            return
        self.scores.append(row.score)
        self.parts.append(row.score / row.max_score if row.max_score else 0.0)
        self.attempts.append(row.attempts)
        self.durations.append(report.duration_s)
        mistakes: dict[str, MistakeTally] = {}
        for check in report.checks:
            name = text.name(check.name)
            made = CheckTally(name, check.aspect, check.hidden, check.max_points)
            self.checks.setdefault((check.hidden, check.id), made).ends[check.look] += 1
            if check.misconception:
                says = text.name(check.likely or check.misconception)
                mistakes.setdefault(
                    check.misconception, MistakeTally(self.slug, self.number, check.misconception, says)
                )
        for name, mistake in mistakes.items():
            self.mistakes.setdefault(name, mistake).learners += 1


@dataclass(frozen=True)
class Line:
    """One learner in the table of all."""

    name: str
    page: str
    feedback: str | None
    total: Total
    written: Total
    """What of it are written answers."""
    cells: dict[str, tuple[float | None, KataStatus, bool, str | None]]
    """By kata, the score (None: not graded), the status, whether lateness or a person changed it, and who marks it late
    without a time."""
    retries: int
    late: int


class Need(NamedTuple):
    """Somebody who needs help."""

    line: Line
    why: str
    """Besides points that are missing; may be empty."""


@dataclass
class ClassTally:
    """A class in numbers."""

    course: Course
    by_slug: dict[str, KataTally] = field(default_factory=dict)
    lines: list[Line] = field(default_factory=list)

    def add(self, rows: Sequence[Mark], *, title: dict[str, str], page: str, feedback: str | None) -> None:
        """Count one learner: all rows, each kata's title, and where the learner's pages are."""
        for row in rows:
            made = KataTally(row.number, row.kata, title[row.kata])
            self.by_slug.setdefault(row.kata, made).add(row)
        found = total(rows, self.course)
        self.lines.append(
            Line(
                name=text.name(rows[0].name),
                page=page,
                feedback=feedback,
                total=found,
                written=written_total(rows, self.course),
                cells={row.kata: (row.points, row.status, row.changed, row.late_by) for row in rows},
                retries=sum(max(0, row.attempts - 1) for row in rows),
                late=sum(row.days_late > 0 or bool(row.late_by) for row in rows),
            )
        )

    @property
    def by_last_name(self) -> list[Line]:
        """The learners as class lists have them."""
        return sorted(self.lines, key=lambda line: text.by_last_name(line.name))

    @property
    def needy(self) -> list[Need]:
        """Who needs somebody, those with the least first: little is right, or no check could judge something."""
        found = []
        for line in self.lines:
            statuses = {kata: cell[1] for kata, cell in line.cells.items()}
            stuck = [kata for kata, status in statuses.items() if status in ("error", "timeout")]
            lacking = sum(status in UNWRITTEN for status in statuses.values())
            if stuck or (line.total.most > line.total.open and line.total.part < WEAK):
                why = [f"{self.by_slug[kata].title}: {STATUS_STYLES[statuses[kata]].word}" for kata in stuck]
                if lacking:
                    whole = lacking == len(statuses)
                    why.append("nothing handed in" if whole else f"{counted(lacking, 'kata')} not handed in")
                found.append(Need(line, "; ".join(why)))
        return sorted(found, key=lambda tally: tally.line.total.part)

    @property
    def failing(self) -> list[tuple[KataTally, CheckTally]]:
        """The checks that somebody failed, what most failed first."""
        every = [(kata, check) for kata in self.katas for check in kata.checks.values() if check.failed]
        return sorted(every, key=lambda item: -item[1].failed)

    @property
    def katas(self) -> list[KataTally]:
        """The katas in their order."""
        return sorted(self.by_slug.values(), key=lambda kata: (natural_key(kata.number), kata.slug))

    @property
    def weighed(self) -> list[tuple[KataTally, float]]:
        """The katas that do not count once in the total, and how often they do."""
        weights = [(kata, self.course.weight(kata.slug)) for kata in self.katas]
        return [(kata, weight) for kata, weight in weights if weight != 1]

    @property
    def fractions(self) -> list[float]:
        """Each learner's total as a part of the maximum, if there is any mark."""
        return [line.total.part for line in self.lines if line.total.most > line.total.open]

    @property
    def waiting(self) -> int:
        """How many released written answers wait for a mark."""
        return sum(line.total.waiting for line in self.lines)

    @property
    def ungraded(self) -> int:
        """How many marks are not graded yet."""
        return sum(line.total.ungraded for line in self.lines)

    @property
    def highest(self) -> int:
        """The highest bar of all katas, by which their pictures have one scale."""
        return max((max(bin_counts(kata.parts)) for kata in self.by_slug.values()), default=0)

    @property
    def mistakes(self) -> list[MistakeTally]:
        """Recognised mistakes, the most frequent first."""
        found = [mistake for kata in self.by_slug.values() for mistake in kata.mistakes.values()]
        return sorted(found, key=lambda mistake: -mistake.learners)


def mean(values: Sequence[float]) -> float | None:
    """Return the mean, or None of nothing."""
    return statistics.fmean(values) if values else None


def median(values: Sequence[float]) -> float | None:
    """Return the median, or None of nothing."""
    return statistics.median(values) if values else None


# Bars, as coordinates of which a template makes SVG

BINS = 11
"""Ten tenths, and full marks."""
WIDTH, HEIGHT = 286, 96
"""Of the area that bars are drawn in; 26 a bar."""


class Bar(NamedTuple):
    """One bar: a rectangle, how many scores it is, and which."""

    x: float
    y: float
    width: float
    height: float
    scores: int
    says: str


class Histogram(NamedTuple):
    """How scores are spread."""

    bars: list[Bar]
    middle: float | None
    """Where the median is, from the left; None without scores."""
    says: str
    """The same in words."""


def bin_counts(parts: Iterable[float]) -> list[int]:
    """Return how many of the scores (parts of the maximum) fall into each tenth, and how many are full."""
    counts = [0] * BINS
    for part in parts:
        # Rounded: 0.7 of a maximum may come out as 0.6999…
        counts[min(BINS - 1, max(0, int(round(part * 10, 6))))] += 1
    return counts


def histogram(parts: Sequence[float], highest: int | None = None) -> Histogram:
    """Return the histogram of scores, as parts of the maximum, with their median.

    `highest`: the count that a bar of full height stands for, so that several pictures share a scale.
    """
    counts, middle, step = bin_counts(parts), median(parts), WIDTH / BINS
    bars = []
    for index, count in enumerate(counts):
        height = round(HEIGHT * count / max(1, max(counts) if highest is None else highest), 1)
        says = "full marks" if index == BINS - 1 else f"{index * 10} to under {index * 10 + 10} %"
        # A single answer stays visible among hundreds.
        height = max(height, 1.5) if count else 0
        x, width = round(index * step + 1.5, 1), round(step - 3, 1)
        bars.append(Bar(x, HEIGHT - height, width, height, count, says))
    text = "; ".join(f"{bar.says}: {bar.scores}" for bar in bars if bar.scores) or "no answers"
    place = None if middle is None else round(min(middle, 1.0) * (WIDTH - step) + (middle >= 1) * step / 2, 1)
    return Histogram(bars, place, text)


class Slice(NamedTuple):
    """A part of a bar that shows a whole."""

    x: float
    width: float
    kind: str


def slices(counts: Sequence[tuple[str, int]]) -> list[Slice]:
    """Return a bar, 100 wide, cut in proportion to the counts; empty parts are left out."""
    total = sum(count for _, count in counts)
    made, x = [], 0.0
    for kind, count in counts:
        if count:
            made.append(Slice(round(x, 2), round(100 * count / total, 2), kind))
            x += 100 * count / total
    return made
