"""Whether a mark depends on the draw, and what a mistake costs: every catalogued mistake, graded on many seeds."""

from __future__ import annotations

import statistics
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from grader.engine.host.launcher import Launcher
from grader.engine.mistakes.recognise import FailureSignature
from grader.engine.runner.suite import RunConfig, Suite

SEEDS, TRAINED_SEEDS = 30, 2
FLIPPED = 0.01
"""A check may come to another verdict on a mistake for this share of the seeds."""
HALF = 0.5
"""What a single mistake may cost of a kata's points, unless it says why."""


class Seeds(NamedTuple):
    """On how many seeds a mistake is graded."""

    every: int
    trained: int
    """A model that is trained takes longer than all other checks together: such checks see the first seeds alone."""


@dataclass
class StabilityResult:
    """Results of one mistake on many seeds."""

    mistake: str
    max_score: float
    points: dict[str, list[float]] = field(default_factory=dict)
    """By check, what it gave: one for each seed that it saw."""
    passed: dict[str, list[bool]] = field(default_factory=dict)
    """By check, on which of these seeds it held."""
    idle: bool = False
    """Whether a hidden check did not count it as passed, since the mistake leaves a function idle."""

    def scores(self) -> list[float]:
        """Return the score of each seed; a check that saw fewer seeds has its turn again."""
        seeds = max(map(len, self.points.values()), default=0)
        return [sum(points[seed % len(points)] for points in self.points.values()) for seed in range(seeds)]

    @property
    def loss(self) -> float:
        """What the mistake costs, as a share of all points: the median."""
        return 1 - statistics.median(self.scores()) / self.max_score

    def flips(self) -> dict[str, float]:
        """Return the checks that change their minds, with the share of seeds that are in the minority."""
        shares = {check: sum(held) / len(held) for check, held in self.passed.items()}
        return {check: min(share, 1 - share) for check, share in shares.items() if 0 < share < 1}


def grade(suite: Suite, file: Path, name: str, launcher: Launcher, seeds: Seeds) -> StabilityResult:
    """Grade a mistake on the seeds from 0; checks that train, where no seed has them, count as passed."""
    found = StabilityResult(name, suite.max_score(timed=False))
    drawn = suite.exclude(suite.trained())
    if seeds.trained == 0:  # so that what is known of its cost is never more than what it costs
        found.points = {
            item.name: [suite.info(item).points] for item in suite.items if item not in drawn.items
        }
    left_behind: dict[str, FailureSignature | None] = {}
    for seed in range(seeds.every):
        checks = suite if seed < seeds.trained else drawn
        report = checks.check(file, launcher, RunConfig(seed=seed), left_behind=left_behind)
        for check in report.checks:
            found.points.setdefault(check.id, []).append(check.points)
            found.passed.setdefault(check.id, []).append(check.status == "pass")
            found.idle |= check.same_mistake == "idle"
    return found
