"""`kata list`: everything there is, and how far you are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from grader.catalogue import Kata, Unit
from grader.cli.context import LearnerContext, here, json_option, print_json
from grader.cli.status import describe, passed_summary, status_words
from grader.report.style import console, never_cut, never_split_words, points, safe_text, status_text

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

WIDEST = 1000
"""Columns in which a table is as wide as it wants to be."""


@click.command("list", short_help="Show every unit and kata with your progress.")
@json_option
def list_katas(as_json: bool) -> None:
    """Show every unit and kata with your progress.

    \b
    Example:
      kata list
      kata list --json
    """
    place = here()
    if as_json:
        print_json(
            {
                "units": [
                    {
                        "number": unit.number,
                        "slug": unit.slug,
                        "title": unit.title,
                        "pack": unit.pack.name,
                        "katas": [describe(place, kata) for kata in unit.katas],
                    }
                    for unit in place.catalogue.units
                ]
            }
        )
        return

    out = console()
    # A pack need not say how long its katas take: an empty column would only take room.
    known = any(kata.effort for kata in place.catalogue.katas)
    for titles, efforts, worth in (
        (True, known, True),
        (False, known, True),
        (False, False, True),
        (False, False, False),
    ):
        table = _table(place, out, titles=titles, efforts=efforts, worth=worth)
        if out.measure(table, options=out.options.update(width=WIDEST)).maximum <= out.width:
            break  # what does not fit is left out by whole columns: what is typed stays, and so does the status
    # Numbers and names are typed, so they are never broken or cut.
    never_cut(table, 0, 1)
    never_split_words(table, len(table.columns) - 1)
    out.print(table, crop=False)


def _table(place: LearnerContext, out: Console, *, titles: bool, efforts: bool, worth: bool) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    shown = (True, True, titles, worth, efforts, True)  # number and name are typed: they are never left out
    for column, wanted in enumerate(shown):
        if wanted:
            table.add_column(no_wrap=column not in (2, 5), justify="right" if column == 3 else "left")

    def add(item: Unit | Kata, most: float, effort: str, status: Text, style: str = "") -> None:
        texts = (item.number, item.slug, item.title, f"{points(most)} points", effort)
        cells = [*(safe_text(text, style) for text in texts), status]
        table.add_row(*(cell for cell, wanted in zip(cells, shown, strict=True) if wanted))

    for unit in place.catalogue.units:
        add(
            unit,
            sum(kata.points for kata in unit.katas),
            _hours(unit),
            Text(passed_summary(place, unit)),
            "bold",
        )
        for kata in unit.katas:
            word = status_words(place, kata)
            add(kata, kata.points, kata.effort, status_text(place.entry(kata).status, out, word=word))
    return table


def _hours(unit: Unit) -> str:
    """Say how long a unit takes, where each of its katas says so."""
    minutes = [kata.minutes for kata in unit.katas]
    whole = sum(filter(None, minutes))
    return "" if not all(minutes) else f"{round(whole / 60, 2):g} h" if whole > 90 else f"{whole} min"
