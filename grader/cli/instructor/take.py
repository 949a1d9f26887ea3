"""`kata gradebook take`: a file of another name becomes an answer, and is graded at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from grader.cli.context import complete_id
from grader.cli.instructor.class_options import By, decision, print_decision
from grader.errors import UsageError

if TYPE_CHECKING:
    from grader.instructor.gradebook.store import Gradebook


@click.command(short_help="Accept a file with a wrong name as a learner's answer.")
@click.argument("learner")
@click.argument("id_", metavar="ID", shell_complete=complete_id)
@click.argument("file")
@decision
def take(book: Gradebook, learner: str, id_: str, file: str, by: By) -> None:
    """Accept FILE, as LEARNER named it, as the answer to ID: `masks_final_v3.py` instead of `masks.py`.

    It is looked for in what was graded, the newest download first, also in attempts that do not count, and graded at
    once. FILE is a name, or a path inside what the learner handed in.

    \b
    Example:
      kata gradebook take ada masks masks_final_v3.py --comment "she asked by mail"
    """
    from grader.cli.progress import watching
    from grader.instructor.gradebook.resolve import resolve_kata
    from grader.instructor.grading.take import TakenFile
    from grader.instructor.grading.take import take as taken

    name = file.strip("/")
    if not name.strip("/. "):
        raise UsageError("The file's name is empty.")
    slug = resolve_kata(book, id_)
    number = taken(book, [TakenFile(learner, slug, name)], watching=watching, **by)
    row = next(iter(book.rows(katas=[slug], learners=[learner])))
    print_decision(number, f"{learner}, {slug}: {name} is the answer, {row.score:g}/{row.max_score:g} points")
