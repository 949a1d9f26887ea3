"""What the failed checks of one run cost together: one slip is charged once, however many checks it fails."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Container, Mapping, Sequence
from dataclasses import dataclass, replace

from grader.engine.checks.failure import PROPERTIES, policy_breach
from grader.engine.runner.outcome import Outcome, Outcomes, RunCheck
from grader.report.report import WRONG

TENTH, HALF, PROPERTY = 0.1, 0.5, 0.15
"""Of a kata's points: what a slip costs at most beyond its most expensive check, what it costs at most with all that is
skipped because of it, and what all failures cost together in which a property failed, such as the dtype."""


@dataclass
class Failed:
    """A check that did not pass, and what it costs."""

    check: RunCheck
    outcome: Outcome
    charged: float
    cause: str = ""
    """The mistake that it is named after, else what is likely, else what was raised where; "" where none is known."""
    seen: bool = True
    """Whether the cause was seen in this check, or it was skipped because of one in which it was."""

    @property
    def end(self) -> Outcome:
        """How it ended, or would have if it had not been skipped because of another."""
        return self.outcome.itself or self.outcome

    @property
    def is_property(self) -> bool:
        """Whether the numbers may be right: it failed by a dtype, the layout of memory, an argument written to."""
        return self.seen and self.end.stage in PROPERTIES


def charge(
    outcomes: Outcomes,
    most: float,
    unsure: Mapping[str, Collection[str]],
    idle: Container[str] = (),
    idle_checks: Container[RunCheck] = (),
    conventions: Container[str] = (),
) -> dict[RunCheck, Outcome]:
    """Give points back where one slip failed several checks; what failed still fails, and says why it costs less.

    No more is given back than the rest has earned, and nothing for values that took no work. Neither holds for a
    convention: it may turn everything round, and what is True everywhere is False everywhere then.

    Args:
        outcomes: the checks of a run, after mistakes have been named.
        most: the kata's points, those of hidden checks included where they are run.
        unsure: for each mistake the checks that it fails, with other numbers in other designs.
        idle: the mistakes that take no work.
        idle_checks: those that saw nothing but idle values; see `withhold_idle`.
        conventions: the mistakes that are right elsewhere: one costs no more with all that is skipped because of it.
    """
    failed = [
        Failed(check, outcome, check.info.points)
        for check, outcome in outcomes.items()
        if outcome.status in (*WRONG, "skipped") and not outcome.machine
    ]
    _find_causes(failed, unsure)
    slips: dict[str, list[Failed]] = defaultdict(list)
    for failure in failed:
        slips[failure.cause].append(failure)
    slips.pop("", None)
    for cause, members in slips.items():
        wrong = [failure for failure in members if failure.seen]
        works = {failure.end.idle for failure in wrong}
        if not wrong or cause in idle or (any(works) and "" not in works):
            continue
        more = 0 if all(failure.is_property for failure in wrong) else math.ceil(TENTH * most)
        dearest = max(failure.check.info.points for failure in wrong)
        _limit(wrong, dearest + more)
        _limit(members, dearest + more if cause in conventions else max(math.floor(HALF * most), dearest))
    _limit([failure for failure in failed if failure.is_property], math.ceil(PROPERTY * most))
    charged = dict(outcomes)
    left = sum(outcome.points for outcome in outcomes.values())
    for failure in failed:
        check = failure.check
        back = check.info.points - failure.charged
        if failure.cause not in conventions:
            back = 0 if check in idle_checks else min(back, left)
        if back > 0:
            left = max(0, left - back)
            same = max(slips.get(failure.cause, [failure]), key=lambda other: other.charged).check
            waits = ", which waits for this" if outcomes[same].status == "skipped" else ""
            where = "in a hidden check" if same.hidden else f"in “{same.info.title}”{waits}"
            why = (
                f"one slip is charged once, {where}"
                if same is not check
                else "so much at most is charged for one slip"
            )
            line = f"{back:g} of {check.info.points:g} points count: {why}"
            charged[check] = replace(failure.outcome, points=back, lines=[*failure.outcome.lines, line])
    return charged


def withhold_idle(
    outcomes: Outcomes, idle_checks: Mapping[RunCheck, Collection[str]]
) -> dict[RunCheck, Outcome]:
    """Take the points of checks that saw nothing but idle values, of these names."""
    charged = dict(outcomes)
    for check, names in idle_checks.items():
        outcome = outcomes[check]
        if outcome.points:
            listed = " and ".join(f"`{name}`" for name in sorted(names))
            line = f"no points: {listed} returned one number or an argument in every call"
            charged[check] = replace(outcome, points=0.0, lines=[line])
    return charged


def withhold_excluded(
    outcomes: Outcomes, used: Sequence[str], users: set[str], advice: str
) -> dict[RunCheck, Outcome]:
    """Take the points of checks that rest on the policy when something was used that the kata excludes.

    What they say of the numbers stays: a check that holds still passes, for no points. One that judges the uses fails,
    whether a later check brought the use to light or the refusal kept it from its question.

    Args:
        outcomes: the checks of a run.
        used: what was used, with lines.
        users: the names that the kata asks for and that used it: checks that ask for others alone lose nothing.
        advice: what to write instead.
    """
    charged = dict(outcomes)
    for check, outcome in outcomes.items() if used else ():
        status, lines, judged_uses = outcome.status, outcome.lines, outcome.ran.judged_uses
        if not outcome.ran.rests_on_policy or not (judged_uses or outcome.ran.names & users):
            continue
        if status == "pass" or (judged_uses and status == "skipped"):
            lines = policy_breach(used, advice)
            if judged_uses:
                status = "fail"
            else:
                lines[0] = f"right, but without points: the submission {lines[0]}"
        charged[check] = replace(outcome, status=status, lines=lines, points=0.0)
    return charged


def _find_causes(failed: Sequence[Failed], unsure: Mapping[str, Collection[str]]) -> None:
    """Find out which failures are of one slip."""

    def signs(failure: Failed) -> list[str]:
        return [sign for sign in (failure.end.cause, failure.end.raised_at) if sign]

    named = [failure for failure in failed if failure.outcome.mistake]
    names = {sign: failure.outcome.mistake for failure in named for sign in signs(failure)}
    mistakes = {failure.outcome.mistake for failure in named}
    only = named[0].outcome.mistake if len(mistakes) == 1 else ""
    for failure in failed:
        known = [names.get(sign, sign) for sign in signs(failure)]
        failure.cause = failure.outcome.mistake or next(iter(known), "")
        if only and not failure.cause and failure.check.id in unsure.get(only, ()):
            failure.cause = only
    wrong = {failure.cause for failure in failed if failure.outcome.status in WRONG}
    by_id = {failure.check.id: failure for failure in failed}
    for failure in failed:
        if failure.outcome.status == "skipped":
            first = by_id.get(failure.outcome.after)
            of_first = first.cause if first else next(iter(wrong)) if len(wrong) == 1 else ""
            failure.seen = bool(failure.cause) and failure.cause == of_first
            failure.cause = of_first


def _limit(members: Sequence[Failed], most: float) -> None:
    """Charge no more than so much for these together, for the most expensive first."""
    for failure in sorted(members, key=lambda failure: -failure.check.info.points):
        failure.charged = min(failure.charged, most)
        most -= failure.charged
