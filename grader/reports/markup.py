"""A verdict for a notebook: what the terminal prints as HTML, with its pictures drawn, and as plain text."""

from __future__ import annotations

import html
import io
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rich.terminal_theme import TerminalTheme

from grader.reports.report import KataReport
from grader.reports.style import Terminal
from grader.reports.terminal import print_reports

WIDTH = 100
_HEAD = re.compile(r"^ +expected +yours$")
_CELLS = re.compile(r"[^\s!]+!?|!")
_CELL = 18
"""Pixels of one cell of a picture, as wide as two digits."""
_GREEN, _RED, _AMBER, _CYAN = (46, 134, 67), (208, 58, 66), (166, 110, 0), (20, 130, 150)
"""Seen on white and on near black."""
PAGE = 0.3
"""The part of the page's own colour in coloured text: with it, text is darker on white and lighter on near black."""
COLOURS = (_GREEN, _RED, _AMBER, _CYAN)
_GREY = (128, 128, 128)
_THEME = TerminalTheme((255, 255, 255), _GREY, [_GREY, _RED, _GREEN, _AMBER, _CYAN, _RED, _CYAN, _GREY])
_PRE = "<pre style='margin:0;white-space:pre-wrap;font-family:monospace;line-height:1.35;background:none'>{code}</pre>"
_COLOUR = re.compile(r"color: #([0-9a-f]{6}); text-decoration-color: #[0-9a-f]{6}")


def verdict_text(reports: Sequence[KataReport], *, verbose: bool = False, quiet: bool = False) -> str:
    """Return what a terminal would say, in plain text."""
    return _printed(reports, verbose=verbose, quiet=quiet).export_text().strip("\n")


def verdict_html(reports: Sequence[KataReport], *, verbose: bool = False, quiet: bool = False) -> str:
    """Return the same as HTML of inline styles, without a script; colours fit a light page and a dark one."""
    plain = verdict_text(reports, verbose=verbose, quiet=quiet).split("\n")
    shown = _printed(reports, verbose=verbose, quiet=quiet).export_html(
        theme=_THEME, inline_styles=True, code_format="{code}"
    )
    lines = shown.strip("\n").split("\n")
    pieces, place = "", 0
    for picture in _pictures(plain):
        pieces += _block(lines[place : picture.first]) + _drawn(picture)
        place = picture.last + 1
    pieces += _block(lines[place:])
    return f"<div style='max-width:60em'>{pieces}</div>"


def note_html(note: str) -> str:
    """Return a remark below a verdict."""
    return f"<div style='opacity:.75'>{html.escape(note)}</div>" if note else ""


def _printed(reports: Sequence[KataReport], *, verbose: bool, quiet: bool) -> Terminal:
    out = Terminal(
        file=io.StringIO(), record=True, width=WIDTH, markup=False, highlight=False, emoji=False,
        force_terminal=True, color_system="standard", legacy_windows=False, force_jupyter=False,
    )  # fmt: skip
    out.before_commands = "%"
    print_reports(reports, out, verbose=verbose, quiet=quiet)
    return out


def _block(lines: Sequence[str]) -> str:
    # What is dim or white on a terminal takes the page's own colour here.
    text = _COLOUR.sub(lambda found: _ink(found[1]), "\n".join(lines))
    return _PRE.format(code=text) if text.strip() else ""


def _ink(code: str) -> str:
    if tuple(bytes.fromhex(code)) not in COLOURS:
        return "opacity:.75"
    mixed = f"color-mix(in srgb,currentColor {PAGE:.0%},#{code})"
    return f"color:#{code};color:{mixed}"  # the first is for browsers that cannot mix


class _Picture(NamedTuple):
    """What `grader.checks.picture` laid out, read back from the lines of a message: a report holds no more."""

    first: int
    last: int
    columns: list[str]
    rows: list[tuple[str, list[str], list[str]]]
    """What a row is called, the expected cells, and yours."""
    axis: str
    legend: str


def _pictures(lines: Sequence[str]) -> Iterator[_Picture]:
    heads = [place for place, line in enumerate(lines) if _HEAD.match(line)]
    return filter(None, (_picture(lines, place) for place in heads))


