"""What goes into a gradebook and comes out of it, as data. Database and files are elsewhere."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, tzinfo
from itertools import groupby
from pathlib import PurePath
from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

from grader.instructor.gradebook.events import (
    AnswerMark,
    Decision,
    Override,
    PointsChange,
    Provenance,
    standing,
)
from grader.instructor.gradebook.schema import Booked
from grader.instructor.gradebook.times import ON_TIME, Lateness, final_score
from grader.instructor.submissions.submission import Proposal
from grader.report.report import KataReport, KataStatus

Newer = Literal["closed", "unread", "ungraded", "unsure", "chosen", "worse"]
"""Why something that a learner handed in later does not count."""
NEWER: dict[Newer, str] = {
    "closed": "a newer attempt came in after the assignment was closed",
    "unread": "a newer hand-in was there but could not be read",
    "ungraded": "a newer attempt is there, but the machine could not grade it yet",
    "unsure": "a newer attempt came in, and not all times are known, which contradict the order of arrival",
    "chosen": "this attempt was chosen",
    "worse": "the best attempt counts",
}
"""The same in words."""
PASSED_OVER: frozenset[Newer] = frozenset({"closed", "unread", "ungraded", "unsure"})
"""Those of them that somebody should look at: neither a person nor the course said so."""


_NEVER = "Nothing of this learner was graded for this kata."
_NOT_YET = "This is not graded yet."
_AT_ONCE = 50
"""Reports that are held at a time."""


class Key(NamedTuple):
    """What a mark depends on; while neither changes, a submission is not graded again."""

    digest: str | None
    """Of the submission's content; None when there was none to read."""
    terms: str | None
    """Of everything else: pack, versions, seed policy, time-out, isolation, device. None where the machine failed, so
    that it is graded again."""


class Given(NamedTuple):
    """A mark for an answer that is about to be written."""

    learner: str
    kata: str
    mark: AnswerMark
    seen: int | UnsetType | None = UNSET
    """Number of the mark that stood when the answer was looked at, None where none did; unset where nobody looked."""


class Answers(msgspec.Struct, frozen=True, kw_only=True):
    """A sheet of written answers as it was handed in."""

    id: int
    content: str
    """Its digest, for `Gradebook.answer_sheet`."""
    answered: dict[int, str]
    """By question, a digest of what was written; questions without an answer are not there."""
    submitted_at: datetime | None
    time_source: str | None
    origin: str | None
    at: datetime
    """When it was first seen."""


class WrittenScore(msgspec.Struct, frozen=True, kw_only=True):
    """The written part of a mark: what is marked, what is not yet, and what the learner may know of it."""

    score: float = 0.0
    max_score: float = 0.0
    """Of what is marked; from the release on, of all questions, for everybody the same."""
    unmarked: tuple[int, ...] = ()
    """Questions that were answered and have no mark yet: nothing in `score`."""
    open: float = 0.0
    """How much of `max_score` is theirs, and no zero."""
    changed: tuple[int, ...] = ()
    """Questions whose answer was handed in anew since it was marked: the old mark stands until somebody looks."""
    blank: tuple[int, ...] = ()
    """Questions without an answer that count as 0, because all others were released."""
    released: bool = False
    marks: tuple[AnswerMark, ...] = ()
    """The marks that count, by question."""
    submitted_at: datetime | None = None
    late: bool = False
    """It came in after the due time. Nothing is taken off for it: the marker decides."""
    answered: dict[int, str] = {}
    """By question, a digest of what was written."""


class AttemptGraded(msgspec.Struct, frozen=True, kw_only=True):
    """A hand-in was graded."""

    kind: ClassVar[str] = "attempt"
    at: datetime
    run: int
    attempt: int
    """What `Gradebook.bundle` and `Gradebook.attempt` take."""
    number: int
    """The how-manyth of this learner at this kata, as people see it and name it."""
    digest: str | None
    """Of the content; None when there was none to read."""
    submitted_at: datetime | None
    result: Booked
    seed: int


class SeenAgain(msgspec.Struct, frozen=True, kw_only=True):
    """What had been graded came in again with another time, or its time became known."""

    kind: ClassVar[str] = "handed_in"
    at: datetime
    run: int
    digest: str | None
    submitted_at: datetime
    comment: str
    """What came in, and who says when."""


