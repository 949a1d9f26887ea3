"""`kata gradebook groups | items | problems`: what a class's hand-ins say together, and what is still open."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

import click

from grader.cli.context import json_option, note, print_json
from grader.cli.instructor.class_options import print_line, same_book, with_gradebook

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


COMMANDS: tuple[Any, ...] = (groups, items, problems)
