"""`kata gradebook items`: how hard each check is, and what it tells."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from grader.cli.context import json_option, print_json
from grader.cli.instructor.class_options import print_line, with_gradebook

if TYPE_CHECKING:
    from grader.instructor.gradebook.store import Gradebook


@click.command(short_help="Say how hard each check is, and what it tells.")
@click.argument("of", metavar="[ASSIGNMENT|ID]", required=False)
@json_option
@with_gradebook
def items(book: Gradebook, of: str | None, as_json: bool) -> None:
    """Say of every check, and of every catalogued mistake, how hard it is and what it tells about a learner.

    Difficulty is the part that failed; what it tells is the point-biserial correlation with all other checks. A check
    that never fails or tells nothing is flagged. Without a name, all katas count together.

    \b
    Example:
      kata gradebook items week1
    """
    from grader.instructor.gradebook.resolve import resolve_kata
    from grader.instructor.grading.items import items as analysed

    assignment = book.course.assignments.get(of or "")
    katas = None if of is None else assignment.katas if assignment else [resolve_kata(book, of)]
    found = analysed(book.rows(katas=katas))
    if as_json:
        print_json({"items": [one._asdict() for one in found]})
        return
    print_line(" failed  tells  attempts")
    for one in found:
        tells = "    –" if one.discrimination is None else f"{one.discrimination:5.2f}"
        tries = "   –" if one.attempts is None else f"{one.attempts:4.1f}"
        flag = f"  [{one.flag}]" if one.flag else ""
        line = f"{100 * one.difficulty:5.0f} %  {tells}      {tries}  {one.kata}: {one.name}{flag}"
        print_line(line)