class Decided(msgspec.Struct, frozen=True):
    """Somebody decided something."""

    decision: Decision
    comment: str
    """What it says, and why."""

    @property
    def kind(self) -> str:
        """What was decided."""
        return self.decision.kind

    @property
    def at(self) -> datetime:
        """When."""
        return self.decision.made.at


class TakenBack(msgspec.Struct, frozen=True):
    """Somebody took a decision back."""

    kind: ClassVar[str] = "revoke"
    decision: Decision
    by: Provenance

    @property
    def at(self) -> datetime:
        """When."""
        return self.by.at


HistoryEvent: TypeAlias = AttemptGraded | SeenAgain | Decided | TakenBack
"""One thing that happened to one learner's mark for one kata."""


class Attempt(msgspec.Struct, frozen=True, kw_only=True):
    """One grading of one submission, whole."""

    id: int
    run: int
    learner: str
    kata: str
    key: Key
    report: KataReport
    submitted_at: datetime | None
    graded_at: datetime


class StoredSubmission(msgspec.Struct, frozen=True, kw_only=True):
    """A submission as it is stored, for grading it again."""

    learner: str
    """Under the name that it came in with."""
    kata: str
    attempt: int
    """Its newest grading, for `Gradebook.bundle`."""
    submitted_at: datetime | None


class RunRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One `kata grade`."""

    id: int
    started_at: datetime
    finished_at: datetime | None
    """None while it runs, and when it was stopped."""
    arguments: dict[str, str | int | float | list[str] | None]
    version: str


class UnfinishedRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run that has not graded everything in its download."""

    id: int
    stopped: bool
    """False while it runs, and where it was killed."""
    planned: int
    """How much there was to grade: a learner and a kata each."""
    left: tuple[tuple[str, str], ...]
    """Learners and katas that it has not come to."""
    arguments: dict[str, Any]

    @property
    def words(self) -> str:
        """How far it came."""
        came = "was stopped at" if self.stopped else "has come to"
        return f"the last run of {PurePath(str(self.arguments.get('submissions'))).name} {came} " + (
            f"{self.planned - len(self.left)} of {self.planned}"
        )

    @property
    def command(self) -> str:
        """The command that goes on, but for the options that name the gradebook."""
        words = ["kata grade", shlex.quote(str(self.arguments.get("submissions")))]
        for name, given in self.arguments.items():
            for value in given if isinstance(given, list) else [given]:
                if name != "submissions" and value not in (None, False, "cpu"):
                    option = f"--{name.replace('_', '-')}"
                    words.append(option if value is True else f"{option} {shlex.quote(str(value))}")
        return " ".join(words)


class RedrawnCheck(msgspec.Struct, frozen=True, kw_only=True):
    """A check that was drawn again, because the reference failed it in the same draw."""

    kata: str
    name: str
    hand_ins: int
    """Of how many."""
    draws: int
    """All draws that the reference failed."""


UnusedReason = Literal["nobody", "nameless", "several", "lines", "download"]


class UnusedTime(msgspec.Struct, frozen=True, kw_only=True):
    """A line of a table of times that was not used."""

    kata: str
    """Empty for everything in the download."""
    source: str
    """What the table is called."""
    line: int
    """0 where it is not from a file."""
    name: str
    at: datetime
    reason: UnusedReason
    candidates: tuple[str, ...] = ()
    """Learners whom the name could mean."""

    def words(self, zone: tzinfo) -> str:
        """Return what was not used, and why."""
        count = {2: "two"}.get(len(self.candidates), len(self.candidates))
        why = {
            "nobody": f"nobody is called {self.name}",
            "nameless": "the line names nobody",
            "several": f"{count} learners are called {self.name} ({', '.join(self.candidates)})",
            "download": f"what {self.name} handed in then is in no download that was graded",
            "lines": f"several lines may be about {', '.join(self.candidates)}",
        }[self.reason]
        at = f"{self.at.astimezone(zone):%Y-%m-%d %H:%M}"
        where = f"{self.source}:{self.line}" if self.line else self.source
        return f"{where}: {why}; {at} was not used"


