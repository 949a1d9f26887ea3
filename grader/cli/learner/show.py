"""`kata show`: read a lesson."""

from __future__ import annotations

import click

from grader.catalogue import Kata, Unit
from grader.catalogue.markdown import in_words
from grader.cli.context import complete_id, here, json_option, print_json, print_markdown, print_python
from grader.data_files import read_text
from grader.errors import UsageError
from grader.report.style import points


@click.command(short_help="Read the lesson of a unit or kata.")
@click.argument("id_", metavar="[ID]", required=False, shell_complete=complete_id)
@click.option("--stub", is_flag=True, help="Print the file you start from instead of the lesson.")
@json_option
def show(id_: str | None, stub: bool, as_json: bool) -> None:
    """Read the lesson of a unit or kata.

    Without ID, it is the lesson of the kata whose folder you are in, or else of the kata that comes next. `contract`
    is the page with what all katas ask for.

    \b
    Example:
      kata show 9.3
      kata show masked-attention --stub
      kata show contract
    """
    place = here()
    # Before the ID is looked up: `contract` is a page of the pack and not a kata.
    contracts = [pack.contract for pack in place.catalogue.packs if pack.contract is not None]
    if id_ == "contract" and contracts:
        text = "\n".join(read_text(page) for page in contracts)
        if as_json:
            print_json({"slug": "contract", "lesson": text})
        else:
            print_markdown(text, paged=True)
        return
    item = _only(place.catalogue.find(id_), id_) if id_ is not None else place.kata(None)
    if stub and isinstance(item, Unit):
        raise UsageError(
            f"{item.number} is a unit; a stub belongs to one kata.",
            f"Name one: {', '.join(kata.slug for kata in item.katas)}",
        )
    path = item.stub if stub and isinstance(item, Kata) else item.lesson
    text = read_text(path)
    if as_json:
        what = "stub" if stub else "lesson"
        # A unit has no effort of its own: its katas have.
        facts = {"minutes": item.minutes, "difficulty": item.difficulty} if isinstance(item, Kata) else {}
        print_json({"number": item.number, "slug": item.slug, "title": item.title, **facts, what: text})
    elif stub:
        print_python(text)
    else:
        print_markdown(in_words(_with_effort(text, item) if isinstance(item, Kata) else text), paged=True)


def _with_effort(lesson: str, kata: Kata) -> str:
    """Put below the lesson's heading what the kata is worth, and how long it takes."""
    heading, _, rest = lesson.partition("\n")
    facts = ", ".join(filter(None, (f"{points(kata.points)} points", kata.effort)))
    return f"{heading}\n\n*{facts}*\n{rest}" if kata.effort else lesson


def _only(items: list[Unit | Kata], id_: str) -> Unit | Kata:
    if len(items) > 1:
        names = ", ".join(f"{item.number} {item.slug}" for item in items)
        raise UsageError(f"{id_} means several units; name one: {names}.")
    return items[0]
