"""A verdict for a notebook: what the terminal prints as HTML, and as plain text."""

from __future__ import annotations

import html
import io
import re
from collections.abc import Sequence

from rich.terminal_theme import TerminalTheme

from grader.report.report import KataReport
from grader.report.style import Terminal
from grader.report.terminal import print_reports

WIDTH = 100
_GREEN, _RED, _AMBER, _CYAN = (46, 134, 67), (208, 58, 66), (166, 110, 0), (20, 130, 150)
"""Seen on white and on near black."""
PAGE = 0.3
"""The part of the page's own colour in coloured text: with it, text is darker on white and lighter on near black."""
COLOURS = (_GREEN, _RED, _AMBER, _CYAN)
_GREY = (128, 128, 128)
_THEME = TerminalTheme((255, 255, 255), _GREY, [_GREY, _RED, _GREEN, _AMBER, _CYAN, _RED, _CYAN, _GREY])
_UNBROKEN = 10_000
"""Columns of what becomes HTML: there the page breaks lines, which may be a phone's."""
_PRE = (
    "<pre style='margin:0;white-space:pre;overflow-x:auto;font-family:monospace;line-height:1.35;background:none'>"
    "{code}</pre>"
)
_SPAN = re.compile(r"(<span [^>]*>)[^<]*</span>")
_TAG = re.compile(r"<[^>]*>")
_COLOUR = re.compile(r"color: #([0-9a-f]{6}); text-decoration-color: #[0-9a-f]{6}")


def verdict_text(reports: Sequence[KataReport], *, verbose: bool = False, quiet: bool = False) -> str:
    """Return what a terminal would say, in plain text."""
    return _printed(reports, WIDTH, verbose=verbose, quiet=quiet).export_text().strip("\n")


def verdict_html(reports: Sequence[KataReport], *, verbose: bool = False, quiet: bool = False) -> str:
    """Return the same as HTML of inline styles, without a script; colours fit a light page and a dark one."""
    shown = _printed(reports, _UNBROKEN, verbose=verbose, quiet=quiet).export_html(
        theme=_THEME, inline_styles=True, code_format="{code}"
    )
    # What is dim or white on a terminal takes the page's own colour here.
    text = _COLOUR.sub(lambda found: _ink(found[1]), shown.strip("\n"))
    text = _SPAN.sub(lambda found: found[0].replace("\n", f"</span>\n{found[1]}"), text)
    lines = "".join(map(_line, text.split("\n")))
    return f"<div style='max-width:60em'>{_PRE.format(code=lines)}</div>"


def _line(line: str) -> str:
    """Return a line as a block; one of words goes on below its own beginning, a picture's would be torn apart."""
    plain = _TAG.sub("", line)
    indent = len(plain) - len(plain.lstrip())
    style = "display:block"
    if indent <= 2 or "  " not in plain.strip():
        style += f";white-space:pre-wrap;padding-left:{indent + 2}ch;text-indent:-{indent + 2}ch"
    return f"<span style='{style}'>{line}\n</span>"


def note_html(note: str) -> str:
    """Return a remark below a verdict."""
    lines = "<br>".join(html.escape(line) for line in note.splitlines())
    return f"<div style='opacity:.75'>{lines}</div>" if note else ""


def _printed(reports: Sequence[KataReport], width: int, *, verbose: bool, quiet: bool) -> Terminal:
    out = Terminal(
        file=io.StringIO(),
        record=True,
        width=width,
        markup=False,
        highlight=False,
        emoji=False,
        force_terminal=True,
        color_system="standard",
        legacy_windows=False,
        force_jupyter=False,
    )
    out.before_commands = "%"
    print_reports(reports, out, verbose=verbose, quiet=quiet)
    return out


def _ink(code: str) -> str:
    if tuple(bytes.fromhex(code)) not in COLOURS:
        return "opacity:.75"
    mixed = f"color-mix(in srgb,currentColor {PAGE:.0%},#{code})"
    return f"color:#{code};color:{mixed}"  # the first is for browsers that cannot mix
