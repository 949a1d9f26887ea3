"""Why a submission is slow, as far as it was measured: many operators, many bytes, double precision, or Python itself.

The submission runs once more, in a process of its own, under a trace of torch's operators. What that says goes into
messages alone: it comes out of the submission's process, so it is not evidence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from grader.engine.checks.failure import CheckFailure
from grader.engine.checks.text import quantity
from grader.engine.host.errors import SubmissionRaised, SubmissionUnsendable, WorkerDied, WorkerTimeout
from grader.engine.timing.benchmark_run import MOST_TRACED, BenchmarkConfig, MachineSpeed, traced
from grader.engine.timing.work import Work

LOOPS = 0.5
"""Of the growth of the size: operators that grow by more than this part of it are called in a loop over it."""
MANY = 64
"""Fewer operators than this are not a loop, whatever they grow by."""
WASTEFUL = 3.0
"""So many times the bytes that every answer must move are passes over memory that somebody could spare."""
DOUBLE = 0.5
"""Of all bytes that move: so many in double precision are an answer in double precision."""
IDLE = 0.1
"""Where torch's operators account for less than this part of the time, Python takes it."""
MOSTLY = 0.5
"""Where memory traffic accounts for more than this part of the time, it takes most of it."""
OPERATOR_S = 1e-5
"""What it takes to call one, however small."""


@dataclass(frozen=True)
class Trace:
    """What one call at one size asked of torch."""

    size: int
    operators: int
    moved: float
    """Bytes read and written."""
    doubled: float
    """Those of them in double precision."""
    flops: float
    """Floating-point operations of matrix products."""
    commonest: tuple[str, ...]


@dataclass(frozen=True)
class Cause:
    """What was seen to take the time."""

    line: str
    as_wasted: bool
    """Whether it is what the author of the threshold expects: a loop."""


def trace(setting: BenchmarkConfig, work: Work) -> list[Trace]:
    """Trace a call at each of the two smallest sizes; fewer where it does not run."""
    found: list[Trace] = []
    try:
        for size, said in traced(setting, work, work.sizes_on(setting.kind)[:2]):
            operators, moved, doubled, flops, names = said
            numbers = float(moved), float(doubled), float(flops)
            found.append(Trace(size, int(operators), *numbers, tuple(map(str, names))))
    except (CheckFailure, SubmissionRaised, SubmissionUnsendable, WorkerDied, WorkerTimeout):
        pass
    except (TypeError, ValueError):  # it stood in the way of its own trace
        return []
    return found


def recognise(
    traces: Sequence[Trace], work: Work, seconds: Mapping[int, float], pace: MachineSpeed | None
) -> Cause | None:
    """Return what takes the time of a call, `seconds` by size, or None where nothing measured says so."""
    if not traces:
        return None
    first, last = traces[0], traces[-1]
    # Loops first: a loop explains small pieces and many passes over memory as well, not the other way
    # round.
    if last.operators >= MOST_TRACED:
        return Cause(
            f"a loop: torch's operators are called more than {MOST_TRACED:,} times at {work.axis} = {last.size} "
            f"(mostly {', '.join(last.commonest[:2])})",
            as_wasted=True,
        )
    more_calls = last.operators / max(first.operators, 1)
    grows = last.size > first.size and more_calls > 1 + LOOPS * (last.size / first.size - 1)
    if grows and last.operators >= MANY:
        return Cause(
            f"a loop: torch's operators are called {last.operators:,} times at {work.axis} = {last.size}, "
            f"{first.operators:,} times at {first.size} (mostly {', '.join(last.commonest[:2])})",
            as_wasted=True,
        )
    if pace is not None and last.operators >= MANY and _calling(last) > _working(last, pace):
        return Cause(
            f"a loop: torch's operators are called {last.operators:,} times, "
            f"on {quantity(last.moved / last.operators)}B at a time (mostly {', '.join(last.commonest[:2])})",
            as_wasted=True,
        )
    # From here on a trace is compared with a time, and some sizes were cut off before they had one.
    timed = [trace for trace in traces if trace.size in seconds]
    if timed and pace is not None and _explained(timed[-1], pace) < IDLE * seconds[timed[-1].size]:
        return Cause(
            "Python itself: torch's operators take less than a tenth of the time, and work on lists or single numbers "
            "takes the rest",
            as_wasted=True,
        )
    if last.doubled > DOUBLE * last.moved:
        return Cause(
            f"double precision: {last.doubled / last.moved:.0%} of the bytes that torch's operators move are float64, "
            "twice as many as float32 has",
            as_wasted=False,
        )
    if work.traffic is not None and last.moved > WASTEFUL * work.traffic(last.size):
        return Cause(
            f"passes over memory: {last.operators:,} operators ({', '.join(last.commonest)}) move "
            f"{quantity(last.moved)}B where {quantity(work.traffic(last.size))}B must be moved",
            as_wasted=False,
        )
    if timed and pace is not None and timed[-1].moved * pace.byte > MOSTLY * seconds[timed[-1].size]:
        return Cause(
            f"passes over memory: {last.operators:,} operators ({', '.join(last.commonest)}) move "
            f"{quantity(last.moved)}B, which takes most of the time",
            as_wasted=True,
        )
    return None


def _explained(trace: Trace, pace: MachineSpeed) -> float:
    return _working(trace, pace) + _calling(trace)


def _working(trace: Trace, pace: MachineSpeed) -> float:
    return trace.moved * pace.byte + trace.flops * pace.flop


def _calling(trace: Trace) -> float:
    return trace.operators * OPERATOR_S
