"""A class in numbers: counted row by row, so that memory holds figures and never reports."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from grader.gradebook.course import Course, total
from grader.gradebook.records import Row
from grader.pages import text
from grader.reports.report import KataStatus

NO_WORK: frozenset[KataStatus] = frozenset({"missing", "not_started"})
"""What is no answer: no file, or the stub as it was given."""
SHARES: tuple[tuple[KataStatus, ...], ...] = (
    ("pass",),
    ("fail",),
    ("error", "timeout"),
    ("in_progress",),
    ("missing", "not_started"),
)


@dataclass
class CheckTally:
    """How one check went for the class."""

    name: str
    id: str
    aspect: str
    hidden: bool
    max_points: float
    ends: Counter[str] = field(default_factory=Counter)

    @property
    def ran(self) -> int:
        """Answers that the check looked at."""
        return self.ends.total() - self.untold

    @property
    def untold(self) -> int:
        """Answers of which it says nothing: skipped, still to be written, or with an error that is deducted already."""
        return self.ends["skipped"] + self.ends["todo"] + self.deducted

    @property
    def deducted(self) -> int:
        """Answers that are counted as passed since their only error is already deducted."""
        return self.ends["already_deducted"]

    @property
    def passed(self) -> int:
        """Answers that passed it."""
        return self.ends["pass"]

    @property
    def rate(self) -> float | None:
        """The part of those it looked at that passed; None when it looked at none."""
        return self.passed / self.ran if self.ran else None


@dataclass
class MistakeTally:
    """A recognised mistake."""

    kata: str
    number: str
    name: str
    says: str
    learners: int = 0
    checks: dict[str, None] = field(default_factory=dict)
    """The checks that showed it."""


@dataclass
class KataTally:
    """How one kata went for the class."""

    number: str
    slug: str
    title: str
    max_score: float
    statuses: Counter[KataStatus] = field(default_factory=Counter)
    parts: list[float] = field(default_factory=list)
    """Scores of those who handed in work, as parts of the maximum."""
    scores: list[float] = field(default_factory=list)
    attempts: list[int] = field(default_factory=list)
    durations: list[float] = field(default_factory=list)
    late: int = 0
    checks: dict[tuple[bool, str], CheckTally] = field(default_factory=dict)
    mistakes: dict[str, MistakeTally] = field(default_factory=dict)

    @property
    def learners(self) -> int:
        """Everyone who has a row."""
        return self.statuses.total()

    @property
    def worked(self) -> int:
        """Those who handed in more than the stub."""
        return len(self.scores)

    @property
    def shares(self) -> list[tuple[str, int]]:
        """Learners by what became of them: passed, failed, error or time-out, in progress, nothing to grade."""
        return [(kinds[0], sum(self.statuses[kind] for kind in kinds)) for kinds in SHARES]

    @property
    def retried(self) -> int:
        """Those who handed in more than once."""
        return sum(count > 1 for count in self.attempts)

    def add(self, row: Row) -> None:
        """Count one learner's row."""
        report = row.report
        self.statuses[report.status] += 1
        self.max_score = max(self.max_score, row.max_score)
        self.late += row.days_late > 0
        if report.status in NO_WORK:
            return
        self.scores.append(row.score)
        self.parts.append(row.score / row.max_score if row.max_score else 0.0)
        self.attempts.append(row.attempts)
        self.durations.append(report.duration_s)
        seen = set()
        for check in report.checks:
            key = (check.hidden, check.id)
            if key not in self.checks:
                self.checks[key] = CheckTally(
                    text.name(check.name), check.id, check.aspect, check.hidden, check.max_points
                )
            self.checks[key].ends[check.look] += 1
            if check.misconception:
                says = text.name(check.likely or check.misconception)
                mistake = self.mistakes.setdefault(
                    check.misconception, MistakeTally(self.slug, self.number, check.misconception, says)
                )
                mistake.learners += check.misconception not in seen
                mistake.checks[text.name(check.name)] = None
                seen.add(check.misconception)


@dataclass(frozen=True)
class LineMark:
    """One kata in a learner's line."""

    score: float
    status: KataStatus
    changed: bool
    """By lateness or by a person."""


@dataclass(frozen=True)
class Line:
    """One learner in the table of all."""

    name: str
    page: str
    feedback: str | None
    score: float
    max_score: float
    cells: dict[str, LineMark]
    retries: int
    late: int

    @property
    def part(self) -> float:
        """The score as a part of the maximum."""
        return self.score / self.max_score if self.max_score else 0.0


@dataclass
class ClassTally:
    """A class in numbers."""

    course: Course
    katas: dict[str, KataTally] = field(default_factory=dict)
    lines: list[Line] = field(default_factory=list)

    def add(self, rows: Sequence[Row], *, title: dict[str, str], page: str, feedback: str | None) -> None:
        """Count one learner: all rows, each kata's title, and where the learner's pages are."""
        cells = {}
        for row in rows:
            slug = row.kata
            if slug not in self.katas:
                self.katas[slug] = KataTally(row.report.number, slug, title[slug], row.max_score)
            self.katas[slug].add(row)
            changed = bool(row.late_points) or any(not item.revoked for item in row.adjustments)
            cells[slug] = LineMark(row.score, row.report.status, changed)
        score, most = total(rows, self.course)
        self.lines.append(
            Line(
                name=text.name(rows[0].name),
                page=page,
                feedback=feedback,
                score=score,
                max_score=most,
                cells=cells,
                retries=sum(max(0, row.attempts - 1) for row in rows),
                late=sum(row.days_late > 0 for row in rows),
            )
        )

    @property
    def parts(self) -> list[float]:
        """Each learner's total as a part of the maximum."""
        return [line.part for line in self.lines]

    @property
    def worked(self) -> int:
        """How many answers there are, over all learners and katas."""
        return sum(kata.worked for kata in self.katas.values())

    @property
    def mistakes(self) -> list[MistakeTally]:
        """Recognised mistakes, the most frequent first."""
        found = [mistake for kata in self.katas.values() for mistake in kata.mistakes.values()]
        return sorted(found, key=lambda mistake: -mistake.learners)


def mean(values: Sequence[float]) -> float | None:
    """Return the mean, or None of nothing."""
    return statistics.fmean(values) if values else None


def median(values: Sequence[float]) -> float | None:
    """Return the median, or None of nothing."""
    return statistics.median(values) if values else None
