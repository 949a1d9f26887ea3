"""The forms of a threshold, as a check asks for them: `speed.ratio(work)` and its siblings."""

from __future__ import annotations

import math
import secrets
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pytest

from grader.catalogue.file_types import Threshold
from grader.engine.checks.failure import CheckFailure, fail
from grader.engine.host.errors import WorkerDied
from grader.engine.timing import cores, diagnosis
from grader.engine.timing.benchmark_run import BenchmarkConfig, BenchmarkRun, TurnTimeout
from grader.engine.timing.decision import FAR, StoppingRule, Verdict
from grader.engine.timing.message import Curve, Sketch, explain, measured_text
from grader.engine.timing.work import Work
from grader.errors import PackError
from grader.report.report import Measured

RULE = StoppingRule()
RUNS = 3
"""Series, each in fresh processes, at most: one that passes settles it, two that fail do; else it is inconclusive."""
FAILS = 2
CUT_S = 2.0
"""No turn of the submission is cut off before: a machine that stalls for a moment must not decide."""
CUT_FACTOR = 10.0
"""Nor before so many times what the threshold allows."""
IMPOSSIBLE = 1.05
"""Faster than the machine's limit by this factor: what was measured is not the work."""
MEMORY_TRIES = 2
STOLEN = 0.15
"""A round is void where the machine under a virtual one kept the core from those who are timed for so much of it."""
VOID_S = 30.0
"""So long a series waits for rounds that count, at most."""
SKETCH_S = 3.0
"""For the picture: warm calls that take longer end it."""
SKETCH_FACTOR = 100.0
"""For the picture a turn may take so many times what the baseline takes."""

MEMORY = frozenset({"memory", "memory_exponent"})
"""Forms that take fresh processes for every round: a peak never falls."""

Measure = Callable[[BenchmarkRun], "Round"]


@dataclass(frozen=True)
class Round:
    """What one round says."""

    value: float
    """In the threshold's own unit: a ratio, a slope, a fraction."""
    over: bool
    anchored: float | None = None
    """Where growth counts: how many times the baseline's time the smallest size takes."""
    far: bool = False
    """Whether it is over by `FAR`."""


@dataclass(frozen=True)
class Form:
    """How one round of a check is measured, without deciding anything."""

    sizes: tuple[int, ...]
    """What has to be warm before."""
    measure: Measure


