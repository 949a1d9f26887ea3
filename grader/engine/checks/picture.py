"""Expected and yours side by side in characters: masks as marks, attention weights as digits, a check's own tables."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple, get_args

import torch
from torch import Tensor

from grader.engine.checks.describe import describe
from grader.engine.checks.locate import first_index
from grader.engine.checks.text import LINE, Axes, clean, is_unnamed, label

Kind = Literal["mask", "attention"]
KINDS = get_args(Kind)
Rows = Sequence[str | Sequence[object]]
"""A table: rows of cells, the first of which names the row. A text is a line of its own."""
Picture = Kind | Callable[[], Rows]
"""What a check draws of a difference: the kind of its values, or a function that returns a table."""
SPAN = 16
"""Rows and columns of the largest picture; what is larger is cropped around the first difference."""
_FULL_DIGITS = 9
"""Up to so many columns weights are drawn in per cent, above in tenths."""
WIDTH = min(100, LINE)
MASK = ("allowed", "blocked", "leaks", "missing")
"""What the marks are called: yes, no, yes instead of no, no instead of yes."""
_BEFORE = 40
"""Columns of a list that are shown before the first item that differs: with that they are less than `WIDTH`."""
_ITEM = 32
"""Columns of an item."""


def draw_difference(got: Tensor, want: Tensor, wrong: Tensor, axes: Axes, kind: Kind) -> tuple[str, ...]:
    """Return the lines of a picture of the first slice in which `got` and `want` differ, or none.

    The tensors have equal shapes; the last two axes are rows and columns (an axis of size 1 before the last
    is skipped for an earlier longer one, so that a padding mask `[batch, 1, 1, key]` shows batch by key).
    None is drawn when it would show no difference, nor of complex numbers.
    """
    if not got.ndim or not wrong.any() or got.dtype.is_complex:
        return ()
    first = list(first_index(wrong))
    names, spans = axes.names, axes.spans
    column = got.ndim - 1
    row = next((a for a in reversed(range(column)) if got.shape[a] > 1), column - 1)
    if row < 0:
        got, want, wrong, first = got[None], want[None], wrong[None], [0, *first]
        # A vector is drawn as a single row, which has no axis to be named after.
        names, spans = ["", *names], (None, *spans)
        row, column = 0, 1
    where = tuple(slice(None) if a in (row, column) else i for a, i in enumerate(first))
    mine, theirs, differs = got[where], want[where], wrong[where]
    rows, columns = _window(mine.shape[0], first[row]), _window(mine.shape[1], first[column])
    crop = (slice(rows.start, rows.stop), slice(columns.start, columns.stop))
    mine, theirs, differs = mine[crop], theirs[crop], differs[crop]
    if kind == "mask":
        # A 0 allows in a mask that is added, and blocks in weights: what is expected says which of the two
        # it is.
        additive = theirs.dtype != torch.bool and bool(torch.isneginf(theirs).any())
        drawn = _marks(_allowed(mine, additive), _allowed(theirs, additive))
    else:
        drawn = _weights(mine, theirs, differs)
    # They differ by less than a digit shows: two equal pictures would only puzzle.
    if drawn.left == drawn.right:
        return ()
    shown = [span or range(n) for span, n in zip(spans, got.shape, strict=True)]
    notes = [
        label(names[a], shown[a][i])
        for a, i in enumerate(first)
        if a not in (row, column) and got.shape[a] > 1
    ]
    for axis, seen in ((row, rows), (column, columns)):
        if len(seen) < got.shape[axis]:
            ends = f"{shown[axis][seen.start]} to {shown[axis][seen.stop - 1]}"
            notes.append(f"{label(names[axis], ends)} of {got.shape[axis]}")
    down, across = (
        _Scale(names[axis], [shown[axis][i] for i in seen]) for axis, seen in ((row, rows), (column, columns))
    )
    return _layout(drawn, down, across, notes)


def draw_lists(got: Sequence[object], want: Sequence[object], at: int) -> tuple[str, ...]:
    """Return two lists in rows, item under item, around the first that differs; none where that says nothing more."""
    size = max(len(got), len(want))
    if size < 2:
        return ()
    # No item takes less than a column: what lies further away finds no room, and there may be millions.
    near = range(max(0, at - _BEFORE), min(size, at + WIDTH))
    widths = {index: max(len(_item(values, index)) for values in (want, got)) for index in near}
    start, before = at, 0
    while start and before + widths[start - 1] < _BEFORE:
        start -= 1
        before += widths[start] + 1
    rows = [f"{name:9} {'… ' if start else '['}" for name in ("expected", "yours")]
    pointer = ""
    for index in range(start, near.stop):
        wide = widths[index]
        if len(rows[0]) + wide >= WIDTH:
            both = zip(rows, (want, got), strict=True)
            rows = [f"{row}…" if index < len(values) else row for row, values in both]
            break
        if index == at:
            pointer = " " * len(rows[0]) + "^" * (wide - 1)
        cells = [_item(values, index) for values in (want, got)]
        # Digits stand below digits of the same worth, words begin one below the other.
        padded = [cell.rjust(wide) if cell[:1].isdigit() else cell.ljust(wide) for cell in cells]
        rows = [f"{row}{cell} " for row, cell in zip(rows, padded, strict=True)]
    return *(row.rstrip() for row in rows), pointer


def draw_table(table: Callable[[], Rows]) -> tuple[str, ...]:
    """Return the lines of a check's table, each column as wide as its widest cell; none where it cannot be made."""
    try:
        rows = [row if isinstance(row, str) else [clean(str(cell), _ITEM) for cell in row] for row in table()]
    # It is made of what was returned, of whatever type and size.
    except Exception:
        return ()
    cells = [row for row in rows if not isinstance(row, str)]
    widths = [
        max(len(row[i]) for row in cells if i < len(row)) for i in range(max(map(len, cells), default=0))
    ]
    return tuple(
        row
        if isinstance(row, str)
        # The first column names the rows; below it numbers end where their columns do.
        else "   ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip()
        for row in rows
    )


