"""How everything looks on a terminal: one console, one set of words and glyphs, nothing hostile."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

if TYPE_CHECKING:
    from rich.table import Table

PLAIN_WIDTH = 160
"""How wide output is that goes into a file or a pipe, unless COLUMNS says otherwise."""


@dataclass(frozen=True)
class Look:
    """One status: a glyph, the same in ASCII, the word that always stands beside it, and a colour."""

    glyph: str
    ascii: str
    word: str
    style: str


LOOKS = {
    "pass": Look("✔", "+", "passed", "green"),
    "fail": Look("✘", "x", "failed", "red"),
    "error": Look("!", "!", "error", "red"),
    "timeout": Look("◷", "T", "timed out", "red"),
    "in_progress": Look("▸", ">", "in progress", "cyan"),
    "todo": Look("·", ".", "to do", "dim"),
    "not_started": Look("·", ".", "not started", "dim"),
    "missing": Look("?", "?", "no file", "yellow"),
    "skipped": Look("-", "-", "skipped", "dim"),
}


class _Piped(Console):
    """A console that leaves it to the command line what becomes of a reader that went away; rich's own exits with 1."""

    def on_broken_pipe(self) -> None:
        """Tell the command line."""
        raise BrokenPipeError


def console(*, stderr: bool = False) -> Console:
    """Return a console for results (stdout) or for progress and errors (stderr).

    It reads no markup, guesses no highlights, draws colours only on a terminal and never with NO_COLOR. Off a
    terminal it is 160 columns wide (COLUMNS changes that), so that nothing folds at 80.
    """
    made = _Piped(stderr=stderr, markup=False, highlight=False, emoji=False, force_jupyter=False)
    if not made.is_terminal and not os.environ.get("COLUMNS", "").isdigit():
        made.width = PLAIN_WIDTH
    return made


def has_unicode(target: Console) -> bool:
    """Return whether glyphs beyond ASCII reach the reader."""
    return target.encoding.lower().startswith("utf")


def status_text(status: str, target: Console, *, word: str | None = None) -> Text:
    """Return a status as glyph and word; the colour only repeats what they say."""
    look = LOOKS[status]
    glyph = look.glyph if has_unicode(target) else look.ascii
    return Text(f"{glyph} {word or look.word}", style=look.style)


def keep_whole(table: Table, *columns: int) -> None:
    """Never cut these columns of a table whose rows are in: what stands there is typed.

    rich cuts even columns that do not wrap once the others have given all they have; it heeds their least width.
    """
    for column in (table.columns[number] for number in columns):
        column.min_width = max(cell_len(str(cell)) for cell in (column.header, *column.cells))


def hanging(target: Console, head: Text, body: Text, further: int = 0) -> None:
    """Print `body` behind `head`; where it does not fit on the line it goes on below its own beginning.

    `further`: columns by which the lines below stand further in.
    """
    indent = head.cell_len + further
    width = max(target.width - indent, 20)  # narrower than that, the terminal itself may fold
    body.expand_tabs(4)
    lines = body.wrap(target, width) if head.cell_len + body.cell_len > target.width else [body]
    for number, line in enumerate(lines):
        line.rstrip()
        target.print(
            Text.assemble(head if number == 0 else " " * indent, line),
            no_wrap=True,
            overflow="ignore",
            crop=False,
        )


def bar(part: float, whole: float, target: Console, *, width: int = 20) -> Text:
    """Return a bar that is full when `part` is `whole`, and full only then."""
    filled = width if part >= whole else int(width * part / whole)
    full, empty = ("█", "░") if has_unicode(target) else ("#", "-")
    return Text.assemble((full * filled, "green"), (empty * (width - filled), "dim"))


def points(score: float, whole: float | None = None) -> str:
    """Return points as a person writes them: 3, 2.5, 3/8."""
    text = f"{round(score, 2):g}"
    return text if whole is None else f"{text}/{round(whole, 2):g}"


HOSTILE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters but tab and newline: escape sequences begin with one
    "\u200e\u200f\u202a-\u202e\u2066-\u2069"  # text that reads backwards
    "\u2028\u2029\ud800-\udfff]"  # odd line ends, half characters
)


def safe(text: str) -> str:
    """Return `text` so that a terminal shows it and does not obey it: control characters become `\\x1b`."""
    return HOSTILE.sub(lambda found: ascii(found[0])[1:-1], text.replace("\r\n", "\n"))


def safe_text(text: str, style: str = "") -> Text:
    """Return text from a file or a submission for printing with rich."""
    return Text(safe(text), style=style)