@dataclass
class Speed:
    """What the fixture `speed` is: one threshold, one submission, the forms to decide it by."""

    setting: BenchmarkConfig
    threshold: Threshold
    rule: StoppingRule = RULE
    marks: bool = True
    """Whether the threshold was measured on this kind of device: else what is found is shown, and marks nobody."""
    measured: Measured | None = field(default=None, init=False)

    @property
    def limit(self) -> float:
        """The threshold on this device; without one the check is skipped, and its points leave the maximum."""
        limit = self.threshold.on(self.setting.kind)
        if limit is None:
            needs = "a GPU" if self.setting.kind == "cpu" else "the CPU"
            pytest.skip(f"this threshold needs {needs}: it is not graded on {self.setting.device}")
        return limit

    # What checks ask for ------------------------------------------------------------------------------------------

    def ratio(self, work: Work) -> None:
        """Demand that the submission takes at most `threshold` times what the baseline takes, at the last size."""
        __tracebackhide__ = True
        self._decide("ratio", work)

    def growth(self, work: Work) -> None:
        """Demand that the last size takes at most `threshold` times what the first takes."""
        __tracebackhide__ = True
        self._decide("growth", work)

    def roofline(self, work: Work) -> None:
        """Demand that the machine's limit for this work is at least `threshold` of what the submission takes."""
        __tracebackhide__ = True
        self._decide("roofline", work)
        assert self.measured is not None
        value = self.measured.value
        # A GPU computes while Python goes on: an answer that is not waited for costs nothing.
        if self.setting.on.accelerates and value is not None and value > IMPOSSIBLE:
            fail(
                f"took {1 / value:.2f} of the time in which this device can move the bytes at all",
                "  what was timed cannot be the work: is the result computed somewhere else, or later?",
                stage="speed",
            )

    def memory(self, work: Work) -> None:
        """Demand that a call adds at most `threshold` times the work's `traffic` to the memory in use, at its peak."""
        __tracebackhide__ = True
        self._settle("memory", work)

    def memory_exponent(self, work: Work) -> None:
        """Demand that peak memory grows at most like size to the power `threshold`."""
        __tracebackhide__ = True
        self._settle("memory_exponent", work)

    # How a round of each is measured ------------------------------------------------------------------------------

    def form(self, name: str, work: Work) -> Form:
        """Return how rounds of a form of time are measured.

        Raises:
            PackError: the work lacks what the form needs.
        """
        return {"ratio": self._ratio, "growth": self._growth, "roofline": self._roofline}[name](work)

    def peak(self, name: str, work: Work) -> Callable[[], float]:
        """Return what measures a form of memory once.

        Raises:
            PackError: the work lacks what the form needs.
        """
        if name == "memory":
            return self._memory(work)
        sizes = self._sizes(work)
        if len(sizes) < 2:
            raise PackError("an exponent of memory needs two sizes or more")
        return lambda: slope({size: max(self._peak(work, size), 1 << 20) for size in sizes})

    def rounds(self, name: str, work: Work, count: int) -> Iterator[Round]:
        """Measure some rounds of any form, deciding nothing.

        Raises:
            TurnTimeout: a turn of the submission was cut off: it is over by `CUT_FACTOR` at least.
            CheckFailure: an answer was wrong, or its process died for want of memory.
            WorkerDied, WorkerTimeout, SubmissionRaised, SubmissionUnsendable: it does not load or run.
        """
        if name in MEMORY:
            peak = self.peak(name, work)
            for _ in range(count):
                value = peak()
                yield Round(value, value > self.limit)
            return
        form = self.form(name, work)
        with BenchmarkRun(self.setting) as run:
            for size in form.sizes:
                run.warm(work, size)
            for _ in range(count):
                yield self._undisturbed(run, form)

    def _undisturbed(self, run: BenchmarkRun, form: Form) -> Round:
        """Measure a round, again where it is void; after `VOID_S` of that any."""
        since = _Watch(run)
        while True:
            watch = _Watch(run)
            found = form.measure(run)
            if not watch.was_preempted() or since.seconds() > VOID_S:
                return found

    def _ratio(self, work: Work) -> Form:
        limit, size = self.limit, self._sizes(work)[-1]

        def measure(run: BenchmarkRun) -> Round:
            ours, theirs = self._both(run, work, size, limit)
            return Round(theirs / ours, theirs > limit * ours, far=theirs > FAR * limit * ours)

        return Form((size,), measure)

    def _growth(self, work: Work) -> Form:
        limit, anchor = self.limit, self.threshold.anchor
        small, large = self._sizes(work)[0], self._sizes(work)[-1]

        def first(run: BenchmarkRun) -> tuple[float, float]:
            return self._both(run, work, small, anchor)

        def last(run: BenchmarkRun) -> float:
            return _within(run, work, large, anchor * run.usual(work, small) * limit)

        def measure(run: BenchmarkRun) -> Round:
            if secrets.randbits(1):  # in an order that nobody knows
                (ours, theirs), grown = first(run), last(run)
            else:
                grown, (ours, theirs) = last(run), first(run)
            # Quicker than the baseline at the first size, by skill or by chance, is not growth.
            value, anchored = grown / max(ours, theirs), theirs / ours
            far = value > FAR * limit or anchored > FAR * anchor
            return Round(value, value > limit or anchored > anchor, anchored, far)

        return Form((small, large), measure)

    def _roofline(self, work: Work) -> Form:
        limit, size = self.limit, self._sizes(work)[-1]
        if work.traffic is None and work.flops is None:
            raise PackError("a roofline needs `traffic` or `flops`")

        def measure(run: BenchmarkRun) -> Round:
            least = run.limit(work, size)
            assert least is not None
            # Measured next to each other in one round, so that a slow moment slows both.
            seconds = _within(run, work, size, least / limit)
            return Round(least / seconds, least < limit * seconds, far=FAR * least < limit * seconds)

        return Form((size,), measure)

    def _memory(self, work: Work) -> Callable[[], float]:
        size = self._sizes(work)[-1]
        if work.traffic is None:
            raise PackError("a limit on memory needs `traffic`")
        least = work.traffic(size)
        return lambda: self._peak(work, size) / least

    # ------------------------------------------------------------------------------------------------------------

    def _sizes(self, work: Work) -> tuple[int, ...]:
        return work.sizes_on(self.setting.kind)

    def _both(self, run: BenchmarkRun, work: Work, size: int, allowed: float) -> tuple[float, float]:
        """Time baseline and submission at one size, in an order that nobody knows."""
        # The baseline's own time bounds the submission's, so it must be known before.
        bound = allowed * run.usual(work, size)
        if secrets.randbits(1):
            theirs = _within(run, work, size, bound)
            return run.baseline_turn(work, size).seconds, theirs
        ours = run.baseline_turn(work, size).seconds
        return ours, _within(run, work, size, bound)

    def _decide(self, name: str, work: Work) -> None:
        __tracebackhide__ = True
        limit, form = self.limit, self.form(name, work)
        self.measured = Measured(form=name, value=None, threshold=limit, verdict="inconclusive")
        cut: float | None = None
        while True:
            verdict, cut = self._series(work, form)
            self.measured.runs.append(verdict)
            # Where points depend on it, a fail is believed only when it comes again.
            settled = verdict_of(self.measured.runs) if self.marks else verdict
            if settled is not None:
                break
        found = self.measured
        found.verdict = settled
        found.value = statistics.median(found.numbers) if found.numbers else None
        self._spare()
        if settled == "inconclusive":
            pytest.skip(f"inconclusive: {_undecided(found)}; try again when this machine is quieter")
        if settled == "fail":
            raise CheckFailure(explain(found, work, self.threshold, self._sketch_of(work), cut))

    def _series(self, work: Work, form: Form) -> tuple[Verdict, float | None]:
        """Run rounds in fresh processes until the rule has had enough."""
        __tracebackhide__ = True
        assert self.measured is not None
        under = over = far = 0
        patience = VOID_S
        with BenchmarkRun(self.setting) as run:
            watch = _Watch(run)
            try:
                for size in form.sizes:
                    run.warm(work, size)
                while (verdict := self.rule.verdict(under, over, far)) is None:
                    watch = _Watch(run)
                    found = form.measure(run)
                    if watch.was_preempted():
                        self.measured.void += 1
                        # A round that a neighbour spoiled says nothing and is run again, but not without
                        # end.
                        patience -= watch.seconds()
                        if patience < 0:
                            return "inconclusive", None
                        continue
                    self.measured.rounds.append(_number(found.value))
                    over, far = over + found.over, far + found.far
                    under += not found.over
            except TurnTimeout as error:
                if watch.was_preempted():
                    self.measured.void += 1
                    return "inconclusive", None
                return "fail", error.seconds
            run.look_at_policy()
        return verdict, None

    def _settle(self, name: str, work: Work) -> None:
        """Decide about memory, which hardly varies: the least of a few measurements counts."""
        __tracebackhide__ = True
        limit, measure = self.limit, self.peak(name, work)
        if sys.platform != "linux":
            pytest.skip("only Linux reports how much memory another process has used")
        found = self.measured = Measured(form=name, value=None, threshold=limit, verdict="fail")
        for _ in range(MEMORY_TRIES):
            peak = measure()
            found.rounds.append(_number(peak))
            # The least: an allocator may take more than it needs, and never less.
            found.value = min(found.numbers, default=None)
            found.runs.append("pass" if peak <= limit else "fail")
            if peak <= limit:
                found.verdict = "pass"
                break
        self._spare()
        if found.verdict == "pass":
            return
        raise CheckFailure(explain(found, work, self.threshold, None, None))

    def _spare(self) -> None:
        """Mark nobody by a number that nobody measured: whether right answers keep below it here is not known."""
        if not self.marks:
            assert self.measured is not None
            pytest.skip(
                f"not measured on this kind of device ({self.setting.kind}): shown, not marked; "
                f"{measured_text(self.measured)}"
            )

    def _peak(self, work: Work, size: int) -> float:
        __tracebackhide__ = True
        try:
            with BenchmarkRun(self.setting) as run:
                return run.peak_bytes(work, size)
        except WorkerDied as error:
            fail(
                f"your code {error.how} at {work.axis} = {size}", f"  {self.threshold.wasted}", stage="speed"
            )

    def _sketch_of(self, work: Work) -> Sketch | None:
        """Time both at every size once more, for the picture, and look for what takes the time."""
        curve, pace = Curve(axis=work.axis), None
        try:
            with BenchmarkRun(self.setting) as run:
                for size in self._sizes(work):
                    run.warm(work, size, SKETCH_S)
                    curve.baseline[size] = run.baseline_turn(work, size).seconds
                    least = run.limit(work, size)
                    if least is not None:
                        curve.limit[size] = least
                    pace = pace or run.pace()
                    turn_s = SKETCH_FACTOR * curve.baseline[size] * run.calls(work, size)
                    curve.submission[size] = run.submission_turn(work, size, max(CUT_S, turn_s), 0.0).seconds
        # The verdict is given already; without the picture the message says as much as is known.
        except (TurnTimeout, CheckFailure):
            pass
        return Sketch(
            curve, diagnosis.recognise(diagnosis.trace(self.setting, work), work, curve.submission, pace)
        )


