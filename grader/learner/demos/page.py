"""A demo as one HTML page that needs nothing else: no network; readable on a phone, on paper, and without scripts."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from markupsafe import Markup, escape

from grader.files import write_atomic
from grader.learner.demos.exhibit_types import Exhibit, Still
from grader.learner.demos.pictures import NARROW, draw
from grader.learner.demos.printing import cells, of_numbers
from grader.report.html import environment, hash_of

HERE = Path(__file__).parent
LONG = 24
"""Letters up to which a cell is one line."""
SMALLEST = 0.66
"""How far a picture shrinks on a phone: below that its numbers cannot be read, so it scrolls."""


def write_page(
    folder: Path, title: str, intro: str, exhibits: Sequence[Exhibit], scripts: Mapping[str, str]
) -> list[Path]:
    """Write each picture as a file, and the page; return the files, the page last."""
    drawn = [(exhibit, draw(exhibit)) for exhibit in exhibits]
    pictures = [
        (folder / f"{number:02}.svg", svg) for number, (_, svg) in enumerate(drawn, 1) if svg is not None
    ]
    files = [*pictures, (folder / "index.html", page(title, intro, drawn, scripts))]
    for file, text in files:
        write_atomic(file, text)
    return [file for file, _ in files]


def page(
    title: str,
    intro: str,
    exhibits: Sequence[tuple[Exhibit, str | None]],
    scripts: Mapping[str, str] | None = None,
) -> str:
    """Return the page.

    Args:
        title: its heading.
        intro: said below it.
        exhibits: each with its SVG, where it has one.
        scripts: the sources of what is played, by the names that the exhibits give. They are the pack's; texts and
            numbers of a demo stay data.
    """
    made = environment(HERE)
    count = itertools.count(1)

    # Numbered, since several pictures of one page must not share the names of their parts.
    def picture(exhibit: Still, svg: str | None = None) -> Markup | None:
        svg = svg or draw(exhibit)
        if svg is None:
            return None
        drawn = _inline(svg, exhibit.title, next(count))
        # On a phone the end of a curve, or the second of two maps, would be out of sight: it has one of its own.
        below = draw(exhibit, NARROW) or ""
        return drawn + _inline(below, exhibit.title, next(count), "narrow")

    # A page without anything to play with runs no script at all, and its policy allows none.
    sources = {"": (HERE / "play.js").read_text(encoding="utf-8"), **(scripts or {})}
    playing = any(hasattr(exhibit, "frames") or hasattr(exhibit, "script") for exhibit, _ in exhibits)
    code = {name: f"{source.rstrip()}\n" for name, source in sources.items()} if playing else {}
    hashes = " ".join(hash_of(source) for source in code.values()) or "'none'"
    made.globals.update(
        cells=cells,
        cell_class=_cell_class,
        of_numbers=of_numbers,
        picture=picture,
        # JSON that cannot end the element it is in
        as_data=lambda value: Markup(json.dumps(value, ensure_ascii=False).replace("<", "\\u003c")),
        scripts=[Markup(source) for source in code.values()],
        policy=f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src {hashes}; base-uri 'none'",
    )
    return made.get_template("page.html").render(title=title, intro=intro, exhibits=exhibits) + "\n"


def _cell_class(text: str, number: bool) -> Markup:
    kind = "n" if number else "long" if len(text) > LONG else ""
    return Markup(' class="{}"').format(kind) if kind else Markup()


def _inline(svg: str, title: str, number: int, kind: str = "wide") -> Markup:
    """Make an SVG part of a page: no XML head, a title for readers, names that clash with no other picture."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'(<image\b[^>]*) id="[^"]*"', r"\1", svg)  # equal maps have one id; nothing asks for it
    svg = re.sub(r'\bid="', f'id="p{number}-', svg)
    svg = re.sub(r"url\(#", f"url(#p{number}-", svg)
    svg = re.sub(r'xlink:href="#', f'xlink:href="#p{number}-', svg)
    width = re.search(r'\bwidth="([\d.]+)pt"', svg)
    points = float(width[1]) if width else 0.0
    style = f' style="min-width:{points * SMALLEST:.0f}pt; max-width:{points * 1.4:.0f}pt"'
    return Markup(svg.replace(">", f'{style} class="{kind}" role="img" aria-label="{escape(title)}">', 1))
