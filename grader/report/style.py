"""How everything looks on a terminal: one console, one set of words and glyphs, nothing hostile."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from grader.commands import COMMANDS
from grader.report.report import ALREADY_DEDUCTED
from grader.words import printable

if TYPE_CHECKING:
    from rich.table import Table

PLAIN_WIDTH = 160
"""How wide output is that goes into a file or a pipe, unless COLUMNS says otherwise."""


@dataclass(frozen=True)
class Look:
    """One status: a glyph, the same in ASCII, the word that is always next to it, and a colour."""

    glyph: str
    ascii: str
    word: str
    style: str


STATUS_STYLES = {
    "pass": Look("✔", "+", "passed", "green"),
    "fail": Look("✘", "x", "failed", "red"),
    "error": Look("!", "!", "error", "red"),
    "timeout": Look("◷", "T", "timed out", "red"),
    "in_progress": Look("▸", ">", "in progress", "cyan"),
    "todo": Look("·", ".", "to do", "dim"),
    "not_started": Look("·", ".", "not started", "dim"),
    "missing": Look("?", "?", "no file", "yellow"),
    "not_graded": Look("…", "_", "not graded yet", "yellow"),
    "skipped": Look("-", "-", "skipped", "dim"),
    "already_deducted": Look("≈", "~", "already deducted", "yellow"),
}
DEDUCTED = f"{STATUS_STYLES['already_deducted'].glyph} {ALREADY_DEDUCTED}"
"""Sign and words, for pages of plain text."""


IN_NOTEBOOK = "KATA_IN_NOTEBOOK"
"""Set where a notebook runs the command: what a screen tells people to type has `%` before it there."""

_GLUE = "\ue000"
"""A blank at which no line is broken."""
_COMMAND = re.compile(
    rf"(?<![\w/.-])%?kata[ {_GLUE}](?:{'|'.join(COMMANDS)})\b(?: [^\s,;:]+)?(?: --?[a-z][\w-]*)*"
)
_TENSOR_OR_LIST = re.compile(
    r"(?:[\w*]+(?:\[\d+\])? )?(?:float|bfloat|u?int|complex|bool)\d* \[[^\[\]]*\]"
    r"|[\[(][^\[\]()]*[\])]"
)
"""A tensor's name, dtype and shape, or a list, an index or a tuple by itself: they are read as one word."""
_LABEL = re.compile(r"\S{1,8} {2,}(?=\S)")
"""What a line of a message may begin with: `called  …`, `raised  …`."""
_ONE_LINE = 100_000


class Terminal(Console):
    """A console that leaves it to the command line what becomes of a reader that went away; rich's own exits with 1."""

    before_commands = ""
    """What is typed before `kata` where this is read."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterator[Segment]:
        """Render anything: whatever text is in it, a terminal shows it and does not obey it."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(escape_controls(segment.text), segment.style)

    def on_broken_pipe(self) -> None:
        """Tell the command line."""
        raise BrokenPipeError


def console(*, stderr: bool = False, plain_width: int = PLAIN_WIDTH) -> Console:
    """Return a console for results (stdout) or for progress and errors (stderr).

    It reads no markup, guesses no highlights, draws colours only on a terminal and never with NO_COLOR. Off a
    terminal it is 160 columns wide (COLUMNS changes that), so that nothing folds at 80.
    """
    made = Terminal(stderr=stderr, markup=False, highlight=False, emoji=False, force_jupyter=False)
    made.before_commands = "%" if os.environ.get(IN_NOTEBOOK) else ""
    # In a file or a pipe nobody sees a window, and a folded line is harder to search.
    if not made.is_terminal and not os.environ.get("COLUMNS", "").isdigit():
        made.width = plain_width
    return made


def print_message(text: str, *, stderr: bool = False) -> None:
    """Print a message of ours. Off a terminal none of its lines is broken: who looks for a sentence there finds it."""
    print_indented(text, console(stderr=stderr, plain_width=_ONE_LINE))


def print_indented(text: str, out: Console, outer: str = "") -> None:
    """Print a message as it is laid out; what is wider than the terminal goes on below its own beginning."""
    for line in text.splitlines() or [""]:
        body = escape_controls(line)
        indent = len(body) - len(body.lstrip())
        if (label := _LABEL.match(body)) is not None:
            indent = label.end()
        print_hanging(out, f"{outer}{body[:indent]}", body[indent:], further=0 if indent else 2)


def has_unicode(target: Console) -> bool:
    """Return whether glyphs beyond ASCII reach the reader."""
    return target.encoding.lower().startswith("utf")


