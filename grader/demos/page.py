"""A demo as one HTML page that needs nothing else: no script, no network, readable on a phone and in print."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence

from grader.demos.model import Exhibit, Table, Text
from grader.demos.terminal import cell

CSS = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.15rem; margin-top: 2.2rem; }
figure { margin: 0; overflow-x: auto; background: #fff; color: #000; border-radius: 6px; padding: .5rem; }
figure svg { display: block; max-width: 100%; height: auto; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .7rem; border-bottom: 1px solid #8884; text-align: left; vertical-align: top; }
th { vertical-align: bottom; } td { white-space: nowrap; } td.long { white-space: normal; min-width: 14rem; }
th.n, td.n { text-align: right; }
.note { color: #666; font-size: .92rem; margin-top: .5rem; }
@media (prefers-color-scheme: dark) { .note { color: #aaa; } }
@media print { h2 { break-after: avoid; } figure, table { break-inside: avoid; } }
"""
LONG = 24
"""Letters up to which a cell is one line."""
NARROW_PT = 520.0
"""Pictures up to this width shrink until they fit a phone; wider ones keep their numbers legible and scroll."""


def page(title: str, intro: str, exhibits: Sequence[tuple[Exhibit, str | None]]) -> str:
    """Return the page: each exhibit with its SVG, where it has one."""
    parts = [_section(exhibit, svg, number) for number, (exhibit, svg) in enumerate(exhibits, 1)]
    body = "\n".join(parts)
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html.escape(title)}</title>\n<style>{CSS}</style>\n</head>\n<body>\n"
        f'<h1>{html.escape(title)}</h1>\n<p class="note">{html.escape(intro)}</p>\n{body}\n</body>\n</html>\n'
    )


def _section(exhibit: Exhibit, svg: str | None, number: int) -> str:
    parts = [f"<section>\n<h2>{html.escape(exhibit.title)}</h2>"]
    if isinstance(exhibit, Text):
        parts += [f"<p>{html.escape(p)}</p>" for p in exhibit.body.strip().split("\n\n")]
    elif isinstance(exhibit, Table):
        parts.append(_table(exhibit))
    elif svg is not None:
        parts.append(f"<figure>{_inline(svg, exhibit.title, number)}</figure>")
    if exhibit.note:
        parts.append(f'<p class="note">{html.escape(exhibit.note)}</p>')
    parts.append("</section>")
    return "\n".join(parts)


def _table(exhibit: Table) -> str:
    numeric = [
        all(_is_number(row[i]) for row in exhibit.rows if i < len(row)) for i in range(len(exhibit.columns))
    ]
    head = "".join(
        f'<th class="n">{html.escape(column)}</th>' if right else f"<th>{html.escape(column)}</th>"
        for column, right in zip(exhibit.columns, numeric, strict=True)
    )
    rows = []
    for row in exhibit.rows:
        rows.append(f"<tr>{''.join(_cell(value) for value in row)}</tr>")
    body = "".join(rows)
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _cell(value: object) -> str:
    text = cell(value)
    kind = ' class="n"' if _is_number(value) else ' class="long"' if len(text) > LONG else ""
    return f"<td{kind}>{html.escape(text)}</td>"


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _inline(svg: str, title: str, number: int) -> str:
    """Make an SVG part of a page: no XML head, a title for readers, names that clash with no other picture."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'\bid="', f'id="p{number}-', svg)
    svg = re.sub(r"url\(#", f"url(#p{number}-", svg)
    svg = re.sub(r'xlink:href="#', f'xlink:href="#p{number}-', svg)
    width = re.search(r'\bwidth="([\d.]+)pt"', svg)
    points = float(width[1]) if width else 0.0
    style = f' style="min-width:{points * (0.53 if points < NARROW_PT else 0.6):.0f}pt"'
    return svg.replace(">", f'{style} role="img" aria-label="{html.escape(title)}">', 1)
