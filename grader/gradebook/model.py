"""What a gradebook tells and is told, as data. Database and files are elsewhere."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, NamedTuple

import msgspec

from grader.reports.model import KataReport


class Key(NamedTuple):
    """What a mark depends on; while neither changes, a submission is not graded again."""

    digest: str
    """Of the submission's content; empty when there was none to read."""
    terms: str
    """Of everything else: pack, versions, seed policy, time-out, isolation, device."""


class Adjustment(msgspec.Struct, frozen=True, kw_only=True):
    """A person's word on a mark: points added or taken, or a mark that replaces the graded one."""

    kind: Literal["adjust", "override"]
    points: float
    comment: str
    author: str
    at: datetime
    revoked: bool = False


class Row(msgspec.Struct, kw_only=True):
    """One learner and one kata, as the gradebook has it now."""

    learner: str
    name: str
    """How the learner is shown; the identity where no roster says otherwise."""
    report: KataReport
    """The newest attempt."""
    attempts: int
    """How many different contents were graded."""
    submitted_at: datetime | None
    graded_at: datetime
    adjustments: list[Adjustment]
    days_late: float = 0.0
    late_points: float = 0.0
    """Points that lateness took, zero or more."""
    score: float
    """After lateness, adjustments and overrides; never below 0. May exceed `max_score` by a bonus."""
    max_score: float

    @property
    def kata(self) -> str:
        """The kata's slug."""
        return self.report.kata