def status_text(status: str, target: Console, *, word: str | None = None) -> Text:
    """Return a status as glyph and word; the colour only repeats what they say."""
    look = STATUS_STYLES[status]
    glyph = look.glyph if has_unicode(target) else look.ascii
    return Text(f"{glyph} {word or look.word}", style=look.style)


def never_cut(table: Table, *columns: int) -> None:
    """Never cut these columns of a table whose rows are in: what stands there is typed."""
    for column in (table.columns[number] for number in columns):
        column.no_wrap = True  # so that others give what is missing
        # rich cuts even columns that do not wrap once the others have given all they have; it heeds their least
        # width.
        column.min_width = max(cell_len(str(cell)) for cell in (column.header, *column.cells))


def print_hanging(
    target: Console, head: str | Text, body: str | Text, style: str = "", *, further: int = 0
) -> None:
    """Print `body` after `head`; where it does not fit on the line it goes on below its own beginning.

    Commands in it are as a person types them here, and neither they nor paths are broken: they are copied. Nor are
    shapes and lists that fit on a line.

    `style`: of a body that is plain text; `further`: columns by which the lines below stand further in.
    """
    head = Text(head) if isinstance(head, str) else head
    body = safe_text(body, style) if isinstance(body, str) else body
    indent = head.cell_len + further
    width = max(target.width - indent, 20)  # narrower than that, the terminal itself may fold
    # Before it is measured: a tab is as wide as its place says.
    body.expand_tabs(4)
    body = _as_typed(body, getattr(target, "before_commands", ""))
    # rich breaks at any blank, and cuts a word that is longer than a line: the glue keeps together what is copied.
    lines = [body]
    if head.cell_len + body.cell_len > target.width:
        body.plain = _COMMAND.sub(lambda found: unbreakable(found[0]), body.plain)
        body.plain = _TENSOR_OR_LIST.sub(
            lambda found: unbreakable(found[0]) if cell_len(found[0]) <= width else found[0], body.plain
        )
        long = [word for word in body.plain.split() if cell_len(word) > width]
        copied = any("/" in word or _GLUE in word for word in long)
        lines = _between_words(body, width) if copied else list(body.wrap(target, width))
    for number, line in enumerate(lines):
        line.rstrip()
        line.plain = line.plain.replace(_GLUE, " ")
        target.print(
            Text.assemble(head if number == 0 else " " * indent, line),
            no_wrap=True,
            overflow="ignore",
            crop=False,
        )


def _between_words(body: Text, width: int) -> list[Text]:
    """Break a text between words alone: rich cuts a word that is longer than the line, or breaks nothing."""
    lines: list[Text] = []
    for line in body.split(allow_blank=True):
        places, used = [], 0
        for word in re.finditer(r"\s*\S+\s*", line.plain):
            if used and used + cell_len(word[0].rstrip()) > width:
                places.append(word.start())
                used = 0
            used += cell_len(word[0])
        lines += line.divide(places)
    return lines


def unbreakable(text: str) -> str:
    """Return a text that `print_hanging` breaks nowhere."""
    return text.replace(" ", _GLUE)


def _as_typed(body: Text, before: str) -> Text:
    places = (
        [found.start() for found in _COMMAND.finditer(body.plain) if found[0].startswith("kata")]
        if before
        else []
    )
    return Text(before).join(body.divide(places)) if places else body


def never_split_words(table: Table, *columns: int) -> None:
    """Never cut a word of these columns of a table whose rows are in; between words they may go on below."""
    for column in (table.columns[number] for number in columns):
        column.min_width = max(cell_len(word) for cell in column.cells for word in ("", *str(cell).split()))


def bar(part: float, whole: float, target: Console, *, width: int = 20) -> Text:
    """Return a bar that is full when `part` is `whole`, and full only then."""
    filled = width if part >= whole else int(width * part / whole)
    full, empty = ("█", "░") if has_unicode(target) else ("#", "-")
    return Text.assemble((full * filled, "green"), (empty * (width - filled), "dim"))


def points(score: float | None, whole: float | None = None) -> str:
    """Return points as a person writes them: 3, 2.5, 3/8; a dash where there is no mark."""
    text = "-" if score is None else f"{round(score, 2):g}"
    return text if whole is None else f"{text}/{round(whole, 2):g}"


def out_of(score: float | None, whole: float) -> str:
    """Return points as a sentence has them: 0.5 of 2 points."""
    return f"{points(score)} of {points(whole)} {'point' if whole == 1 else 'points'}"


def escape_controls(text: str) -> str:
    """Return `text` so that a terminal shows it and does not obey it: control characters become `\\x1b`."""
    return printable(text.replace("\r\n", "\n"), keep="\t\n")


def safe_text(text: str, style: str = "") -> Text:
    """Return text from a file or a submission for printing with rich."""
    return Text(escape_controls(text), style=style)
