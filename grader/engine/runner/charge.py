"""What the failed checks of one run cost together: one slip is charged once, however many checks it fails."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Container, Mapping, Sequence
from dataclasses import dataclass

from grader.engine.checks.failure import PROPERTIES
from grader.engine.runner.outcome import Outcome
from grader.report.report import WRONG, CheckReport

TENTH, HALF, PROPERTY = 0.1, 0.5, 0.15
"""Of a kata's points: what a slip costs at most beyond its most expensive check, what it costs at most with all that is
skipped because of it, and what all failures cost together in which a property failed, such as the dtype."""


@dataclass
class Failed:
    """A check that did not pass, and what it costs."""

    report: CheckReport
    outcome: Outcome
    """How it ended, or would have if it had not been skipped because of another."""
    after: str
    charged: float
    cause: str = ""
    """The mistake that it is named after, else what is likely, else what was raised where; "" where none is known."""
    seen: bool = True
    """Whether the cause was seen in this check, or it was skipped because of one in which it was."""

    @property
    def is_property(self) -> bool:
        """Whether the numbers may be right: it failed by a dtype, the layout of memory, an argument written to."""
        return self.seen and self.outcome.stage in PROPERTIES


def charge(
    reports: Sequence[tuple[CheckReport, Outcome]],
    most: float,
    unsure: Mapping[str, Collection[str]],
    idle: Container[str] = (),
) -> None:
    """Give points back where one slip failed several checks; what failed still fails, and says why it costs less.

    No more is given back than the rest has earned, and nothing for values that took no work.

    Args:
        reports: the checks of a run, with how each ended, after mistakes have been named.
        most: the kata's points, those of hidden checks included where they are run.
        unsure: for each mistake the checks that it fails, with other numbers in other designs.
        idle: the mistakes that take no work.
    """
    failed = [
        Failed(report, outcome.itself or outcome, outcome.after, report.max_points)
        for report, outcome in reports
        if report.status in (*WRONG, "skipped") and not outcome.machine
    ]
    _find_causes(failed, unsure)
    slips: dict[str, list[Failed]] = defaultdict(list)
    for one in failed:
        slips[one.cause].append(one)
    slips.pop("", None)
    for cause, members in slips.items():
        wrong = [one for one in members if one.seen]
        works = {one.outcome.idle for one in wrong}
        if not wrong or cause in idle or works == {True} or works == {True, None}:
            continue
        more = 0 if all(one.is_property for one in wrong) else math.ceil(TENTH * most)
        dearest = max(one.report.max_points for one in wrong)
        _limit(wrong, dearest + more)
        _limit(members, max(math.floor(HALF * most), dearest))
    _limit([one for one in failed if one.is_property], math.ceil(PROPERTY * most))
    left = sum(report.points for report, _ in reports)
    for one in failed:
        back = min(one.report.max_points - one.charged, left)
        if back > 0:
            left -= back
            one.report.points = back
            same = max(slips.get(one.cause, [one]), key=lambda other: other.charged).report
            where = "in a hidden check" if same.hidden else f"in “{same.name}”"
            why = (
                f"one slip is charged once, {where}"
                if same is not one.report
                else "so much at most is charged for one slip"
            )
            lines = [one.report.message, f"{back:g} of {one.report.max_points:g} points count: {why}"]
            one.report.message = "\n".join(line for line in lines if line)


def _find_causes(failed: Sequence[Failed], unsure: Mapping[str, Collection[str]]) -> None:
    """Find out which failures are of one slip."""

    def signs(one: Failed) -> list[str]:
        return [sign for sign in (one.outcome.cause, one.outcome.raised_at) if sign]

    named = [one for one in failed if one.report.misconception]
    names = {sign: one.report.misconception or "" for one in named for sign in signs(one)}
    only = named[0].report.misconception if len({one.report.misconception for one in named}) == 1 else None
    for one in failed:
        known = [names.get(sign, sign) for sign in signs(one)]
        one.cause = one.report.misconception or next(iter(known), "")
        if only and not one.cause and one.report.id in unsure.get(only, ()):
            one.cause = only
    wrong = {one.cause for one in failed if one.report.status in WRONG}
    by_id = {one.report.id: one for one in failed}
    for one in failed:
        if one.report.status == "skipped":
            first = by_id.get(one.after)
            of_first = first.cause if first else next(iter(wrong)) if len(wrong) == 1 else ""
            one.seen = bool(one.cause) and one.cause == of_first
            one.cause = of_first


def _limit(members: Sequence[Failed], most: float) -> None:
    """Charge no more than so much for these together, for the most expensive first."""
    for one in sorted(members, key=lambda one: -one.report.max_points):
        one.charged = min(one.charged, most)
        most -= one.charged
