"""A demo as one HTML page that needs nothing else: no script, no network, readable on a phone and in print."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from grader.demos.exhibit_types import Exhibit
from grader.demos.printing import cell

LONG = 24
"""Letters up to which a cell is one line."""
NARROW_PT = 520.0
"""Pictures up to this width shrink until they fit a phone; wider ones keep their numbers legible and scroll."""


def page(title: str, intro: str, exhibits: Sequence[tuple[Exhibit, str | None]]) -> str:
    """Return the page: each exhibit with its SVG, where it has one."""
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(cell=cell, cell_class=_cell_class, inline=_inline)
    environment.tests["a_number"] = _is_number
    return environment.get_template("page.html").render(title=title, intro=intro, exhibits=exhibits) + "\n"


def _cell_class(value: object) -> Markup:
    kind = "n" if _is_number(value) else "long" if len(cell(value)) > LONG else ""
    return Markup(' class="{}"').format(kind) if kind else Markup()


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _inline(svg: str, title: str, number: int) -> Markup:
    """Make an SVG part of a page: no XML head, a title for readers, names that clash with no other picture."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'\bid="', f'id="p{number}-', svg)
    svg = re.sub(r"url\(#", f"url(#p{number}-", svg)
    svg = re.sub(r'xlink:href="#', f'xlink:href="#p{number}-', svg)
    width = re.search(r'\bwidth="([\d.]+)pt"', svg)
    points = float(width[1]) if width else 0.0
    style = f' style="min-width:{points * (0.53 if points < NARROW_PT else 0.6):.0f}pt"'
    return Markup(svg.replace(">", f'{style} role="img" aria-label="{escape(title)}">', 1))
