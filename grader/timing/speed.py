"""The forms of a threshold, as a check asks for them: `speed.ratio(work)` and its siblings."""

from __future__ import annotations

import math
import secrets
import statistics
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NoReturn

import pytest

from grader.boundary.channel import WorkerDied
from grader.catalogue.schema import Threshold
from grader.checks.failure import CheckFailure, Failure, fail
from grader.errors import PackError
from grader.reports.model import Measured
from grader.timing.arena import Arena, Overrun, Setting
from grader.timing.decision import Rule, Verdict
from grader.timing.message import Curve, explain
from grader.timing.work import Work

RULE = Rule()
RUNS = 3
"""Series, each in fresh processes, at most: one that passes settles it, two that fail do; else it is inconclusive."""
FAILS = 2
CUT_S = 1.0
"""No turn of the submission is cut off before, per call."""
CUT_FACTOR = 10.0
"""Nor before so many times what the threshold allows."""
IMPOSSIBLE = 1.05
"""Faster than the machine's limit by this factor: what was measured is not the work."""
MEMORY_TRIES = 3

Measure = Callable[[Arena], "Round"]


@dataclass(frozen=True)
class Round:
    """What one round says."""

    value: float
    """In the threshold's own unit: a ratio, a slope, a fraction."""
    over: bool