class HandIn(msgspec.Struct, frozen=True, kw_only=True):
    """Something that was handed in, with what its newest grading gave."""

    id: int
    digest: str | None
    """Of its content; None when there was none to read."""
    submitted_at: datetime | None
    time_source: str | None
    """Who says when it was handed in: a system's name, `git`, a file of times. Without a time, who marks it late."""
    arrived_at: datetime
    """When the run began that it came in with."""
    arrived: tuple[int, int]
    """That run, and a count of what the learner handed in: the only order there is where nobody knows the time."""
    attempt: int
    """Its newest grading, for `Gradebook.bundle`."""
    result: Booked
    graded: bool
    """False where the machine failed, so that its points say nothing."""
    graded_at: datetime
    run: int
    """The run that saw it last."""
    origin: str | None
    """Where it was found."""
    notes: tuple[str, ...]
    taken: str | None
    """What the file is called, if it is the answer only because somebody decided so."""
    by: str = ""
    """Who of the learner's team handed it in; empty where the learner did."""
    proposal: Proposal | None
    """A file that came in with it, or since, and may be meant for the answer."""

    @property
    def late_by(self) -> str | None:
        """Who marks it late without saying when it came in."""
        return self.time_source if self.submitted_at is None else None

    def is_newer(self, other: HandIn) -> bool:
        """Whether it was handed in after another: by their times if both are known, else by their arrival."""
        if self.submitted_at is None or other.submitted_at is None or self.submitted_at == other.submitted_at:
            return self.arrived > other.arrived
        return self.submitted_at > other.submitted_at


class Reports:
    """Reports of attempts, read some at a time when somebody looks at one: a class's reports do not fit into memory."""

    def __init__(
        self, attempts: Iterable[int], read: Callable[[Sequence[int]], Iterable[tuple[int, KataReport]]]
    ) -> None:
        """Read nothing yet.

        Args:
            attempts: in the order in which they are looked at, mostly.
            read: yields some of them with their reports.
        """
        self._attempts = list(attempts)
        self._read = read
        self._held: dict[int, KataReport] = {}

    def of(self, attempt: int) -> KataReport:
        """Return the report of one of the attempts."""
        if attempt not in self._held:
            start = self._attempts.index(attempt)
            self._held = dict(self._read(self._attempts[start : start + _AT_ONCE]))
        return self._held[attempt]

    def __eq__(self, other: object) -> bool:
        """Return true for any other: a mark names its attempt, and an attempt's report never changes."""
        return isinstance(other, Reports)


