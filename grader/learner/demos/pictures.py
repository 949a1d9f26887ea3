"""Exhibits as SVG, drawn by matplotlib: readable in black and white, and the same bytes for the same data."""

from __future__ import annotations

import io
import math
import textwrap
from typing import Any

import matplotlib

matplotlib.use("svg")
from matplotlib import pyplot

from grader.learner.demos.exhibit_types import Bars, Exhibit, Heatmap, Lines, Scatter, short

STYLE = {
    "svg.hashsalt": "kata",
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.size": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": False,
    "figure.constrained_layout.use": True,
}
DASHES = ["-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 3))]
MARKERS = "os^Dv*Px"
NUMBERS = 12
"""Cells across in which numbers still fit."""
BAR_LABELS = 90
"""Letters that fit below bars on a page, one label next to the other."""
LETTER, LINE = 0.085, 0.15
"""Inches that a number's letters take above a bar, each: lying, and turned."""
TICK = 0.21
"""Inches that a column's name takes below a map."""
LEGEND = 44
"""Letters on one line in the legend of a picture for a phone."""
WIDE, HIGH = 10.0, 4.4
"""Inches of a page's width, and of a plot's height."""
NARROW = 4.9
"""Inches that a phone shows without scrolling."""


def draw(exhibit: Exhibit, page: float = WIDE) -> str | None:
    """Return an exhibit as SVG that fits a page of so many inches, or None when it is words."""
    with pyplot.rc_context(STYLE):  # type: ignore[arg-type]
        match exhibit:
            case Heatmap():
                figure = _heatmap(exhibit, page)
            case Lines():
                figure = _lines(exhibit, page)
            case Bars():
                figure = _bars(exhibit, page)
            case Scatter():
                figure = _scatter(exhibit, page)
            case _:
                return None
        stream = io.StringIO()
        figure.savefig(stream, format="svg", metadata={"Date": None})
        pyplot.close(figure)
    return stream.getvalue()


def _words(text: str) -> str:
    """Keep dollars from being read as mathematics."""
    return text.replace("$", r"\$")


def _labels(exhibit: Heatmap) -> float:
    return 0.9 + 0.085 * max(len(label) for panel in exhibit.panels for label in panel.rows)


def _cells(exhibit: Heatmap, page: float) -> tuple[int, int, float]:
    """Return the most columns and rows of a map, and the inches of a cell with a number in it; 0 without."""
    across = max(len(panel.columns) for panel in exhibit.panels)
    down = max(len(panel.rows) for panel in exhibit.panels)
    number = 0.6 if page == WIDE else 0.42
    # A map whose end is out of sight says less than one without numbers: its colours are explained next to it.
    fits = page == WIDE or _labels(exhibit) + across * number <= page - 0.8
    return across, down, number if fits and across <= NUMBERS and down <= NUMBERS else 0.0


def _heatmap(exhibit: Heatmap, page: float) -> Any:
    panels = exhibit.panels
    low, high = exhibit.limits()
    across, down, written = _cells(exhibit, page)
    labels = _labels(exhibit)
    least = max(2.4, labels + across * (written or 0.11))
    # As many maps side by side as the page is wide, each as wide as its labels and numbers need.
    per_row = max(1, min(len(panels), int(page / least)))
    # No wider than its cells are of use: a map of three columns would be a page wide.
    wide = min((page - 0.8) / per_row, labels + across * 1.1)
    cell = (wide - labels) / across
    high_in = 1.3 + down * (0.42 if written else max(0.11, min(0.16, cell)))
    lines = -(-len(panels) // per_row)
    figure, axes = pyplot.subplots(
        lines, per_row, squeeze=False, figsize=(per_row * wide + 0.8, lines * max(2.2, high_in))
    )
    image = None
    for place, axis in enumerate(axes.flat):
        if place >= len(panels):
            axis.set_visible(False)
            continue
        panel = panels[place]
        # One scale for all panels (`vmin`, `vmax`): equal colours mean equal numbers, or they could not be
        # compared.
        colours = "RdBu_r" if exhibit.diverging else "Blues"
        image = axis.imshow(
            panel.values, vmin=low, vmax=high, cmap=colours, aspect="auto", interpolation="nearest"
        )
        axis.set_title(_words(panel.title), fontsize=11)
        _ticks(axis, panel.columns, panel.rows, max(2, int((wide - labels) / TICK)))
        axis.set_xlabel(_words(exhibit.column_axis))
        if place % per_row == 0:  # the maps of a row share their axis
            axis.set_ylabel(_words(exhibit.row_axis))
        if written:
            _write_numbers(axis, panel.values, low, high, diverging=exhibit.diverging)
    values = {value for panel in panels for row in panel.values for value in row}
    if image is not None and not (written and values <= {0, 1}):  # a table of yes and no needs no scale
        figure.colorbar(image, ax=list(axes.flat), shrink=0.8)
    return figure


def _ticks(axis: Any, columns: list[str], rows: list[str], room: int) -> None:
    """Name columns and rows, as many as fit: `room` for columns."""
    for labels, put, turn in ((columns, axis.set_xticks, 45), (rows, axis.set_yticks, 0)):
        step = max(1, len(labels) // 16, -(-len(labels) // room) if turn else 1)
        long = max((len(label) for label in labels), default=0) > 3
        options = {"rotation": turn, "ha": "right"} if turn and long else {}
        put(range(0, len(labels), step), [_words(label) for label in labels[::step]], fontsize=10, **options)


def _write_numbers(axis: Any, values: list[list[float]], low: float, high: float, *, diverging: bool) -> None:
    for row, line in enumerate(values):
        for column, value in enumerate(line):
            if not math.isfinite(value):
                axis.text(column, row, str(value), ha="center", va="center", fontsize=9, color="grey")
                continue
            part = (
                abs(value) / (max(abs(low), abs(high)) or 1)
                if diverging
                else (value - low) / ((high - low) or 1)
            )
            colour = "white" if part > 0.6 else "black"
            axis.text(column, row, short(value), ha="center", va="center", fontsize=10, color=colour)


def _axes(exhibit: Any, page: float) -> tuple[Any, Any]:
    figure, axis = pyplot.subplots(figsize=(page, HIGH))
    axis.set_ylabel(_words(exhibit.y_axis))
    return figure, axis


def _legend(axis: Any, names: list[str], page: float) -> None:
    """Name what is drawn, above it: among it there may be no free place."""
    if len(names) > 1:
        columns = max(1, min(len(names), int(LEGEND * page / NARROW) // (max(map(len, names)) + 6)))
        axis.legend(frameon=False, loc="lower left", bbox_to_anchor=(0, 1), ncols=columns)


def _lines(exhibit: Lines, page: float) -> Any:
    figure, axis = _axes(exhibit, page)
    for place, series in enumerate(exhibit.series):
        few = len(series.x) <= 24
        axis.plot(
            series.x,
            series.y,
            label=_words(series.name),
            linestyle=DASHES[place % len(DASHES)],
            marker=MARKERS[place % len(MARKERS)] if few else None,
            markersize=4,
        )
    axis.set_xlabel(_words(exhibit.x_axis))
    if exhibit.log_x and any(value > 0 for series in exhibit.series for value in series.x):
        axis.set_xscale("log")
        places = sorted({value for series in exhibit.series for value in series.x if value > 0})
        if len(places) <= NUMBERS:
            axis.set_xticks(places, [f"{value:g}" for value in places])
            axis.set_xticks([], minor=True)
    elif all(value.is_integer() for series in exhibit.series for value in series.x):
        axis.xaxis.get_major_locator().set_params(integer=True)  # there is no layer 1.5
    if exhibit.log_y and any(value > 0 for series in exhibit.series for value in series.y):
        axis.set_yscale("log")
    _legend(axis, [series.name for series in exhibit.series], page)
    return figure


def _bars(exhibit: Bars, page: float) -> Any:
    figure, axis = _axes(exhibit, page)
    width = 0.8 / max(len(exhibit.series), 1)
    texts = exhibit.written(3)
    room = (page - 1.2) / max(len(exhibit.labels), 1) * width
    # All of them one way, or the one that stands upright would look like another kind.
    lies = room >= LETTER * max((len(text) for line in texts for text in line), default=0)
    for place, series in enumerate(exhibit.series):
        positions = [
            number + (place - (len(exhibit.series) - 1) / 2) * width for number in range(len(series.y))
        ]
        drawn = axis.bar(
            positions,
            series.y,
            width * 0.95,
            label=_words(series.name),
            hatch=["", "//", "..", "xx"][place % 4],
        )
        if lies or room >= LINE:
            axis.bar_label(drawn, texts[place], fontsize=9, padding=2, rotation=0 if lies else 90)
    if not lies:
        axis.margins(y=0.15)
    letters = int(BAR_LABELS * page / WIDE) // max(len(exhibit.labels), 1)
    labels = [_words(textwrap.fill(label, max(letters, 6))) for label in exhibit.labels]
    axis.set_xticks(range(len(labels)), labels, fontsize=10)
    if exhibit.log_y and any(value > 0 for series in exhibit.series for value in series.y):
        axis.set_yscale("log")
    _legend(axis, [series.name for series in exhibit.series], page)
    return figure


def _scatter(exhibit: Scatter, page: float) -> Any:
    figure, axis = _axes(exhibit, page)
    for place, group in enumerate(exhibit.groups):
        axis.scatter(
            group.x, group.y, s=18, marker=MARKERS[place % len(MARKERS)], label=_words(group.name), alpha=0.75
        )
    axis.set_xlabel(_words(exhibit.x_axis))
    _legend(axis, [group.name for group in exhibit.groups], page)
    return figure
