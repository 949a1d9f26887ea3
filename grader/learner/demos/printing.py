"""Exhibits on a terminal: shades carry the values, with numbers next to them."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Sequence
from itertools import zip_longest

from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from grader.learner.demos import exhibit_types as kinds
from grader.learner.demos.exhibit_types import Exhibit, Panel, Still, short
from grader.report.plots import ASCII, plot
from grader.report.style import has_unicode

SHADES = (" .:-=+*#%@", " ░▒▓█")
SHOWN = 16
"""Rows of a terminal that a map takes at most, and columns up to which it is shown as numbers."""
NARROWEST = 7
"""Columns that a number with its shade takes."""
FAINT = 0.02
"""The part of the scale from which on a value is seen: weights that are spread evenly are small, and there."""
GAP = 3
"""Columns between two maps side by side."""
DECIMALS = 4
"""So many decimals are few: a table shows them in all rows of a column."""
GROUPED = 10_000
"""Integers from here on are written with commas: 33,024."""
LONGEST, SHORTEST, VALUE = 40, 8, 10
"""Columns of the longest bar, of what is left of it with long names, and of the number after it."""


def print_exhibit(exhibit: Exhibit, out: Console) -> None:
    """Print one exhibit; of what is chosen on the page, the state that it begins with."""
    out.print()
    out.print(Text(exhibit.title, style="bold"))
    match exhibit:
        case kinds.Choice():
            frame = exhibit.frames[exhibit.start]
            out.print(f"  {exhibit.axis}: {frame.label}")
            _print_inner(frame.shown, exhibit.title, out)
            others = ", ".join(other.label for other in exhibit.frames if other is not frame)
            _print_note(f"On the page also {exhibit.axis}: {others}.", out)
        case kinds.Play():
            _print_inner(exhibit.shown, exhibit.title, out)
            _print_note("On the page you can play with it.", out)
        case _:
            _print_still(exhibit, out)
    _print_note(exhibit.note, out)


def _print_inner(shown: Sequence[Still], title: str, out: Console) -> None:
    for still in shown:
        if len(shown) > 1 and still.title != title:
            out.print(f"  {still.title}")
        _print_still(still, out)
        _print_note(still.note, out)


def _print_note(note: str, out: Console) -> None:
    if note:
        out.print(Padding(Text(note, style="dim"), (0, 0, 0, 2)))


def _print_still(exhibit: Still, out: Console) -> None:
    match exhibit:
        case kinds.Text():
            for paragraph in exhibit.body.strip().split("\n\n"):
                out.print(Padding(Text(paragraph), (0, 0, 1, 2)))
        case kinds.Table():
            out.print(_table(exhibit))
        case kinds.Heatmap():
            _print_maps(exhibit, out)
        case kinds.Lines() | kinds.Scatter():
            _print_plot(exhibit, out)
        case kinds.Bars():
            _print_bars(exhibit, out)
        case kinds.OpenQuestion():
            where = f"Look again at “{exhibit.seen}”. The page has the answer."
            out.print(Padding(Text(where), (0, 0, 0, 2)))


def cell(value: object) -> str:
    """Return a table cell as text: floats with four significant digits, long integers with commas."""
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, int) and abs(value) >= GROUPED:
        return f"{value:,}"
    return "" if value is None else str(value)


def cells(rows: Sequence[Sequence[object]]) -> list[list[str]]:
    """Return the text of a table; in a column with few decimals, all floats have as many: 0.2369 above 0.0900."""
    texts = [[cell(value) for value in row] for row in rows]
    for column in range(max(map(len, rows), default=0)):
        floats = [
            (text, row[column])
            for text, row in zip(texts, rows, strict=True)
            if column < len(row) and isinstance(row[column], float)
        ]
        places = [
            math.inf if "e" in text[column] else len(text[column].partition(".")[2]) for text, _ in floats
        ]
        if 0 < max(places, default=0) <= DECIMALS:
            for text, value in floats:
                text[column] = f"{value:.{max(places)}f}"
    return texts


def _table(exhibit: kinds.Table) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    numbers = of_numbers(exhibit.rows, len(exhibit.columns))
    for column, number in zip(exhibit.columns, numbers, strict=True):
        table.add_column(column, justify="right" if number else "left")
    for row in cells(exhibit.rows):
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


def _print_maps(exhibit: kinds.Heatmap, out: Console) -> None:
    """Print the maps, side by side as far as they fit."""
    out.print(f"  rows: {exhibit.row_axis}, columns: {exhibit.column_axis}")
    # Numbers that do not fit are cut to something wrong: shades say less, and that is true.
    coarse = [len(panel.columns) > SHOWN or _wide(panel, out) < NARROWEST for panel in exhibit.panels]
    blocks = [
        _shaded(panel, exhibit, out) if too_large else _numbers(panel, exhibit, out)
        for panel, too_large in zip(exhibit.panels, coarse, strict=True)
    ]
    while blocks:
        row = [blocks.pop(0)]
        while blocks and sum(GAP + _width(block) for block in [*row, blocks[0]]) - GAP <= out.width - 2:
            row.append(blocks.pop(0))
        for parts in zip_longest(*row, fillvalue=""):
            padded = [f"{part:<{_width(block)}}" for part, block in zip(parts, row, strict=True)]
            line = (" " * GAP).join(padded).rstrip()
            out.print(f"  {line}", no_wrap=True, crop=False, highlight=False)
        out.print()
    if any(coarse):
        low, high = exhibit.limits()
        out.print(f"  light: {short(low)}   dark: {short(high)}")


def _width(lines: Sequence[str]) -> int:
    return max(map(len, lines))


def _wide(panel: Panel, out: Console) -> int:
    """Return the width of a column: what its label needs, as far as there is room."""
    room = out.width - 2 - _width(panel.rows)
    return min(max([NARROWEST, *(len(label) + 1 for label in panel.columns)]), room // len(panel.columns))


def _shades(exhibit: kinds.Heatmap, out: Console) -> Callable[[float], str]:
    """Return what gives the shade of a value."""
    low, high = exhibit.limits()
    shades = SHADES[has_unicode(out)]

    def shade(value: float) -> str:
        part = (value - low) / (high - low) if high > low and math.isfinite(value) else 0.0
        return shades[max(part >= FAINT, min(len(shades) - 1, int(part * len(shades))))]

    return shade


def _numbers(panel: Panel, exhibit: kinds.Heatmap, out: Console) -> list[str]:
    """Return a map's lines as numbers with shades."""
    left, wide, shade = _width(panel.rows), _wide(panel, out), _shades(exhibit, out)
    heads = [textwrap.wrap(label, wide - 1) or [""] for label in panel.columns]
    deep = max(map(len, heads))
    aligned = [[""] * (deep - len(head)) + head for head in heads]  # the last words of all on one line
    lines = [panel.title]
    for words in zip(*aligned, strict=True):
        lines.append(" " * left + "".join(part.rjust(wide - 1) + " " for part in words))
    for label, values in zip(panel.rows[:SHOWN], panel.values, strict=False):
        cells = "".join(f"{short(value):>{wide - 1}}{shade(value)}" for value in values)
        lines.append(f"{label:<{left}}{cells}")
    if len(panel.rows) > SHOWN:
        lines.append(f"… {len(panel.rows) - SHOWN} more rows are in the picture")
    return lines


