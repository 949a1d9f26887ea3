"""A pack's Markdown as HTML, without raw HTML, pictures or links that lead outside."""

from __future__ import annotations

from markdown_it import MarkdownIt
from markupsafe import Markup

from grader.reports.style import safe

_markdown = MarkdownIt("commonmark", {"html": False}).disable(["image", "link", "autolink"])


def prose(text: str) -> Markup:
    """Return paragraphs, lists and blocks of code."""
    return Markup(_markdown.render(safe(text)))


def inline(text: str) -> Markup:
    """Return one line with its code, bold and slanted words."""
    return Markup(_markdown.renderInline(safe(text)))
