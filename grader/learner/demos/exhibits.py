"""What a demo shows, as plain data: texts, tables, heat maps, lines, bars, scatters, and what one may play with.

A `demo.py` calls these in the worker; the grader checks the data (`model`) and draws it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Exhibit = dict[str, Any]


def text(title: str, body: str) -> Exhibit:
    """Say something between two pictures; blank lines part paragraphs."""
    return _exhibit("text", title, "", body=body)


def table(title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]], *, note: str = "") -> Exhibit:
    """Show rows of words and numbers; numbers are right-aligned."""
    cells = [[_plain(cell) for cell in row] for row in rows]
    return _exhibit("table", title, note, columns=list(columns), rows=cells)


def panel(title: str, values: Any, rows: Sequence[Any], columns: Sequence[Any]) -> dict[str, Any]:
    """Make one map for `heatmap`: values [rows, columns] (a tensor or nested lists) with their labels."""
    numbers = [_numbers(row) for row in _plain(values)]
    return {"title": title, "values": numbers, "rows": [*map(str, rows)], "columns": [*map(str, columns)]}


def heatmap(
    title: str,
    panels: Sequence[dict[str, Any]],
    *,
    row_axis: str = "query",
    column_axis: str = "key",
    diverging: bool = False,
    note: str = "",
) -> Exhibit:
    """Show maps side by side on one colour scale: from 0 up, or from negative to positive when `diverging`."""
    axes = {"row_axis": row_axis, "column_axis": column_axis}
    return _exhibit("heatmap", title, note, panels=list(panels), diverging=diverging, **axes)


def lines(
    title: str,
    series: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    *,
    x_axis: str,
    y_axis: str,
    log_x: bool = False,
    log_y: bool = False,
    note: str = "",
) -> Exhibit:
    """Show curves: names to (x values, y values)."""
    curves = [{"name": name, "x": _numbers(x), "y": _numbers(y)} for name, (x, y) in series.items()]
    axes = {"x_axis": x_axis, "y_axis": y_axis, "log_x": log_x, "log_y": log_y}
    return _exhibit("lines", title, note, series=curves, **axes)


def bars(
    title: str,
    labels: Sequence[Any],
    series: Mapping[str, Sequence[float]],
    *,
    y_axis: str,
    log_y: bool = False,
    note: str = "",
) -> Exhibit:
    """Show bars: for each label one bar of every series."""
    heights = [{"name": name, "y": _numbers(values)} for name, values in series.items()]
    return _exhibit(
        "bars", title, note, labels=[*map(str, labels)], series=heights, y_axis=y_axis, log_y=log_y
    )


def scatter(
    title: str, groups: Mapping[str, Any], *, x_axis: str = "", y_axis: str = "", note: str = ""
) -> Exhibit:
    """Show points: group names to points [N, 2]."""
    dots = [
        {
            "name": name,
            "x": _numbers(point[0] for point in points),
            "y": _numbers(point[1] for point in points),
        }
        for name, points in ((name, _plain(points)) for name, points in groups.items())
    ]
    return _exhibit("scatter", title, note, groups=dots, x_axis=x_axis, y_axis=y_axis)


def choice(
    title: str,
    axis: str,
    frames: Mapping[Any, Exhibit | Sequence[Exhibit]],
    *,
    start: int = 0,
    slider: bool = False,
    note: str = "",
) -> Exhibit:
    """Show one of several states, which a page lets people choose.

    Args:
        title: what it is.
        axis: what is chosen: "mask", "training step".
        frames: the label of each state, and what it shows (no choices and plays of its own).
        start: which state is shown first, and alone in a terminal.
        slider: the states have an order, and a slider goes through them; otherwise each has a button.
        note: said below.
    """
    states = [
        {"label": str(label), "shown": [shown] if isinstance(shown, dict) else list(shown)}
        for label, shown in frames.items()
    ]
    return _exhibit("choice", title, note, axis=axis, frames=states, start=start, slider=slider)


def play(title: str, script: str, data: Mapping[str, Any], *shown: Exhibit, note: str = "") -> Exhibit:
    """Show something to try: a script of the pack's on a page, and `shown` wherever no script runs.

    Args:
        title: what it is.
        script: the name of a file next to the demo, in its unit's folder or in the pack's folder `play`.
        data: what the script is given: dicts, lists, texts, numbers, and tensors, which become lists.
        shown: exhibits that stand still.
        note: said below.
    """
    return _exhibit("play", title, note, script=script, data=_deep(data), shown=list(shown))


def question(ask: str, *, seen: str, answer: str) -> Exhibit:
    """Ask something at the end of a demo whose answer is in what was just seen.

    Args:
        ask: the question.
        seen: how the title of the exhibit begins in which the answer is.
        answer: what the page says when it is asked; a terminal says only where to look.
    """
    return _exhibit("question", ask, "", seen=seen, answer=answer)


def _exhibit(kind: str, title: str, note: str, **fields: Any) -> Exhibit:
    return {"kind": kind, "title": title, "note": note, **fields}


def _numbers(values: Any) -> list[float]:
    return [float(value) for value in _plain(values)]


def _deep(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(name): _deep(part) for name, part in value.items()}
    value = _plain(value)
    return [_deep(part) for part in value] if isinstance(value, list) else value


def _plain(value: Any) -> Any:
    if hasattr(value, "detach"):
        return value.detach().cpu().tolist()
    return value if isinstance(value, str | int | float | bool | None) else list(value)
