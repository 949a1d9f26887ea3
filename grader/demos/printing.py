"""Exhibits on a terminal: shades carry the values, numbers stand beside them."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text as RichText

from grader.demos.exhibit_types import Bars, Exhibit, Heatmap, Lines, Panel, Scatter, Table, Text
from grader.reports.plots import ASCII, plot
from grader.reports.style import has_unicode, safe

SHADES = (" .:-=+*#%@", " ░▒▓█")
SHOWN = 16
"""Columns of a heat map up to which it is shown as numbers; the picture has all of it in any case."""


def print_exhibit(exhibit: Exhibit, out: Console) -> None:
    """Print one exhibit."""
    out.print()
    out.print(RichText(safe(exhibit.title), style="bold"))
    match exhibit:
        case Text():
            for paragraph in exhibit.body.strip().split("\n\n"):
                out.print(Padding(RichText(safe(paragraph)), (0, 0, 1, 2)))
        case Table():
            out.print(_table(exhibit.columns, [[cell(value) for value in row] for row in exhibit.rows]))
        case Heatmap():
            for panel in exhibit.panels:
                _print_panel(panel, exhibit, out)
        case Lines() | Scatter():
            _print_plot(exhibit, out)
        case Bars():
            _print_bars(exhibit, out)
    if exhibit.note:
        out.print(Padding(RichText(safe(exhibit.note), style="dim"), (0, 0, 0, 2)))


def cell(value: object) -> str:
    """Return a table cell as text: floats with four significant digits."""
    if isinstance(value, float):
        return f"{value:.4g}"
    return "" if value is None else safe(str(value))


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> RichTable:
    table = RichTable(box=box.SIMPLE_HEAD, pad_edge=False)
    for index, column in enumerate(columns):
        numeric = all(_is_number(row[index]) for row in rows if index < len(row))
        table.add_column(safe(column), justify="right" if numeric and rows else "left")
    for row in rows:
        table.add_row(*row)
    return table


def _is_number(text: str) -> bool:
    try:
        float(text.rstrip("×%"))
    except ValueError:
        return not text
    return True


def _print_panel(panel: Panel, exhibit: Heatmap, out: Console) -> None:
    """Print a map as numbers with shades where they fit, and as shades alone where they do not."""
    low, high = exhibit.limits()
    shades = SHADES[has_unicode(out)]
    left = max([len(exhibit.row_axis), *(len(label) for label in panel.rows)])
    room = out.width - left - 2
    wide = max([7, *(len(label) + 1 for label in panel.columns)])
    numbers = wide * len(panel.columns) <= room and len(panel.columns) <= SHOWN
    wide = wide if numbers else 2
    columns, rows = panel.columns[: room // wide], panel.rows[: SHOWN if numbers else 2 * SHOWN]
    out.print(
        f"  {safe(panel.title)}   (rows: {safe(exhibit.row_axis)}, columns: {safe(exhibit.column_axis)})"
    )
    out.print("  " + " " * left + _header(columns, wide, numbers=numbers), no_wrap=True, crop=False)
    for label, values in zip(rows, panel.values, strict=False):
        line = RichText(f"  {safe(label):<{left}}")
        for value in values[: len(columns)]:
            part = (value - low) / (high - low) if high > low and math.isfinite(value) else 0.0
            shade = shades[min(len(shades) - 1, int(part * len(shades)))]
            line.append(f"{_short(value):>{wide - 1}}{shade}" if numbers else shade * wide)
        out.print(line, no_wrap=True, crop=False)
    if not numbers:
        out.print(f"  light: {_short(low)}   dark: {_short(high)}")
    if len(columns) < len(panel.columns) or len(rows) < len(panel.rows):
        whole = f"{len(panel.rows)} × {len(panel.columns)}"
        out.print(f"  … the first {len(rows)} × {len(columns)} of {whole}; all of it is in the picture")
    out.print()


def _header(labels: Sequence[str], wide: int, *, numbers: bool) -> str:
    """Name the columns: all of them over numbers, those that have room over shades."""
    if numbers:
        return "".join(safe(label).rjust(wide) for label in labels)
    line = ""
    for place, label in enumerate(labels):
        if place * wide >= len(line):
            line = f"{line:<{place * wide}}{safe(label)} "
    return line


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
    out.print(f"  {safe(exhibit.y_axis)}")
    for number, name in enumerate(names):
        for place, series in enumerate(exhibit.series):
            value = series.y[number] if number < len(series.y) else math.nan
            length = round(40 * abs(value) / largest) if math.isfinite(value) else 0
            head = name if place == 0 else ""
            which = f"{safe(series.name):<{inner}}  " if inner else ""
            out.print(f"  {head:<{left}}  {which}{full * length} {value:.4g}", no_wrap=True, crop=False)
