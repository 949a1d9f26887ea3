"""Curves and points as letters on a terminal, drawn by plotext."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

WIDTH, HEIGHT = 76, 18
MARKS = "ox+*#@%&"
"""Letters, so that no colour is needed to tell the lines apart."""

TICKS = 6
"""Marks on an axis of whole numbers at most."""

ASCII = str.maketrans("┌┐└┘┤├┬┴┼─│", "+++++++++-|")
"""Frames, for a terminal that has no more than ASCII."""

Points = tuple[Sequence[float], Sequence[float]]


def plot(
    series: Mapping[str, Points],
    *,
    title: str,
    x_axis: str = "",
    log_x: bool = False,
    log_y: bool = False,
    join: bool = True,
    marks: Sequence[str] = MARKS,
    ticks: Sequence[float] | None = None,
    size: tuple[int, int] = (WIDTH, HEIGHT),
) -> list[str]:
    """Return a plot's lines; what is not a number, or has no logarithm, is left out. Without points, nothing."""
    import plotext  # type: ignore[import-untyped]  # takes longer than most commands need to answer

    drawn = {
        name: [
            (x, y)
            for x, y in zip(*points, strict=False)
            if math.isfinite(x) and math.isfinite(y) and (x > 0 or not log_x) and (y > 0 or not log_y)
        ]
        for name, points in series.items()
    }
    if not any(drawn.values()):
        return []
    plotext.clear_figure()  # the figure is plotext's own, one for the whole process
    plotext.theme("clear")
    plotext.plotsize(*size)
    plotext.xscale("log" if log_x else "linear")
    plotext.yscale("log" if log_y else "linear")
    draw = plotext.plot if join else plotext.scatter
    for place, (name, points) in enumerate(drawn.items()):
        if points:
            draw(*map(list, zip(*points, strict=True)), marker=marks[place % len(marks)], label=name)
    # Ticks for all series together: the axes are shared.
    xs, ys = zip(*(point for points in drawn.values() for point in points), strict=True)
    if ticks is not None:
        plotext.xticks(ticks)
    elif not log_x and (across := _whole(xs)):
        plotext.xticks(across, list(map(str, across)))
    if not log_y and (up := _whole(ys)):
        plotext.yticks(up, list(map(str, up)))
    plotext.title(title)
    plotext.xlabel(x_axis or None)
    text = plotext.uncolorize(plotext.build())
    # Nothing of this figure may show in the next one.
    plotext.clear_figure()
    return [line.rstrip() for line in text.splitlines() if line.strip()]


def _whole(values: Sequence[float]) -> list[int]:
    """Return ticks for what is counted, at most `TICKS` and all whole; none where there are fractions."""
    if not all(value == round(value) for value in values):
        return []
    low, high = min(values), max(values)
    step = 1
    while (high - low) / step > TICKS - 1:
        step = step * 5 // 2 if str(step)[0] == "2" else step * 2
    return list(range(-int(-low // step) * step, int(high) + 1, step))