class Mark(msgspec.Struct, frozen=True, kw_only=True):
    """One learner's work on one kata, as it counts now.

    That is what was handed in and graded, what lateness takes, and what people changed; its report is read when
    somebody looks at it.
    """

    learner: str
    kata: str
    """The kata's slug."""
    number: str = ""
    """The kata's."""
    name: str = ""
    """How the learner is shown; the identity where no roster says otherwise."""
    hand_in: HandIn | None = None
    """What counts; None when nothing of this learner was graded for the kata."""
    result: Booked
    """What the checks gave."""
    graded_at: datetime
    """When; of what was never graded, when a run last looked for it."""
    attempts: int = 0
    """How many different contents were graded."""
    lateness: Lateness = ON_TIME
    late_days_used: int = 0
    """Of the learner's free late days."""
    closed: bool = False
    """It came in after the assignment had closed, and nothing else did: it earns nothing."""
    remarks: tuple[str, ...] = ()
    """Why this attempt counts."""
    newer: tuple[Newer, ...] = ()
    """Why what was handed in later does not count; empty where the newest counts."""
    proposals: tuple[Proposal, ...] = ()
    """Files that came in with it, or since, and may be meant for the answer: `notes` has them in words."""
    adjustments: Sequence[PointsChange] = ()
    """What people changed, oldest first; also what was taken back."""
    written: WrittenScore | None = None
    """The written answers; None where nothing was handed in, marked or released. Not in `score`, but in every total
    from the release on."""
    reports: Reports = Reports((), lambda _: ())
    """Has the report of the attempt that counts."""

    @property
    def status(self) -> KataStatus:
        """What became of the attempt that counts; `not_graded` where a run has not come to it."""
        return self.result.status

    @property
    def max_score(self) -> float:
        """The points that there are; where nothing was graded, as many as others could get."""
        return self.result.max_score

    @property
    def score(self) -> float:
        """After lateness, adjustments and overrides; never below 0. May exceed `max_score` by a bonus."""
        return final_score(self.result.score, self.lateness.points, self.adjustments)[0]

    @property
    def points(self) -> float | None:
        """The mark; None while it is not graded, which is not 0."""
        return self.score if self.graded else None

    @property
    def graded(self) -> bool:
        """Whether there is a mark: by checks, or because somebody set it.

        False where a run has not come to it yet, or the machine failed: then it is no 0, whatever its points.
        """
        by_checks = self.status != "not_graded" if self.hand_in is None else self.hand_in.graded
        return by_checks or any(isinstance(change, Override) for change in standing(self.adjustments))

    @property
    def late_points(self) -> float:
        """Points that lateness took, zero or more."""
        return final_score(self.result.score, self.lateness.points, self.adjustments)[1]

    @property
    def days_late(self) -> float:
        """Past the due date."""
        return self.lateness.days

    @property
    def late(self) -> bool:
        """Whether it came in after the due time."""
        return self.days_late > 0

    @property
    def late_by(self) -> str | None:
        """Who marks it late without saying when it came in."""
        return self.hand_in.late_by if self.hand_in is not None else None

    @property
    def changed(self) -> bool:
        """Whether it is something else than what the checks gave."""
        return bool(self.late_points) or bool(standing(self.adjustments))

    @property
    def attempt(self) -> int | None:
        """The attempt that counts, for `Gradebook.bundle`."""
        return self.hand_in.attempt if self.hand_in is not None else None

    @property
    def handed_in(self) -> bool:
        """Whether there is something to look at: a run also books that a file is missing."""
        return self.hand_in is not None and self.status != "missing"

    @property
    def submitted_at(self) -> datetime | None:
        """When it was handed in, as far as that is known."""
        return self.hand_in.submitted_at if self.hand_in is not None else None

    @property
    def time_source(self) -> str | None:
        """Who says so; without a time, who marks it late."""
        return self.hand_in.time_source if self.hand_in is not None else None

    @property
    def by_mate(self) -> str:
        """Who of the learner's team handed it in; empty where the learner did."""
        return self.hand_in.by if self.hand_in is not None else ""

    @property
    def origin(self) -> str | None:
        """Where it was found."""
        return self.hand_in.origin if self.hand_in is not None else None

    @property
    def taken(self) -> str | None:
        """What its file is called, if it is the answer only because somebody decided so."""
        return self.hand_in.taken if self.hand_in is not None else None

    @property
    def report(self) -> KataReport:
        """The report of the attempt that counts; of what was never graded, one that says so."""
        if self.hand_in is not None:
            return self.reports.of(self.hand_in.attempt)
        return KataReport(
            learner=self.learner,
            kata=self.kata,
            number=self.number,
            status=self.status,
            score=0.0,
            max_score=self.max_score,
            seed=0,
            message=_NOT_YET if self.status == "not_graded" else _NEVER,
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """What the instructor should know about what was found, and why this attempt counts."""
        if self.hand_in is None:
            return ()
        proposed = (proposal.note for proposal in self.proposals)
        return (*self.hand_in.notes, *proposed, *(self.report.look_at or ()), *self.remarks)

    @property
    def trouble(self) -> str:
        """Why there is no mark by checks, in a line; nothing where there is one."""
        if self.status not in ("error", "timeout"):
            return ""
        report = self.report
        messages = (
            report.message,
            *(check.message for check in report.checks if check.status == report.status),
        )
        lines = [line.strip() for line in next(filter(None, messages), "").splitlines() if line.strip()]
        return " ".join(dict.fromkeys((*lines[:1], *lines[-1:]))) or report.status


def by_learner(rows: Iterable[Mark]) -> Iterator[tuple[str, dict[str, Mark]]]:
    """Yield each learner's marks by kata; only one learner is held at a time."""
    for learner, own in groupby(rows, key=lambda row: row.learner):
        yield learner, {row.kata: row for row in own}
