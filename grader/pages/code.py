"""Code as lines of a page: coloured by what a token is, cut to what a page bears, never run."""

from __future__ import annotations

from markupsafe import Markup, escape
from pygments import lex
from pygments.lexers.python import PythonLexer
from pygments.token import Comment, Keyword, Name, Number, String, _TokenType

from grader.pages import text

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
    shown = [text.cut(line) for line in source.splitlines()[:MAX_LINES]]
    whole = "\n".join(shown)
    if not name.lower().endswith((".py", ".ipynb")) or len(whole) > MAX_COLOURED:
        return [escape(line) for line in shown]
    lines: list[list[str]] = [[]]
    for kind, value in lex(whole, PythonLexer(stripnl=False, ensurenl=False)):
        mark = next((word for token, word in _CLASSES if kind in token), None)
        for number, part in enumerate(value.split("\n")):
            if number:
                lines.append([])
            if part:
                told = escape(part)
                lines[-1].append(f'<span class="{mark}">{told}</span>' if mark else str(told))
    return [Markup("".join(parts)) for parts in lines][: len(shown)]
