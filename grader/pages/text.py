"""Texts of a page: what a submission had a hand in, cut to what it can bear; a pack's words, as HTML or Markdown."""

from __future__ import annotations

import re

from markdown_it import MarkdownIt
from markupsafe import Markup

from grader.reports.style import safe

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


def message(text: str) -> str:
    """Return the first lines of a message, without what a reader's program would obey instead of showing."""
    lines = safe(text[:LIMIT]).rstrip("\n").split("\n")[:MESSAGE_LINES]
    more = text.rstrip("\n").count("\n") + 1 - len(lines)
    kept = [_line(line) for line in lines]
    return "\n".join([*kept, f"… {more} more lines"] if more > 0 else kept)


def output(text: str) -> str:
    """Return the last lines of what a submission printed."""
    text = text.rstrip("\n")
    lines = safe(text[-LIMIT:]).split("\n")[-OUTPUT_LINES:]
    left = text.count("\n") + 1 - len(lines)
    kept = [_line(line) for line in lines]
    return "\n".join([f"… {left} earlier lines", *kept] if left > 0 else kept)


def name(text: str) -> str:
    """Return a name on one line."""
    flat = " ".join(safe(text[: NAME + 1]).split()) or "(no name)"
    return flat if len(flat) <= NAME else flat[: NAME - 1] + "…"


def cut(line: str) -> str:
    """Return one line of a text, printable and no longer than a page bears."""
    return _line(safe(line[: COLUMNS + 1]))


def _line(line: str) -> str:
    return line if len(line) <= COLUMNS else line[: COLUMNS - 1] + "…"


def prose(text: str) -> Markup:
    """Return paragraphs, lists and blocks of code."""
    return Markup(_markdown.render(safe(text)))


def inline(text: str) -> Markup:
    """Return one line with its code, bold and slanted words."""
    return Markup(_markdown.renderInline(safe(text)))


def plain(text: str) -> str:
    """Return text that Markdown shows letter by letter, on one line."""
    told = _MEANING.sub(lambda found: "\\" + found[0], " ".join(safe(text).split()))
    return _NUMBERED.sub(r"\1\\\2", told)


def fenced(text: str) -> str:
    """Return text as a block of code, whose fence is longer than any run of backticks in it."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{safe(text)}\n{fence}"
