"""Pictures as coordinates; a template turns them into SVG."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

BINS = 11
"""Ten tenths, and full marks."""
WIDTH, HEIGHT = 286, 96
"""Of the area that bars are drawn in; 26 a bar."""


@dataclass(frozen=True)
class Bar:
    """One bar: a rectangle, what it counts, and the scores it stands for."""

    x: float
    y: float
    width: float
    height: float
    count: int
    says: str


@dataclass(frozen=True)
class Histogram:
    """How scores are spread."""

    bars: tuple[Bar, ...]
    middle: float | None
    """Where the median is, from the left; None without scores."""
    says: str
    """The same in words."""


def tops(parts: Iterable[float]) -> list[int]:
    """Return how many of the scores (parts of the maximum) fall into each tenth, and how many are full."""
    counts = [0] * BINS
    for part in parts:
        # Rounded: 0.7 of a maximum may come out as 0.6999…
        counts[min(BINS - 1, max(0, int(round(part * 10, 6))))] += 1
    return counts


def histogram(parts: Sequence[float], highest: int, middle: float | None) -> Histogram:
    """Return the histogram of scores, as parts of the maximum.

    Args:
        parts: the scores.
        highest: the count that a bar of full height stands for, so that several pictures share a scale.
        middle: the median.
    """
    step = WIDTH / BINS
    bars = []
    for index, count in enumerate(tops(parts)):
        height = round(HEIGHT * count / max(1, highest), 1)
        says = "full marks" if index == BINS - 1 else f"{index * 10} to under {index * 10 + 10} %"
        # A single answer stays visible beside hundreds.
        height = max(height, 1.5) if count else 0
        bars.append(
            Bar(round(index * step + 1.5, 1), HEIGHT - height, round(step - 3, 1), height, count, says)
        )
    told = "; ".join(f"{bar.says}: {bar.count}" for bar in bars if bar.count) or "no answers"
    place = None if middle is None else round(min(middle, 1.0) * (WIDTH - step) + (middle >= 1) * step / 2, 1)
    return Histogram(tuple(bars), place, told)


@dataclass(frozen=True)
class Slice:
    """A part of a bar that shows a whole."""

    x: float
    width: float
    kind: str


def slices(counts: Sequence[tuple[str, int]]) -> list[Slice]:
    """Return a bar, 100 wide, cut in proportion to the counts; empty parts are left out."""
    total = sum(count for _, count in counts)
    made, x = [], 0.0
    for kind, count in counts:
        if count:
            made.append(Slice(round(x, 2), round(100 * count / total, 2), kind))
            x += 100 * count / total
    return made
