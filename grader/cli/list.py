"""`kata list`: everything there is, and how far you are."""

from __future__ import annotations

import click

from grader.cli.context import here, json_option, print_json
from grader.cli.status import describe, shown_status, status_words
from grader.reports.style import console, points, safe_text, status_text


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
    from rich.table import Table
    from rich.text import Text

    out = console()
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column()  # the one to give way on a narrow terminal: a name that is cut cannot be typed
    table.add_column(no_wrap=True, justify="right")
    table.add_column(no_wrap=True)
    for unit in place.catalogue.units:
        passed = sum(1 for kata in unit.katas if place.entry(kata).passed is not None)
        table.add_row(
            Text(unit.number, style="bold"),
            Text(unit.slug, style="bold"),
            safe_text(unit.title, "bold"),
            Text(f"{points(sum(kata.points for kata in unit.katas))} points", style="bold"),
            Text(f"{passed} of {len(unit.katas)} passed"),
        )
        for kata in unit.katas:
            table.add_row(
                Text(kata.number),
                Text(kata.slug),
                safe_text(kata.title),
                Text(f"{points(kata.points)} points"),
                status_text(shown_status(place, kata), out, word=status_words(place, kata)),
            )
    out.print(table)
