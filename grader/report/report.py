"""The report: what leaves the program, field for field. Schema 1."""

from __future__ import annotations

import re
from typing import Literal

import msgspec

KataStatus = Literal[
    "pass", "fail", "error", "timeout", "in_progress", "not_started", "missing", "not_graded"
]
CheckStatus = Literal["pass", "fail", "error", "timeout", "todo", "skipped"]
CALLED = re.compile(r"^called  ([A-Za-z_]\w*)", re.MULTILINE)
"""What a message says was called."""
WRONG: frozenset[CheckStatus] = frozenset({"fail", "error", "timeout"})
"""How a check of something that is written does not hold."""
UNWRITTEN: frozenset[KataStatus] = frozenset({"not_started", "missing"})
"""Of a kata: there is nothing yet that could be right or wrong."""
Isolation = Literal["full", "confined", "process", "none"]
Location = dict[str, int]
SpeedVerdict = Literal["pass", "fail", "inconclusive"]

SCHEMA = 1
ALREADY_DEDUCTED = "counted as passed: the only error is the one already deducted above"
"""What every page says of a hidden check that the reference passes with the mistake that visible checks have named."""


class Measured(msgspec.Struct, kw_only=True):
    """What a speed check measured."""

    form: str
    """ratio, growth, roofline, memory or memory_exponent."""
    value: float | None
    """The median over all rounds, in the threshold's unit; None where no round came to a number, as when an answer
    was cut off. JSON has no infinity, so there is none here either."""
    threshold: float
    verdict: SpeedVerdict
    rounds: list[float | None] = msgspec.field(default_factory=list)
    """None for a round that came to no number."""
    runs: list[SpeedVerdict] = msgspec.field(default_factory=list)
    """What each series of rounds, in processes of its own, came to."""
    void: int = 0
    """Rounds that do not count: the machine under a virtual one took its processors away."""

    @property
    def numbers(self) -> list[float]:
        """The rounds that came to a number."""
        return [value for value in self.rounds if value is not None]


class CheckReport(msgspec.Struct, kw_only=True):
    """One check of one kata for one submission."""

    name: str
    """The claim, as a person reads it."""
    id: str
    """The check's function, as `-k` finds it."""
    aspect: str
    hidden: bool
    status: CheckStatus
    points: float
    max_points: float
    message: str | None = None
    location: Location | None = None
    misconception: str | None = None
    """The catalogued mistake that fits, by name: `causal-shifted-late`."""
    likely: str | None = None
    """The same as a sentence for the learner."""
    output: str | None = None
    """What the submission printed during this check, bounded."""
    same_mistake: Literal["counted", "idle"] | msgspec.UnsetType = msgspec.UNSET
    """Only of hidden checks whose one error is the mistake that visible checks have named. Counted as passed; or not,
    since the mistake leaves a function idle, and to imitate that takes no work."""
    redrawn: int | msgspec.UnsetType = msgspec.UNSET
    """How many draws the reference failed as well; then the check was drawn again, or, skipped, left out of the
    points."""
    speed: Measured | msgspec.UnsetType = msgspec.UNSET
    """Only of speed checks that were run."""

    @property
    def called(self) -> str:
        """The function or class whose call went wrong, as the message names it; empty where it names none."""
        found = CALLED.search(self.message or "")
        return found[1] if found else ""

    @property
    def look(self) -> str:
        """What it looks like: its status, or `already_deducted`."""
        return "already_deducted" if self.same_mistake == "counted" else self.status


class StageReport(msgspec.Struct, kw_only=True):
    """One stage of a long kata."""

    title: str
    parts: list[str]
    done: bool
    """Whether all its parts are written, and no check fails in a call of one of them."""


class SpeedScore(msgspec.Struct, kw_only=True):
    """The points of the checks of speed and memory, apart from those for being right."""

    score: float
    max_score: float


class KataReport(msgspec.Struct, kw_only=True):
    """One kata of one submission."""

    schema: int = SCHEMA
    learner: str | None = None
    kata: str
    number: str
    status: KataStatus
    score: float
    max_score: float
    seed: int
    device: str = "cpu"
    isolation: Isolation = "none"
    duration_s: float = 0.0
    versions: dict[str, str] = msgspec.field(default_factory=dict)
    message: str | None = None
    """Why the whole kata has this status, when one sentence says it (will not load, file missing)."""
    file: str | None = None
    output: str | None = None
    """What the submission printed while it was loaded, bounded."""
    todo: list[str] = msgspec.field(default_factory=list)
    """What is still to be written, by name, as far as checks have come upon it."""
    stages: list[StageReport] | msgspec.UnsetType = msgspec.UNSET
    """Only of a kata that has stages, while it is being written."""
    speed: SpeedScore | msgspec.UnsetType = msgspec.UNSET
    """Only where speed was asked about. Neither status nor score depends on it."""
    first: str | msgspec.UnsetType = msgspec.UNSET
    """The failing check to begin with, where it is not the first one: it calls what was edited last."""
    left_out: int | msgspec.UnsetType = msgspec.UNSET
    """How many of the kata's checks were not run, where only some were asked for."""
    look_at: list[str] | msgspec.UnsetType = msgspec.UNSET
    """What a person should look at in the file, because no program can read what it leads to; it costs no points."""
    checks: list[CheckReport] = msgspec.field(default_factory=list)

    @property
    def earned(self) -> float:
        """The points for being right and for being fast: what a class is marked by."""
        return self.score + (self.speed.score if self.speed else 0.0)

    @property
    def possible(self) -> float:
        """The most that `earned` could be."""
        return self.max_score + (self.speed.max_score if self.speed else 0.0)


class ReportSet(msgspec.Struct, kw_only=True):
    """What `kata check --json` prints."""

    schema: int = SCHEMA
    score: float
    max_score: float
    katas: list[KataReport]