def _picture(lines: Sequence[str], first: int) -> _Picture | None:
    """Read a picture whose first line says "expected   yours"; None where it is laid out in another way."""
    left, right = lines[first].index("expected"), lines[first].index("yours")
    below = lines[first + 1 :]
    named = [bool(line[:left].strip()) for line in below]
    try:  # above the units of the columns' numbers may be tens; below the rows is the legend
        units = named.index(True)
        end = named.index(False, units)
    except ValueError:
        return None
    heads = [line.ljust(right) for line in below[: units + 1]]
    columns = [
        "".join(line[at] for line in heads).strip() for at in range(left, right) if heads[-1][at] != " "
    ]
    rows = [
        (line[:left].strip(), _CELLS.findall(line[left:right]), _CELLS.findall(line[right:]))
        for line in below[units + 1 : end]
    ]
    if not rows or not columns or any({len(a), len(b)} != {len(columns)} for _, a, b in rows):
        return None
    return _Picture(first, first + 1 + end, columns, rows, heads[-1][:left].strip(), below[end].strip())


def _drawn(picture: _Picture) -> str:
    """Draw a picture as SVG; what stands in it was made by the grader, and is escaped all the same."""
    size = _CELL if max(len(cell) for _, a, b in picture.rows for cell in a + b) < 3 else _CELL * 2
    margin = 8 * max(len(picture.axis), *(len(name) for name, _, _ in picture.rows)) + 12
    across = size * len(picture.columns)
    width, height = margin + 2 * across + 40, _CELL * (len(picture.rows) + 2) + 8
    parts = [
        f"<svg role='img' xmlns='http://www.w3.org/2000/svg' width='{width}' height='{height}' "
        f"viewBox='0 0 {width} {height}' font-family='monospace' font-size='12' fill='currentColor' "
        "style='display:block;max-width:100%;margin:.3em 0'>",
        f"<title>{html.escape('expected and yours; ' + picture.legend)}</title>",
        _text(margin, 13, "expected"),
        _text(margin + across + 30, 13, "yours"),
        _text(4, 31, picture.axis),
    ]
    for side, start in ((1, margin), (2, margin + across + 30)):
        for column, number in enumerate(picture.columns):
            parts.append(_text(start + column * size + size / 2, 31, number, "middle"))
        for row, line in enumerate(picture.rows):
            for column, cell in enumerate(line[side]):
                parts.append(_square(start + column * size, 38 + row * _CELL, size, cell))
    parts += [_text(4, 51 + row * _CELL, name) for row, (name, _, _) in enumerate(picture.rows)]
    told = picture.legend.replace("# allowed", "■ allowed").replace(". blocked", "□ blocked")
    legend = f"<div style='opacity:.75;font-family:monospace'>{html.escape(told)}</div>"
    return "".join(parts) + "</svg>" + legend


def _square(x: float, y: float, size: int, cell: str) -> str:
    """Draw a cell: what is wrong has a red frame and its mark, so that colour alone says nothing."""
    wrong = cell.endswith("!") or cell == "x"
    number = cell.rstrip("!")
    share = 0.85 if cell == "#" else 0.0
    if number.isdecimal():
        share = min(int(number) / (100 if size > _CELL else 9), 1.0) * 0.6
    frame = f"rgb{_RED}" if wrong else "currentColor"
    parts = (
        f"<rect x='{x + 1:g}' y='{y + 1:g}' width='{size - 2}' height='{_CELL - 2}' rx='2' fill='rgb{_CYAN}' "
        f"fill-opacity='{share:.2f}' stroke='{frame}' stroke-opacity='{1 if wrong else 0.3}' "
        f"stroke-width='{2 if wrong else 1}'/>"
    )
    shown = "" if cell in "#." else cell
    return parts + (_text(x + size / 2, y + 13, shown, "middle") if shown else "")


def _text(x: float, y: float, text: str, anchor: str = "start") -> str:
    return f"<text x='{x:g}' y='{y:g}' text-anchor='{anchor}'>{html.escape(text)}</text>"
