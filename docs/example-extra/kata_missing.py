"""`kata missing KATA`: who has handed in nothing that counts, with addresses, for a reminder to be written.

An extra in one file: it imports `grader.api` and click, and `ADDS` says which command it adds.
"""

from __future__ import annotations

import click

from grader.api import (
    Gradebook,
    UsageError,
    counted,
    json_option,
    note,
    print_json,
    print_line,
    resolve_kata,
    with_gradebook,
)

ADDS = {"missing": "kata_missing:missing"}


@click.command(short_help="List who has handed in nothing for a kata.")
@click.argument("kata")
@click.option("--unfinished", is_flag=True, help="Also who has not passed yet.")
@json_option
@with_gradebook
def missing(book: Gradebook, kata: str, unfinished: bool, as_json: bool) -> None:
    """List who has handed in nothing for a kata, a line each: name and address.

    \b
    Example:
      kata missing 9.3.4
      kata missing masks --unfinished --json
    """
    slug = resolve_kata(book, kata)
    found, everybody = [], 0
    # One mark for everybody: of the roster, and of all who handed in anything.
    for mark in book.marks(katas={slug}):
        everybody += 1
        is_absent = mark.status == "missing"
        if is_absent or (unfinished and mark.status != "pass"):
            found.append((mark, "nothing handed in" if is_absent else mark.status))
    if not everybody:
        raise UsageError(
            f"Nobody is known to this gradebook for {slug}.", "Grade a class first: kata grade FOLDER"
        )
    if as_json:
        print_json({"kata": slug, "missing": [{"learner": mark.learner, "why": why} for mark, why in found]})
        return
    for mark, why in found:
        print_line(f"{mark.learner}  {mark.name}  {why}")
    note(f"{counted(len(found), 'learner')} of {everybody}")
