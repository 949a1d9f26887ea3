"""Pages from templates: everything inside, nothing from outside, and nothing that a text of a learner's could run."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment
from markupsafe import Markup

from grader.instructor.html import class_tally, text
from grader.report.html import environment, hash_of
from grader.report.report import ALREADY_DEDUCTED
from grader.report.style import STATUS_STYLES, out_of, points

TEMPLATES = Path(__file__).parent / "templates"


def page(template: str, *folders: Path, **values: Any) -> str:
    """Return the page that `template`, from one of these folders or from here, makes of `values`.

    The page may use its own style and script, known by their hashes, and nothing else: no other script, no style
    attribute, no picture, font, frame, form or request.
    """
    return _environment(*folders).get_template(template).render(values)


def environment_of(*folders: Path) -> Environment:
    """Return what makes pages of the templates in these folders, and of those here: everything in them is escaped."""
    made = environment(*folders, TEMPLATES)
    made.globals.update(
        looks=STATUS_STYLES,
        deducted=ALREADY_DEDUCTED,
        out_of=out_of,
        histogram=class_tally.histogram,
        slices=class_tally.slices,
    )
    made.filters.update(
        points=points, percent=_percent, short=lambda value: "" if value is None else f"{value:.2f}",
        mean=class_tally.mean, median=class_tally.median, most=lambda values: max(values, default=None),
        prose=text.prose, shown=text.message_html, inline=text.inline, plain=text.escape_markdown,
        last_name=text.last_name, fenced=text.fenced,
    )  # fmt: skip
    return made


@cache
def _environment(*folders: Path) -> Environment:
    made = environment_of(*folders)
    # In the page itself, so that it works from a file; the policy allows just these, by their hashes.
    style, script, walk = _source("style.css"), _source("table.js"), _source("walk.js")
    made.globals.update(
        style=Markup(style),
        script=Markup(script),
        walk=Markup(walk),
        policy=(
            f"default-src 'none'; style-src {hash_of(style)}; script-src {hash_of(script)} {hash_of(walk)}; "
            "base-uri 'none'; form-action 'none'"
        ),
    )
    return made


def _percent(part: float | None) -> str:
    """Return a part of one as a whole number of per cent: 100 and 0 only when it is all or nothing."""
    if part is None:
        return "\N{EN DASH}"
    rounded = round(100 * part)
    if rounded == 100 and part < 1:
        rounded = 99
    elif rounded == 0 and part > 0:
        rounded = 1
    return f"{rounded} %"


def _source(name: str) -> str:
    return (TEMPLATES / name).read_text(encoding="utf-8")
