"""Where the time goes, by size: a submission's, the baseline's, the fused operator's, and the machine's limit.

Nothing is decided here. A wrong answer has a time as well; what is wrong with it is said beside.
"""

from __future__ import annotations

import functools
import statistics
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from grader.catalogue import Kata
from grader.checks.failure import CheckFailure
from grader.checks.raised import describe_raised
from grader.errors import PackError
from grader.host.endings import SubmissionRaised, SubmissionUnsendable, WorkerDied, WorkerTimeout
from grader.timing.benchmark_run import BenchmarkRun, Overrun, Setting
from grader.timing.message import Curve
from grader.timing.speed import MEMORY
from grader.timing.work import Demand, Work

TURNS = 5
"""At each size, in alternation; medians."""
BUDGET_S = 3.0
"""A size whose turns of the submission have taken so long gets no more of them."""
PATIENCE_S = 15.0
"""For one call of it."""
TROUBLE = (SubmissionRaised, SubmissionUnsendable, WorkerDied, WorkerTimeout, Overrun, CheckFailure)
"""What ends the measuring of a submission, and of nothing else."""

Step = Callable[[str, int], None]
"""Told what is measured, and how many sizes were done since the last time."""


@dataclass
class Benched:
    """One piece of work, measured."""

    kata: Kata
    demands: list[Demand]
    """The speed checks that ask for it."""
    sizes: tuple[int, ...]
    curve: Curve
    peak: dict[int, float] = field(default_factory=dict)
    """Bytes of the submission, where a check asks for memory."""
    wrong: str | None = None
    """What is wrong with its answers."""
    stopped: str | None = None
    """Why there are no more times of it."""

    @property
    def work(self) -> Work:
        """What was measured."""
        return self.demands[0].work

    def ratio(self, size: int) -> float | None:
        """Return how many times the baseline's time the submission takes."""
        theirs, ours = self.curve.submission.get(size), self.curve.baseline.get(size)
        return theirs / ours if theirs is not None and ours is not None else None


def works(demands: Sequence[Demand], kind: str) -> list[list[Demand]]:
    """Return the demands on this kind of device, those of the same work together."""
    found: dict[int, list[Demand]] = {}
    for demand in demands:
        if kind in demand.work.sizes or (kind != "cpu" and "cuda" in demand.work.sizes):
            found.setdefault(id(demand.work), []).append(demand)
    return list(found.values())


def measure(demands: list[Demand], setting: Setting, step: Step) -> Benched:
    """Measure one piece of work at all sizes; `step` is told of each.

    Raises:
        PackError: the baseline fails, or the fused operator.
    """
    work = demands[0].work
    sizes = work.sizes_on(setting.kind)
    found = Benched(demands[0].kata, demands, sizes, Curve(axis=work.axis))
    lenient = _noting(work, found)
    title = f"{found.kata.slug} {demands[0].name}"
    left = len(sizes)
    try:
        with BenchmarkRun(setting) as run:
            for size in sizes:
                step(f"{title}: {work.axis} = {size}", 0)
                _one_size(run, lenient, size, found)
                left -= 1
                step("", 1)
    except TROUBLE as error:
        found.stopped = why(error)
    step("", left)
    asks = any(demand.form in MEMORY for demand in demands)
    if asks and found.stopped is None and sys.platform == "linux":
        _memory(lenient, setting, found)
    return found


def _one_size(run: BenchmarkRun, work: Work, size: int, found: Benched) -> None:
    """Time everybody at one size, in turns."""
    if found.stopped is None:
        try:
            run.warm(work, size)
        except TROUBLE as error:
            found.stopped = _at(why(error), work, size)
    fused = work.by_fused
    if fused is not None:
        _trusted(found, lambda: run.baseline_turn(fused, size))  # warm
    times: dict[str, list[float]] = {"yours": [], "baseline": [], "fused": []}
    for _ in range(TURNS):
        times["baseline"].append(_trusted(found, lambda: run.baseline_turn(work, size)))
        if fused is not None:
            times["fused"].append(_trusted(found, lambda: run.baseline_turn(fused, size)))
        if found.stopped is None and sum(times["yours"]) * run.calls(work, size) < BUDGET_S:
            try:
                times["yours"].append(run.submission_turn(work, size, PATIENCE_S).seconds)
            except TROUBLE as error:
                found.stopped = _at(why(error), work, size)
    curve = found.curve
    for name, points in (
        ("yours", curve.submission),
        ("baseline", curve.baseline),
        ("fused", curve.fused),
    ):
        if times[name]:
            points[size] = statistics.median(times[name])
    least = run.limit(work, size)
    if least is not None and least < curve.baseline[size]:  # else the way there and back is most of it
        curve.limit[size] = least


def _trusted(found: Benched, turn: Callable[[], Any]) -> float:
    """Return what a turn in the baseline's worker takes; a failure there is the pack's."""
    try:
        return float(turn().seconds)
    except TROUBLE as error:
        raise PackError(
            f"{found.kata.baseline}: it fails at {found.demands[0].name}.\n{why(error)}"
        ) from error


def _memory(work: Work, setting: Setting, found: Benched) -> None:
    """Measure peaks, each in fresh processes."""
    try:
        for size in found.sizes:
            with BenchmarkRun(setting) as run:
                found.peak[size] = run.peak_bytes(work, size)
    except TROUBLE as error:
        found.stopped = _at(why(error), work, size)


def _noting(work: Work, found: Benched) -> Work:
    """Return the work with a `right` that notes what is wrong instead of failing."""

    @functools.wraps(work.right)
    def right(*arguments: Any, **options: Any) -> None:
        try:
            work.right(*arguments, **options)
        except CheckFailure as error:
            found.wrong = found.wrong or _joined(error.failure.summary)
        except (SubmissionRaised, WorkerDied, WorkerTimeout):
            raise
        except Exception as error:  # the author's own code, on an answer of any kind
            found.wrong = found.wrong or f"the check could not use its result ({type(error).__name__})"

    return replace(work, right=right)


def why(error: BaseException) -> str:
    """Return what ended a submission, as a learner reads it."""
    if isinstance(error, SubmissionRaised):
        if error.not_written:
            return "not written yet: it still raises NotImplementedError"
        return _joined(describe_raised(error))
    if isinstance(error, CheckFailure):
        return _joined(error.failure.summary)
    if isinstance(error, WorkerDied):
        return f"your code {error.how}"
    if isinstance(error, Overrun):
        return f"stopped after {error.seconds:g} s"
    return str(error) or "no answer in time"


def _at(text: str, work: Work, size: int) -> str:
    return f"{text} (at {work.axis} = {size})"


def _joined(lines: Sequence[str]) -> str:
    return "; ".join(line.strip() for line in lines if line.strip())