class _Watch:
    """Says of the time since it was made whether the machine under this one took too much of it away."""

    def __init__(self, run: BenchmarkRun) -> None:
        self._core = run.core
        self._started, self._stolen = time.monotonic(), cores.stolen(run.core)

    def seconds(self) -> float:
        return time.monotonic() - self._started

    def was_preempted(self) -> bool:
        return cores.stolen(self._core) - self._stolen > STOLEN * self.seconds()


def _within(run: BenchmarkRun, work: Work, size: int, allowed_s: float) -> float:
    """Return the seconds of a call of the submission, in a turn that ends when it is clear that these are too many."""
    turn_s = allowed_s * run.calls(work, size)
    return run.submission_turn(work, size, max(CUT_S, CUT_FACTOR * turn_s), FAR * turn_s).seconds


def _number(value: float) -> float | None:
    """Return a round's value as a report has it."""
    return value if math.isfinite(value) else None


def _undecided(found: Measured) -> str:
    reason = "this virtual machine did not get its processors in"
    if found.value is None:
        return f"{reason} every one of {found.void} rounds"
    text = (
        f"{len(found.rounds)} rounds in {len(found.runs)} series do not tell whether "
        f"{found.value:.2f} is beyond {found.threshold:g}"
    )
    return f"{text}, and {reason} {found.void} more" if found.void else text


def verdict_of(runs: list[Verdict]) -> Verdict | None:
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
