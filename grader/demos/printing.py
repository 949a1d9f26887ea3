"""Exhibits on a terminal: shades carry the values, numbers stand beside them."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text as RichText

from grader.demos.exhibit_types import (
    Bars,
    Choice,
    Exhibit,
    Heatmap,
    Lines,
    Panel,
    Play,
    Scatter,
    Still,
    Table,
    Text,
)
from grader.reports.plots import ASCII, plot
from grader.reports.style import has_unicode, safe

SHADES = (" .:-=+*#%@", " ░▒▓█")
SHOWN = 16
"""Rows of a terminal that a map takes at most, and columns up to which it is shown as numbers."""
NARROWEST = 7
"""Columns that a number with its shade takes."""
FAINT = 0.02
"""The part of the scale from which on a value is seen: weights that are spread evenly are small, and there."""
GAP = 3
"""Columns between two maps side by side."""
GROUPED = 10_000
"""Integers from here on are written with commas: 33,024."""
LONGEST, SHORTEST, VALUE = 40, 8, 10
"""Columns of the longest bar, of what it becomes beside long names, and of the number behind it."""


def print_exhibit(exhibit: Exhibit, out: Console) -> None:
    """Print one exhibit; of what is chosen on the page, the state that it begins with."""
    out.print()
    out.print(RichText(safe(exhibit.title), style="bold"))
    match exhibit:
        case Choice():
            frame = exhibit.frames[exhibit.start]
            out.print(f"  {safe(exhibit.axis)}: {safe(frame.label)}")
            _print_inner(frame.shown, exhibit.title, out)
            others = ", ".join(safe(one.label) for one in exhibit.frames if one is not frame)
            out.print(
                Padding(
                    RichText(f"On the page also {safe(exhibit.axis)}: {others}.", style="dim"), (0, 0, 0, 2)
                )
            )
        case Play():
            _print_inner(exhibit.shown, exhibit.title, out)
            out.print(Padding(RichText("On the page you can play with it.", style="dim"), (0, 0, 0, 2)))
        case _:
            _print_still(exhibit, out)
    if exhibit.note:
        out.print(Padding(RichText(safe(exhibit.note), style="dim"), (0, 0, 0, 2)))


def _print_inner(shown: Sequence[Still], title: str, out: Console) -> None:
    for one in shown:
        if len(shown) > 1 and one.title != title:
            out.print(f"  {safe(one.title)}")
        _print_still(one, out)
        if one.note:
            out.print(Padding(RichText(safe(one.note), style="dim"), (0, 0, 0, 2)))


def _print_still(exhibit: Still, out: Console) -> None:
    match exhibit:
        case Text():
            for paragraph in exhibit.body.strip().split("\n\n"):
                out.print(Padding(RichText(safe(paragraph)), (0, 0, 1, 2)))
        case Table():
            out.print(_table(exhibit.columns, [[cell(value) for value in row] for row in exhibit.rows]))
        case Heatmap():
            _print_maps(exhibit, out)
        case Lines() | Scatter():
            _print_plot(exhibit, out)
        case Bars():
            _print_bars(exhibit, out)


def cell(value: object) -> str:
    """Return a table cell as text: floats with four significant digits, long integers with commas."""
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, int) and abs(value) >= GROUPED:
        return f"{value:,}"
    return "" if value is None else safe(str(value))


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> RichTable:
    table = RichTable(box=box.SIMPLE_HEAD, pad_edge=False)
    for column, number in zip(columns, of_numbers(rows, len(columns)), strict=True):
        table.add_column(safe(column), justify="right" if number else "left")
    for row in rows:
        table.add_row(*row)
    return table


def of_numbers(rows: Sequence[Sequence[object]], columns: int) -> list[bool]:
    """Tell which columns hold numbers alone, however they are written: 1,024, 97%, 1.5 ×; or none, as nothing or –."""
    return [
        bool(rows) and all(_is_number(cell(row[index])) for row in rows if index < len(row))
        for index in range(columns)
    ]


def _is_number(text: str) -> bool:
    try:
        float(text.rstrip(" ×%").replace(",", ""))
    except ValueError:
        return text in ("", "–")
    return True


def _print_maps(exhibit: Heatmap, out: Console) -> None:
    """Print the maps, side by side as far as they fit."""
    out.print(f"  rows: {safe(exhibit.row_axis)}, columns: {safe(exhibit.column_axis)}")
    blocks = [_map(panel, exhibit, out) for panel in exhibit.panels]
    while blocks:
        row, width = [blocks.pop(0)], 0
        width = row[0][0]
        while blocks and width + GAP + blocks[0][0] <= out.width - 2:
            width += GAP + blocks[0][0]
            row.append(blocks.pop(0))
        for number in range(max(len(lines) for _, lines in row)):
            parts = [lines[number] if number < len(lines) else "" for _, lines in row]
            line = (" " * GAP).join(f"{part:<{wide}}" for part, (wide, _) in zip(parts, row, strict=True))
            out.print(f"  {line.rstrip()}", no_wrap=True, crop=False, highlight=False)
        out.print()
    if any(_is_coarse(panel, exhibit, out) for panel in exhibit.panels):
        low, high = exhibit.limits()
        out.print(f"  light: {_short(low)}   dark: {_short(high)}")


def _is_coarse(panel: Panel, exhibit: Heatmap, out: Console) -> bool:
    """Return whether a map is too large for numbers, so that shades alone have to say it."""
    return len(panel.columns) > SHOWN or _wide(panel, out) < NARROWEST


def _left(panel: Panel) -> int:
    return max(len(label) for label in panel.rows)


def _wide(panel: Panel, out: Console) -> int:
    """Return the width of a column: what its label needs, as far as there is room."""
    room = out.width - 2 - _left(panel)
    return min(max([NARROWEST, *(len(label) + 1 for label in panel.columns)]), room // len(panel.columns))


def _map(panel: Panel, exhibit: Heatmap, out: Console) -> tuple[int, list[str]]:
    """Return a map's width and lines: numbers with shades where they fit, shades alone where they do not."""
    low, high = exhibit.limits()
    shades = SHADES[has_unicode(out)]

    def shade(value: float) -> str:
        part = (value - low) / (high - low) if high > low and math.isfinite(value) else 0.0
        return shades[max(part >= FAINT, min(len(shades) - 1, int(part * len(shades))))]

    left = _left(panel)
    title = safe(panel.title)
    if not _is_coarse(panel, exhibit, out):
        wide = _wide(panel, out)
        heads = [textwrap.wrap(safe(label), wide - 1) or [""] for label in panel.columns]
        deep = max(map(len, heads))
        heads = [[""] * (deep - len(head)) + head for head in heads]
        lines = [
            title,
            *(
                " " * left + "".join(part.rjust(wide - 1) + " " for part in row)
                for row in zip(*heads, strict=True)
            ),
        ]
        for label, values in zip(panel.rows[:SHOWN], panel.values, strict=False):
            cells = "".join(f"{_short(value):>{wide - 1}}{shade(value)}" for value in values)
            lines.append(f"{safe(label):<{left}}{cells}")
    else:
        tall = -(-len(panel.rows) // SHOWN)
        wide = -(-2 * len(panel.columns) // (out.width - 4 - left))
        if len(panel.rows) == len(panel.columns):  # of a square map the diagonal is what counts
            tall = wide = max(tall, wide)
        small = _coarser(panel, tall, wide)
        title += f"  (each block: the mean of {tall} × {wide})" if tall * wide > 1 else ""
        lines = [title, f"{'':<{left}} {_header(small.columns)}"]
        for label, values in zip(small.rows, small.values, strict=True):
            lines.append(f"{safe(label):<{left}} {''.join(2 * shade(value) for value in values)}")
    if len(panel.rows) > SHOWN and not _is_coarse(panel, exhibit, out):
        lines.append(f"… {len(panel.rows) - SHOWN} more rows are in the picture")
    return max(map(len, lines)), lines


def _coarser(panel: Panel, high: int, wide: int) -> Panel:
    """Return the map with each block of high × wide cells as its mean."""
    values = [
        [
            _mean(
                [value for line in panel.values[row : row + high] for value in line[column : column + wide]]
            )
            for column in range(0, len(panel.columns), wide)
        ]
        for row in range(0, len(panel.rows), high)
    ]
    return Panel(panel.title, values, panel.rows[::high], panel.columns[::wide])


def _mean(values: list[float]) -> float:
    finite = [value for value in values if math.isfinite(value)]
    return sum(finite) / len(finite) if finite else math.nan


def _header(labels: Sequence[str]) -> str:
    """Name the columns over shades, those that have room: of numbers every second, say, so that none seems lost."""
    line = ""
    every = -(-(max(map(len, labels)) + 1) // 2) if all(label.isdigit() for label in labels) else 1
    for place, label in enumerate(labels):
        if place % every == 0 and place * 2 >= len(line):
            line = f"{line:<{place * 2}}{safe(label)} "
    return line[: 2 * len(labels)].rstrip()


def _short(value: float) -> str:
    if not math.isfinite(value):
        return str(value)
    return f"{value:.0f}" if value == round(value) else f"{value:.2f}"


def _print_plot(exhibit: Lines | Scatter, out: Console) -> None:
    if isinstance(exhibit, Lines):
        series, log_x, log_y = exhibit.series, exhibit.log_x, exhibit.log_y
    else:
        series, log_x, log_y = exhibit.groups, False, False
    drawn = plot(
        {safe(one.name): (one.x, one.y) for one in series},
        title=safe(exhibit.y_axis) + (" (log scale)" if log_y else ""),
        x_axis=safe(exhibit.x_axis) + (" (log scale)" if log_x else ""),
        log_x=log_x,
        log_y=log_y,
        join=isinstance(exhibit, Lines),
    )
    for line in drawn or ["(nothing to draw)"]:
        out.print(f"  {line if has_unicode(out) else line.translate(ASCII)}", no_wrap=True, crop=False)


def _print_bars(exhibit: Bars, out: Console) -> None:
    largest = max((abs(v) for s in exhibit.series for v in s.y if math.isfinite(v)), default=1.0) or 1.0
    full = "█" if has_unicode(out) else "#"
    names = [safe(label) for label in exhibit.labels]
    left = max([0, *(len(name) for name in names)])
    inner = max([0, *(len(safe(s.name)) for s in exhibit.series)]) if len(exhibit.series) > 1 else 0
    taken = left + inner + (6 if inner else 4) + VALUE
    longest = min(LONGEST, max(SHORTEST, out.width - taken))
    out.print(f"  {safe(exhibit.y_axis)}")
    texts = exhibit.written(4)
    for number, name in enumerate(names):
        for place, series in enumerate(exhibit.series):
            value = series.y[number]
            length = round(longest * abs(value) / largest) if math.isfinite(value) else 0
            head = name if place == 0 else ""
            which = f"{safe(series.name):<{inner}}  " if inner else ""
            out.print(
                f"  {head:<{left}}  {which}{full * length} {texts[place][number]}", no_wrap=True, crop=False
            )
