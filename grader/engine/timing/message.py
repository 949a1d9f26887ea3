"""What a speed check that failed says: the measurement, the threshold, the machine's limit, the waste, and a plot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from grader.catalogue.file_types import Threshold
from grader.engine.checks.failure import Failure
from grader.engine.checks.text import quantity
from grader.engine.timing.diagnosis import Cause
from grader.engine.timing.work import Work
from grader.report.plots import plot
from grader.report.report import Measured

WIDTH, HEIGHT = 64, 13
MARKS = {"yours": "y", "baseline": "b", "limit": "."}


@dataclass
class Curve:
    """Seconds by size."""

    axis: str
    submission: dict[int, float] = field(default_factory=dict)
    baseline: dict[int, float] = field(default_factory=dict)
    limit: dict[int, float] = field(default_factory=dict)
    """What this core cannot go below."""

    def lines(self) -> Mapping[str, Mapping[int, float]]:
        """Return what there is to draw, by name."""
        drawn = {"yours": self.submission, "baseline": self.baseline, "limit": self.limit}
        return {name: points for name, points in drawn.items() if points}


@dataclass(frozen=True)
class Sketch:
    """What a submission's time looks like by size, and what takes it, where that was seen."""

    curve: Curve
    cause: Cause | None = None


def explain(
    found: Measured, work: Work, threshold: Threshold, sketch: Sketch | None, cut_off: float | None
) -> Failure:
    """Return the failure of a check that is over its threshold."""
    lines = [_headline(found, work, cut_off, threshold.anchor)]
    curve, cause = (sketch.curve, sketch.cause) if sketch is not None else (None, None)
    if curve is not None and curve.baseline:
        lines.append(f"  {_at_largest(curve, work)}")
    if found.numbers and found.form not in ("memory", "memory_exponent"):
        lines.append(f"  {_count(found)}")
    if cause is not None:
        lines.append(f"  Seen in a trace of one call: {cause.line}.")
    # Where the trace names another cause than the author expects, the author's sentence would contradict
    # it.
    if cause is None or cause.as_wasted:
        lines.append(f"  {threshold.wasted}")
    return Failure("speed", tuple(lines), picture=tuple(plot_of(curve)) if curve is not None else ())


def _headline(found: Measured, work: Work, cut_off: float | None, anchor: float) -> str:
    limit = f"{found.threshold:g}"
    if found.value is None:
        if cut_off is None:  # the counter of memory lost sight of the process
            return f"the memory that it takes could not be measured; at most {limit} times is allowed"
        return (
            f"took more than {cut_off:.2g} s for what the baseline does in a fraction of it, and was stopped"
        )
    value = f"{found.value:.3g}"
    # It failed by the anchor: the growth itself is allowed, from a start that is too slow.
    if found.form == "growth" and found.value <= found.threshold:
        first = _ends(work)[0]
        return (
            f"at {work.axis} = {first} it takes more than {anchor:g} times as long as the baseline, "
            "and growth is judged from there"
        )
    match found.form:
        case "ratio":
            return f"takes {value} times as long as the baseline; at most {limit} times is allowed"
        case "growth":
            first, last = _ends(work)
            sizes = f"at {work.axis} = {last} as at {first}"
            return f"takes {value} times as long {sizes}; at most {limit} times is allowed"
        case "roofline":
            return f"reaches {found.value:.1%} of what this device can do; at least {found.threshold:.1%} is required"
        case "memory":
            takes = f"takes {value} times the memory of what goes in and out at its peak"
            return f"{takes}; at most {limit} times is allowed"
        case _:
            return f"memory grows like {work.axis} to the power {value}; at most {limit} is allowed"


def measured_text(found: Measured) -> str:
    """Return what was measured, with the threshold, in its unit."""
    if found.value is None:
        return f"stopped before it was measured; the threshold is {found.threshold:g}"
    if found.form == "roofline":
        return f"it is {found.value:.1%}, the threshold is {found.threshold:.1%}"
    return f"it is {found.value:.3g}, the threshold is {found.threshold:g}"


def _ends(work: Work) -> tuple[int, int]:
    sizes = next(iter(work.sizes.values()))
    return sizes[0], sizes[-1]


def _at_largest(curve: Curve, work: Work) -> str:
    size = max(curve.baseline)
    parts = []
    if size in curve.submission:
        parts.append(f"yours {milliseconds(curve.submission[size])}")
    parts.append(f"the baseline {milliseconds(curve.baseline[size])}")
    if size in curve.limit:
        what = []
        if work.traffic is not None:
            what.append(f"{quantity(work.traffic(size))}B to move")
        if work.flops is not None:
            what.append(f"{quantity(work.flops(size))}FLOP")
        parts.append(f"this core's limit {milliseconds(curve.limit[size])} ({', '.join(what)})")
    return f"at {work.axis} = {size}: {', '.join(parts)}"


def _count(found: Measured) -> str:
    too_slow = found.runs.count("fail")
    low, high = min(found.numbers), max(found.numbers)
    return (
        f"{len(found.rounds)} rounds in {len(found.runs)} series, each in fresh processes, "
        f"between {low:.3g} and {high:.3g}; {too_slow} of the series were too slow"
    )


def plot_of(curve: Curve) -> list[str]:
    """Draw time against size, both logarithmic; nothing where there are fewer than two sizes."""
    drawn = {name: points for name, points in curve.lines().items() if len(points) > 1}
    return plot(
        {name: (list(points), [s * 1e3 for s in points.values()]) for name, points in drawn.items()},
        title=f"milliseconds by {curve.axis}",
        log_x=True,
        log_y=True,
        marks=[MARKS[name] for name in drawn],
        ticks=sorted({size for points in drawn.values() for size in points}),
        size=(WIDTH, HEIGHT),
    )


def milliseconds(seconds: float) -> str:
    """Return a time as people read it: 12.3 ms, 0.45 ms, 1.2 s."""
    if seconds >= 1:
        return f"{seconds:.2f} s"
    return f"{seconds * 1e3:.1f} ms" if seconds >= 0.001 else f"{seconds * 1e3:.2g} ms"
