"""What the sign test of `grader.engine.timing.decision` errs, exactly: one series, and repeated as in grading."""

from __future__ import annotations

from dataclasses import dataclass

from grader.engine.timing.decision import StoppingRule, Verdict
from grader.engine.timing.speed import FAILS, RUNS


@dataclass(frozen=True)
class Odds:
    """What a rule does to a submission whose rounds are over the threshold with a certain probability."""

    passes: float
    fails: float
    inconclusive: float
    rounds: float
    """Expected."""


def odds(rule: StoppingRule, over: float) -> Odds:
    """Return what one run of the rule gives, exactly, for independent rounds that are `over` with this probability.

    Raises:
        ValueError: `over` is not a probability.
    """
    if not 0.0 <= over <= 1.0:
        raise ValueError(f"{over} is not a probability")
    walk = {0: 1.0}  # the lead of the rounds over, and how likely the walk is there
    ends: dict[Verdict, float] = {"pass": 0.0, "fail": 0.0, "inconclusive": 0.0}
    expected = 0.0
    for number in range(1, rule.cap + 1):
        expected += sum(walk.values())
        after: dict[int, float] = {}
        for lead, chance in walk.items():
            for step, likely in ((1, over), (-1, 1.0 - over)):
                to = lead + step
                verdict = rule.verdict((number - to) // 2, (number + to) // 2)
                if verdict is None:
                    after[to] = after.get(to, 0.0) + chance * likely
                else:
                    ends[verdict] += chance * likely
        walk = after
    return Odds(ends["pass"], ends["fail"], ends["inconclusive"], expected)


def repeated(rule: StoppingRule, over: float, *, runs: int = RUNS, fails: int = FAILS) -> Odds:
    """Return what grading gives: series in fresh processes until one passes, `fails` failed, or there were `runs`.

    See `grader.engine.timing.speed.settle`. Series are taken to be independent of each other.
    """
    one = odds(rule, over)
    open_: dict[int, float] = {0: 1.0}  # how many series have failed while it is open, and how likely that is
    passes = failed = series = 0.0
    for _ in range(runs):
        chance = sum(open_.values())
        series += chance
        passes += chance * one.passes
        after: dict[int, float] = {}
        for count, likely in open_.items():
            after[count] = after.get(count, 0.0) + likely * one.inconclusive
            after[count + 1] = after.get(count + 1, 0.0) + likely * one.fails
        failed += after.pop(fails, 0.0)
        open_ = after
    return Odds(passes, failed, sum(open_.values()), one.rounds * series)
