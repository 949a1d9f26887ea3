"""`kata gradebook groups`: hand-ins that fail alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from grader.cli.context import json_option, note, print_json
from grader.cli.instructor.class_options import print_line, with_gradebook

if TYPE_CHECKING:
    from grader.instructor.gradebook.store import Gradebook


@click.command(short_help="List hand-ins that fail alike.")
@click.argument("kata", metavar="[ID]", required=False)
@json_option
@with_gradebook
def groups(book: Gradebook, kata: str | None, as_json: bool) -> None:
    """List hand-ins that fail alike: the same named mistake, or the same checks at the same code but for its names.

    The page *Groups* of `kata desk` decides about a whole group at once.

    \b
    Example:
      kata gradebook groups masks
    """
    from grader.instructor.gradebook.resolve import resolve_kata
    from grader.instructor.grading.groups import groups as grouped

    katas = book.katas() if kata is None else [resolve_kata(book, kata)]
    found = [one for slug in katas for one in grouped(book, slug)]
    if as_json:
        listed = [one._asdict() | {"members": [row.learner for row in one.members]} for one in found]
        print_json({"groups": listed})
        return
    for one in found:
        names = ", ".join(row.learner for row in one.members)
        line = f"{len(one.members):>4}  {one.kata}: {one.what}\n      {names}"
        print_line(line)
    if not found:
        note("Nobody failed anything.")