def _item(values: Sequence[object], index: int) -> str:
    """Return an item with what Python writes after it: a comma, or the bracket after the last."""
    if index >= len(values):
        return "" if values or index else "]"
    return describe(values[index], _ITEM) + ("]" if index == len(values) - 1 else ",")


def _window(size: int, at: int) -> range:
    if size <= SPAN:
        return range(size)
    start = min(max(0, at - SPAN // 2), size - SPAN)
    return range(start, start + SPAN)


def _allowed(x: Tensor, additive: bool) -> Tensor:
    """Return which pairs are allowed: an additive mask allows at 0, weights where they are not 0."""
    if x.dtype == torch.bool:
        return x
    return x == 0 if additive else x != 0


class _Drawn(NamedTuple):
    """The cells of both pictures, row by row, and what their marks mean."""

    left: list[list[str]]
    right: list[list[str]]
    legend: list[str]


class _Scale(NamedTuple):
    """What an axis is called, and its indices that are shown."""

    name: str
    indices: Sequence[int]


def _marks(mine: Tensor, theirs: Tensor) -> _Drawn:
    """Draw booleans, with a word for each mark."""
    a, b = mine.tolist(), theirs.tolist()
    left = [["#" if want else "." for want in row] for row in b]
    right = [
        [("#" if want else "!") if has else ("x" if want else ".") for has, want in zip(r, s, strict=True)]
        for r, s in zip(a, b, strict=True)
    ]
    words = dict(zip("#.!x", MASK, strict=True))
    used = {mark for row in left + right for mark in row}
    return _Drawn(left, right, [f"{mark} {word}" for mark, word in words.items() if mark in used])


def _weights(mine: Tensor, theirs: Tensor, differs: Tensor) -> _Drawn:
    full = mine.shape[1] <= _FULL_DIGITS
    a, b = mine.double(), theirs.double()
    # in a long row every weight is small: there a digit counts tenths of the largest
    both = torch.stack((a, b))
    top = 1.0 if full else float(torch.where(both.isfinite() & (both <= 1), both, 0).max()) or 1.0
    left = [[_weight(x, top, full) + " " for x in row] for row in b.tolist()]
    right = [
        [_weight(x, top, full) + ("!" if bad else " ") for x, bad in zip(row, marks, strict=True)]
        for row, marks in zip(a.tolist(), differs.tolist(), strict=True)
    ]
    text = "".join(cell for row in left + right for cell in row)
    legend = ["per cent" if full else f"digits: tenths of {top:.2g}"]
    notes = {".": ". exactly 0", "n": "n NaN", "<": "< below 0", ">": "> above 1", "!": "! differs"}
    return _Drawn(left, right, [*legend, *(words for mark, words in notes.items() if mark in text)])


def _weight(x: float, top: float, full: bool) -> str:
    if math.isnan(x):
        text = "n"
    elif x < 0:
        text = "<"
    elif x > 1.001:
        text = ">"
    elif x == 0:
        text = "."
    else:
        text = str(round(100 * x)) if full else str(min(9, int(10 * x / top)))
    return text.rjust(3) if full else text


def _layout(drawn: _Drawn, rows: _Scale, columns: _Scale, notes: list[str]) -> tuple[str, ...]:
    cell = len(drawn.left[0][0])
    row_name, column_name = ("" if is_unnamed(axis.name) else axis.name[:8] for axis in (rows, columns))
    heads = [f"{row_name or 'row'} {i}" if rows.name else "" for i in rows.indices]
    column_name = column_name or "column"
    margin = max(len(column_name), *(len(head) for head in heads))
    between = " " if cell == 1 else ""
    # a column is as narrow as a digit, so that those of its number stand one above the other
    width = len(str(max(columns.indices)))
    digits = zip(*(str(i).rjust(width) for i in columns.indices), strict=True)
    *above, numbers = (between.join(d.rjust(max(1, cell - 1)).ljust(cell) for d in row) for row in digits)
    # As wide as its heading, or `yours` would begin above the wrong columns.
    wide = max(len(numbers), len("expected"))
    indent = " " * (margin + 2)
    lines = [", ".join(notes)] if notes else []
    lines += [
        f"{indent}{'expected'.ljust(wide)}   yours",
        *(f"{indent}{row.ljust(wide)}   {row}" for row in above),
        f"{column_name.ljust(margin)}  {numbers.ljust(wide)}   {numbers}",
    ]
    for head, a, b in zip(heads, drawn.left, drawn.right, strict=True):
        lines.append(f"{head.ljust(margin)}  {between.join(a).ljust(wide)}   {between.join(b)}")
    lines.append(indent + "   ".join(drawn.legend))
    return tuple(line.rstrip() for line in lines)
