"""Texts of a page: what a submission had a hand in, cut to what it can bear; a pack's words; code, never run."""

from __future__ import annotations

import re
from functools import cache

from markdown_it import MarkdownIt
from markupsafe import Markup, escape
from pygments import lex
from pygments.lexers.python import PythonLexer
from pygments.token import Comment, Keyword, Name, Number, String, _TokenType

from grader.instructor.gradebook.identities import words_in
from grader.instructor.submissions.names import natural_key
from grader.report.style import escape_controls

MESSAGE_LINES = 80
OUTPUT_LINES = 40
COLUMNS = 400
"""Letters of the longest line; a message's own limit is far below."""
LIMIT = MESSAGE_LINES * COLUMNS
"""Letters of a text that are looked at."""
NAME = 120
"""Letters of the longest name."""

_MEANING = re.compile(r"([\\`*_\[\]<>|~&#@$])|(?<=:)(?=//)|(?<=\bwww)(?=\.)|^(?=[-+=])")
_NUMBERED = re.compile(r"^(\d{1,9})([.)])(?=\s|$)")
"""What Markdown would take for a sign of its own."""

_markdown = MarkdownIt("commonmark", {"html": False}).disable(["image", "link", "autolink"])
"""A pack's words: no raw HTML, no pictures, no links that lead outside."""


def truncated_head(text: str) -> str:
    """Return the first lines of a message, without what a reader's program would obey instead of showing."""
    lines = escape_controls(text[:LIMIT]).rstrip("\n").split("\n")[:MESSAGE_LINES]
    more = text.rstrip("\n").count("\n") + 1 - len(lines)
    shown = [_line(line) for line in lines]
    return "\n".join([*shown, f"… {more} more lines"] if more > 0 else shown)


def message_html(text: str, lines: int = 0) -> Markup:
    """Return a message as HTML: lines of words wrap, those of pictures and tables scroll.

    Args:
        text: the message.
        lines: how many lines the answer's first file has on the page: `line 21` becomes a link to it.
    """
    return Markup("\n").join(_shown_line(line, lines) for line in text.split("\n"))


def _shown_line(line: str, lines: int) -> Markup:
    shown_line = escape(line)
    if lines:
        shown_line = Markup(_LINE.sub(lambda found: _link(found, lines), str(shown_line)))
    # A row of a picture would mean nothing when it is broken: it keeps its columns. What was called with is none.
    picture = not re.search(r"[a-z]{3}", line) or re.search(r"\S {3,}\S|^ {3,}", line)
    if picture and not _CALLED.search(line):
        return shown_line
    # A browser breaks after a hyphen, and of -inf only the minus would stay.
    whole = _MINUS.sub(r'<span class="whole">\g<0></span>', str(shown_line))
    return Markup('<span class="words">{}</span>').format(Markup(whole))


_CALLED = re.compile(r"^called |\b(?:bool|u?int|b?float)\d* \[")
_MINUS = re.compile(r"[\w.]{0,20}-\w[\w.]{0,20}(?![^<]*>)")
_LINE = re.compile(r"\bline (\d{1,5})\b")


def _link(found: re.Match[str], lines: int) -> str:
    number = int(found[1])
    return f'<a href="#f1-{number}">{found[0]}</a>' if 1 <= number <= lines else found[0]


def truncated_tail(text: str) -> str:
    """Return the last lines of what a submission printed."""
    text = text.rstrip("\n")
    lines = escape_controls(text[-LIMIT:]).split("\n")[-OUTPUT_LINES:]
    left = text.count("\n") + 1 - len(lines)
    shown = [_line(line) for line in lines]
    return "\n".join([f"… {left} earlier lines", *shown] if left > 0 else shown)


def name(text: str) -> str:
    """Return a name on one line."""
    flat = " ".join(escape_controls(text[: NAME + 1]).split()) or "(no name)"
    return flat if len(flat) <= NAME else flat[: NAME - 1] + "…"


def last_name(name: str) -> str:
    """Return the last name, or a name's last word, folded for sorting."""
    before, comma, _ = name.partition(",")
    return " ".join(words_in(before if comma else name.rpartition(" ")[2]))


@cache
def by_last_name(name: str) -> tuple[object, ...]:
    """Return what sorts names as class lists have them."""
    return natural_key(last_name(name)), natural_key(name)


def cut(line: str) -> str:
    """Return one line of a text, printable and no longer than a page bears."""
    return _line(escape_controls(line[: COLUMNS + 1]))


def _line(line: str) -> str:
    return line if len(line) <= COLUMNS else line[: COLUMNS - 1] + "…"


def prose(text: str) -> Markup:
    """Return paragraphs, lists and blocks of code."""
    return Markup(_markdown.render(escape_controls(text)))


def inline(text: str) -> Markup:
    """Return one line with its code, bold and slanted words."""
    return Markup(_markdown.renderInline(escape_controls(text)))


def escape_markdown(text: str) -> str:
    """Return text that Markdown shows letter by letter, on one line."""
    escaped = _MEANING.sub(lambda found: "\\" + found[0], " ".join(escape_controls(text).split()))
    return _NUMBERED.sub(r"\1\\\2", escaped)


def fenced(text: str) -> str:
    """Return text as a block of code, whose fence is longer than any run of backticks in it."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{escape_controls(text)}\n{fence}"


# Code

MAX_LINES = 3000
"""Of one file; the rest is counted."""
MAX_COLOURED = 200_000
"""Letters that are coloured; a longer file is shown plain."""

_CLASSES: tuple[tuple[_TokenType, str], ...] = (
    (Comment, "t-c"),
    (String, "t-s"),
    (Number, "t-m"),
    (Keyword, "t-k"),
    (Name.Function, "t-f"),
    (Name.Class, "t-f"),
    (Name.Decorator, "t-f"),
    (Name.Builtin, "t-b"),
)


def code_lines(name: str, source: str) -> list[Markup]:
    """Return the lines of a file as HTML: of Python and notebooks coloured; at most `MAX_LINES`."""
    shown = [cut(line) for line in source.splitlines()[:MAX_LINES]]
    whole = "\n".join(shown)
    # The lexer takes time that grows with the text, and may be made to take more.
    if not name.lower().endswith((".py", ".ipynb")) or len(whole) > MAX_COLOURED:
        return [escape(line) for line in shown]
    lines: list[list[str]] = [[]]
    for kind, value in lex(whole, PythonLexer(stripnl=False, ensurenl=False)):
        mark = next((word for token, word in _CLASSES if kind in token), None)
        # A token may span lines, such as a docstring: every line closes its own spans.
        for number, part in enumerate(value.split("\n")):
            if number:
                lines.append([])
            if part:
                escaped = escape(part)
                lines[-1].append(f'<span class="{mark}">{escaped}</span>' if mark else str(escaped))
    return [Markup("".join(parts)) for parts in lines][: len(shown)]
