"""`kata gradebook problems`: what is still open, and the command that settles it."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

import click

from grader.cli.context import json_option, note, print_json
from grader.cli.instructor.class_options import print_line, same_book, with_gradebook

if TYPE_CHECKING:
    from grader.instructor.gradebook.store import Gradebook


@click.command(short_help="List what is still open in a class, with the command that settles it.")
@click.argument("assignment", metavar="[ASSIGNMENT]", required=False)
@json_option
@with_gradebook
def problems(book: Gradebook, assignment: str | None, as_json: bool) -> None:
    """List what is still open: unread, misnamed, unmatched, not graded, late without a time, decisions without effect.

    It is read off the gradebook and the course settings as they are now, whatever was graded last.

    \b
    Example:
      kata gradebook problems
      kata gradebook problems week1
    """
    from grader.instructor.gradebook.resolve import resolve_assignment
    from grader.instructor.grading import problems as open_

    only = None if assignment is None else resolve_assignment(book.course, assignment).name
    found = [one for one in open_.problems(book) if only in (None, one.of)]
    if as_json:
        print_json({"problems": [one._asdict() for one in found]})
        return
    comment = f"{same_book()} --comment TEXT"
    for of, those in groupby(found, key=lambda one: one.of):
        print_line(f"{of or 'the course'}:")
        for one in those:
            about = ", ".join(filter(None, (one.learner, one.kata)))
            options = {"gradebook": comment, "grade": same_book()}.get(one.command.split()[1], "")
            print_line(f"  {': '.join(filter(None, (one.kind, about, one.what)))}")
            print_line(f"      {one.command}{options}")
    if not found:
        note("Nothing is open.")