def _shaded(panel: Panel, exhibit: kinds.Heatmap, out: Console) -> list[str]:
    """Return a map's lines as shades alone, of blocks of cells where even these are too many."""
    left, shade = _width(panel.rows), _shades(exhibit, out)
    tall = -(-len(panel.rows) // SHOWN)
    wide = -(-2 * len(panel.columns) // (out.width - 4 - left))
    if len(panel.rows) == len(panel.columns):  # of a square map the diagonal is what counts
        tall = wide = max(tall, wide)
    small = _coarser(panel, tall, wide)
    title = f"{panel.title}  (each block: the mean of {tall} × {wide})" if tall * wide > 1 else panel.title
    lines = [title, f"{'':<{left}} {_header(small.columns)}"]
    for label, values in zip(small.rows, small.values, strict=True):
        lines.append(f"{label:<{left}} {''.join(2 * shade(value) for value in values)}")
    return lines


def _coarser(panel: Panel, tall: int, wide: int) -> Panel:
    """Return the map with each block of tall × wide cells as its mean."""
    values = [
        [
            _mean([value for line in panel.values[row : row + tall] for value in line[at : at + wide]])
            for at in range(0, len(panel.columns), wide)
        ]
        for row in range(0, len(panel.rows), tall)
    ]
    return Panel(panel.title, values, panel.rows[::tall], panel.columns[::wide])


def _mean(values: list[float]) -> float:
    finite = [value for value in values if math.isfinite(value)]
    return sum(finite) / len(finite) if finite else math.nan


def _header(labels: Sequence[str]) -> str:
    """Name the columns over shades, those that have room: of numbers every second, say, so that none seems lost."""
    line = ""
    every = -(-(max(map(len, labels)) + 1) // 2) if all(label.isdigit() for label in labels) else 1
    for place, label in enumerate(labels):
        if place % every == 0 and place * 2 >= len(line):
            line = f"{line:<{place * 2}}{label} "
    return line[: 2 * len(labels)].rstrip()


def _print_plot(exhibit: kinds.Lines | kinds.Scatter, out: Console) -> None:
    series, log_x, log_y = (
        (exhibit.series, exhibit.log_x, exhibit.log_y)
        if isinstance(exhibit, kinds.Lines)
        else (exhibit.groups, False, False)
    )
    drawn = plot(
        {curve.name: (curve.x, curve.y) for curve in series},
        title=exhibit.y_axis + (" (log scale)" if log_y else ""),
        x_axis=exhibit.x_axis + (" (log scale)" if log_x else ""),
        log_x=log_x,
        log_y=log_y,
        join=isinstance(exhibit, kinds.Lines),
    )
    for line in drawn or ["(nothing to draw)"]:
        out.print(f"  {line if has_unicode(out) else line.translate(ASCII)}", no_wrap=True, crop=False)


def _print_bars(exhibit: kinds.Bars, out: Console) -> None:
    largest = max((abs(v) for s in exhibit.series for v in s.y if math.isfinite(v)), default=1.0) or 1.0
    full = "█" if has_unicode(out) else "#"
    left = max(map(len, exhibit.labels), default=0)
    inner = max(len(series.name) for series in exhibit.series) if len(exhibit.series) > 1 else 0
    taken = left + inner + (6 if inner else 4) + VALUE
    longest = min(LONGEST, max(SHORTEST, out.width - taken))
    out.print(f"  {exhibit.y_axis}")
    texts = exhibit.written(4)
    for number, name in enumerate(exhibit.labels):
        for place, series in enumerate(exhibit.series):
            value = series.y[number]
            length = round(longest * abs(value) / largest) if math.isfinite(value) else 0
            head = name if place == 0 else ""
            which = f"{series.name:<{inner}}  " if inner else ""
            line = f"  {head:<{left}}  {which}{full * length} {texts[place][number]}"
            out.print(line, no_wrap=True, crop=False)