@dataclass
class Speed:
    """What the fixture `speed` is: one threshold, one submission, the forms to decide it by."""

    setting: Setting
    threshold: Threshold
    rule: Rule = RULE
    measured: Measured | None = field(default=None, init=False)

    @property
    def limit(self) -> float:
        """The threshold on this device; without one the check is skipped, and its points leave the maximum."""
        limit = self.threshold.on(self.setting.kind)
        if limit is None:
            needs = "a GPU" if self.setting.kind == "cpu" else "the CPU"
            pytest.skip(f"this threshold needs {needs}: it is not graded on {self.setting.device}")
        return limit

    # Time ---------------------------------------------------------------------------------------------------------

    def ratio(self, work: Work) -> None:
        """Demand that the submission takes at most `threshold` times what the baseline takes, at the last size."""
        __tracebackhide__ = True
        limit, size = self.limit, self._sizes(work)[-1]

        def measure(arena: Arena) -> Round:
            ours, theirs = self._both(arena, work, size, limit)
            return Round(theirs / ours, theirs > limit * ours)

        self._decide("ratio", work, limit, measure)

    def growth(self, work: Work) -> None:
        """Demand that the last size takes at most `threshold` times what the first takes."""
        __tracebackhide__ = True
        limit, sizes = self.limit, self._sizes(work)
        small, large = sizes[0], sizes[-1]

        def measure(arena: Arena) -> Round:
            times, anchored = self._all(arena, work, (small, large), limit)
            value = times[large] / times[small]
            return Round(value, value > limit or not anchored)

        self._decide("growth", work, limit, measure)

    def exponent(self, work: Work) -> None:
        """Demand that time grows at most like size to the power `threshold`, fitted over all sizes."""
        __tracebackhide__ = True
        limit, sizes = self.limit, self._sizes(work)
        if len(sizes) < 3:
            raise PackError("an exponent needs three sizes or more")
        allowed = (sizes[-1] / sizes[0]) ** limit

        def measure(arena: Arena) -> Round:
            times, anchored = self._all(arena, work, sizes, allowed)
            value = slope(times)
            return Round(value, value > limit or not anchored)

        self._decide("exponent", work, limit, measure)

    def roofline(self, work: Work) -> None:
        """Demand that the machine's limit for this work is at least `threshold` of what the submission takes."""
        __tracebackhide__ = True
        limit, size = self.limit, self._sizes(work)[-1]
        if work.traffic is None and work.flops is None:
            raise PackError("a roofline needs `traffic` or `flops`")

        def measure(arena: Arena) -> Round:
            least = arena.limit(work, size)
            assert least is not None
            patience = max(CUT_S, CUT_FACTOR * least / limit) * arena.calls(work, size)
            seconds = arena.submission_turn(work, size, patience).seconds
            return Round(least / seconds, least < limit * seconds)

        self._decide("roofline", work, limit, measure, sizes=(size,))
        assert self.measured is not None
        if self.setting.kind == "cuda" and self.measured.value > IMPOSSIBLE:
            fail(
                f"took {1 / self.measured.value:.2f} of the time in which this device can move the bytes at all",
                "  what was timed cannot be the work: is the result computed somewhere else, or later?",
                stage="speed",
            )

    # Memory -------------------------------------------------------------------------------------------------------

    def memory(self, work: Work) -> None:
        """Demand that a call adds at most `threshold` times the work's `traffic` to the memory in use, at its peak."""
        __tracebackhide__ = True
        limit, size = self.limit, self._sizes(work)[-1]
        if work.traffic is None:
            raise PackError("a limit on memory needs `traffic`")
        least = work.traffic(size)

        def measure() -> float:
            return self._peak(work, size) / least

        self._settle("memory", work, limit, measure)

    def memory_exponent(self, work: Work) -> None:
        """Demand that peak memory grows at most like size to the power `threshold`."""
        __tracebackhide__ = True
        limit, sizes = self.limit, self._sizes(work)
        if len(sizes) < 2:
            raise PackError("an exponent of memory needs two sizes or more")

        def measure() -> float:
            return slope({size: max(self._peak(work, size), 1 << 20) for size in sizes})

        self._settle("memory_exponent", work, limit, measure)

    # ------------------------------------------------------------------------------------------------------------

    def _sizes(self, work: Work) -> tuple[int, ...]:
        return work.sizes_on(self.setting.kind)

    def _both(self, arena: Arena, work: Work, size: int, allowed: float) -> tuple[float, float]:
        """Time baseline and submission at one size, in an order that nobody knows."""
        first = secrets.randbits(1)
        # The baseline's own time bounds the submission's, so it must be known before.
        guess = arena.usual(work, size)
        patience = max(CUT_S, CUT_FACTOR * allowed * guess) * arena.calls(work, size)
        if first:
            theirs = arena.submission_turn(work, size, patience).seconds
            return arena.baseline_turn(work, size).seconds, theirs
        ours = arena.baseline_turn(work, size).seconds
        return ours, arena.submission_turn(work, size, patience).seconds

    def _all(
        self, arena: Arena, work: Work, sizes: tuple[int, ...], allowed: float
    ) -> tuple[dict[int, float], bool]:
        """Time the submission at these sizes, shuffled; say whether the first is anchored by the baseline."""
        times: dict[int, float] = {}
        anchor = self.threshold.anchor
        ours = theirs = 0.0
        for size in sorted(sizes, key=lambda _: secrets.randbits(16)):
            if size == sizes[0]:
                ours, theirs = self._both(arena, work, size, anchor)
                times[size] = theirs
                continue
            bound = anchor * arena.usual(work, sizes[0]) * allowed
            patience = max(CUT_S, CUT_FACTOR * bound) * arena.calls(work, size)
            times[size] = arena.submission_turn(work, size, patience).seconds
        return {size: times[size] for size in sizes}, theirs <= anchor * ours

    def _decide(
        self, form: str, work: Work, limit: float, measure: Measure, sizes: tuple[int, ...] | None = None
    ) -> None:
        __tracebackhide__ = True
        timed = sizes or (self._sizes(work)[-1:] if form == "ratio" else self._sizes(work))
        self.measured = Measured(form=form, value=0.0, threshold=limit, verdict="inconclusive")
        cut: float | None = None
        while True:
            verdict, cut = self._series(work, measure, timed)
            self.measured.runs.append(verdict)
            settled = settle(self.measured.runs)
            if settled is not None:
                break
        found = self.measured
        found.verdict = settled
        found.value = statistics.median(found.rounds) if found.rounds else math.inf
        if settled == "inconclusive":
            pytest.skip(
                f"inconclusive: {len(found.rounds)} rounds in {len(found.runs)} series do not tell whether "
                f"{found.value:.2f} is beyond {limit:g}; try again when this machine is quieter"
            )
        if settled == "fail":
            self._fail(explain(found, work, self.threshold, self._curve_of(work), cut))

    def _series(self, work: Work, measure: Measure, sizes: tuple[int, ...]) -> tuple[Verdict, float | None]:
        """Run rounds in fresh processes until the rule has had enough."""
        __tracebackhide__ = True
        assert self.measured is not None
        under = over = 0
        with Arena(self.setting) as arena:
            try:
                for size in sizes:
                    arena.warm(work, size)
                while (verdict := self.rule.verdict(under, over)) is None:
                    found = measure(arena)
                    self.measured.rounds.append(found.value)
                    over += found.over
                    under += not found.over
            except Overrun as error:
                return "fail", error.seconds
            self._look_at_policy(arena)
        return verdict, None

    def _look_at_policy(self, arena: Arena) -> None:
        """Nothing that the kata excludes may have been used while it counted, either."""
        __tracebackhide__ = True
        arena.submission.thaw()
        used = [] if self.setting.terms.within else arena.submission.kata.forbidden_uses()
        if used:
            fail(
                f"used {', '.join(used[:3])} while it was timed",
                f"  {self.setting.terms.advice}",
                stage="policy",
            )

    def _settle(self, form: str, work: Work, limit: float, measure: Callable[[], float]) -> None:
        """Decide about memory, which hardly varies: the least of a few measurements counts."""
        __tracebackhide__ = True
        if sys.platform != "linux":
            pytest.skip("only Linux tells how much memory another process has used")
        found = self.measured = Measured(form=form, value=math.inf, threshold=limit, verdict="fail")
        for _ in range(MEMORY_TRIES):
            found.rounds.append(measure())
            found.value = min(found.rounds)
            found.runs.append("pass" if found.rounds[-1] <= limit else "fail")
            if found.value <= limit:
                found.verdict = "pass"
                return
        self._fail(explain(found, work, self.threshold, None, None))

    def _peak(self, work: Work, size: int) -> float:
        __tracebackhide__ = True
        try:
            with Arena(self.setting) as arena:
                return arena.peak_bytes(work, size)
        except WorkerDied as error:
            fail(
                f"your code {error.how} at {work.axis} = {size}", f"  {self.threshold.wasted}", stage="speed"
            )

    def _curve_of(self, work: Work) -> Curve:
        """Time both at every size once more, for the picture."""
        curve = Curve(axis=work.axis)
        try:
            with Arena(self.setting) as arena:
                for size in self._sizes(work):
                    arena.warm(work, size)
                    curve.baseline[size] = arena.baseline_turn(work, size).seconds
                    least = arena.limit(work, size)
                    if least is not None:
                        curve.limit[size] = least
                    patience = max(CUT_S, 100 * curve.baseline[size]) * arena.calls(work, size)
                    curve.submission[size] = arena.submission_turn(work, size, patience).seconds
        except (Overrun, CheckFailure):
            pass
        return curve

    def _fail(self, failure: Failure) -> NoReturn:
        __tracebackhide__ = True
        raise CheckFailure(failure)


def settle(runs: list[Verdict]) -> Verdict | None:
    """Return what these series amount to: a pass settles it, so do two fails; None while it is open."""
    if runs and runs[-1] == "pass":
        return "pass"
    if runs.count("fail") >= FAILS:
        return "fail"
    return "inconclusive" if len(runs) >= RUNS else None


def slope(values: dict[int, float]) -> float:
    """Return the slope of a straight line through the logarithms."""
    xs, ys = [math.log(size) for size in values], [math.log(max(value, 1e-12)) for value in values.values()]
    mid_x, mid_y = statistics.fmean(xs), statistics.fmean(ys)
    return sum((x - mid_x) * (y - mid_y) for x, y in zip(xs, ys, strict=True)) / sum(
        (x - mid_x) ** 2 for x in xs
    )
