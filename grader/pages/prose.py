"""A pack's few lines of Markdown as HTML: paragraphs, lists, code. Whatever else there is stays as it was written."""

from __future__ import annotations

import re

from markupsafe import Markup, escape

from grader.reports.style import safe

_ITEM = re.compile(r"[-*] +(.*)|\d+[.)] +(.*)")
_INLINE = re.compile(r"`([^`]+)`|\*\*([^*]+)\*\*|\*([^*\s][^*]*)\*")


def inline(text: str) -> Markup:
    """Return one line with its code, bold and slanted words."""
    made, end = [], 0
    text = safe(text)
    for found in _INLINE.finditer(text):
        made.append(escape(text[end : found.start()]))
        tag = ("code", "strong", "em")[found.lastindex - 1] if found.lastindex else "span"
        made.append(Markup("<{0}>{1}</{0}>").format(Markup(tag), found[found.lastindex or 0]))
        end = found.end()
    return Markup("").join([*made, escape(text[end:])])


def prose(text: str) -> Markup:
    """Return a few paragraphs, lists and blocks of code."""
    blocks: list[tuple[str, list[str]]] = []
    fence = None
    fresh = True
    for line in text.splitlines():
        mark = re.match(r" {0,3}(```+|~~~+)", line)
        if mark and (fence is None or mark[1].startswith(fence)):
            fence = mark[1] if fence is None else None
            blocks.append(("pre" if fence else "", []))
        elif fence is not None:
            blocks[-1][1].append(line)
        elif not line.strip():
            fresh = True
        elif item := _ITEM.match(line):
            kind = "ul" if item[1] is not None else "ol"
            if not blocks or blocks[-1][0] != kind:
                blocks.append((kind, []))
            blocks[-1][1].append(item[1] if item[1] is not None else item[2])
            fresh = False
        elif not fresh and blocks and blocks[-1][0] in ("ul", "ol", "p"):
            blocks[-1][1][-1] += " " + line.strip()
        else:
            blocks.append(("p", [line.strip()]))
            fresh = False
    return Markup("\n").join(_block(kind, lines) for kind, lines in blocks if lines)


def _block(kind: str, lines: list[str]) -> Markup:
    if kind == "pre":
        return Markup('<pre tabindex="0">{}</pre>').format(safe("\n".join(lines)))
    if kind in ("ul", "ol"):
        items = Markup("").join(Markup("<li>{}</li>").format(inline(line)) for line in lines)
        return Markup("<{0}>{1}</{0}>").format(Markup(kind), items)
    return Markup("<p>{}</p>").format(inline(lines[0]))
