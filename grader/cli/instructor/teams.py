"""`kata gradebook teams`: who hands in together."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from grader.cli.context import complete_id, note
from grader.cli.instructor.class_options import By, decision, lines_of, print_line, same_book
from grader.cli.instructor.rulings import covered
from grader.errors import UsageError
from grader.words import counted

if TYPE_CHECKING:
    from grader.instructor.gradebook.store import Gradebook

_EXAMPLE = "For example: the header team,learner and a line for each member, such as Team 7,ada"


class _Member(NamedTuple):
    learner: str
    team: str


@click.command(short_help="Say who hands in together.")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.argument("assignment", metavar="ASSIGNMENT|ID|all", shell_complete=complete_id)
@decision
def teams(book: Gradebook, file: Path, assignment: str, by: By) -> None:
    """Say who hands in together: what one member of a team hands in counts for all, also what came in before.

    FILE has the columns team and learner, or is Canvas's export of a group set (People, Groups). These teams take the
    place of those that the ASSIGNMENT had. Each member's own are lateness, extensions and points that somebody gave.

    \b
    Example:
      kata gradebook teams groups.csv week2 --comment "groups of the exercise class"
    """
    from grader.instructor.gradebook.events import Provenance
    from grader.instructor.gradebook.teams import set_teams

    of = covered(book, assignment)
    members = lines_of(
        file,
        ("team|group_name", "learner|login_id|canvas_user_id"),
        partial(_line, book),
        lambda line: line.learner,
        _EXAMPLE,
    )
    found: dict[str, list[str]] = {}
    for member in members:
        if member.team:  # Canvas lists those in no group as well
            found.setdefault(member.team, []).append(member.learner)
    numbers = set_teams(book, of, found, Provenance(**by))
    for name, learners in found.items():
        print_line(f"{name}: {', '.join(learners)}")
    note(f"{counted(len(found), 'team')} for {of or 'everything'}, {len(numbers)} of them new")
    if numbers:
        note(f"undo  kata gradebook withdraw {' '.join(map(str, numbers))}{same_book()} --comment TEXT")


def _line(book: Gradebook, cells: dict[str, str]) -> _Member:
    """Return what a line says.

    Raises:
        UsageError: it names nobody of the class.
    """
    from grader.instructor.gradebook.resolve import resolve_learner

    team = cells.get("team") or cells.get("group_name", "")
    if "learner" in cells:
        if not cells["learner"]:
            raise UsageError("the line names nobody.")
        return _Member(resolve_learner(book, cells["learner"]), team)
    number, login = cells.get("canvas_user_id", ""), cells.get("login_id", "")
    found = [
        person.learner
        for person in book.course.roster.values()
        if (number and person.canvas_id == number)
        or (login and login in (person.learner, person.cell("sis_login_id")))
    ]
    if len(found) != 1:
        raise UsageError(
            f"nobody in the roster has the number {number} or the login {login}.",
            "Take the newest roster: kata course set --roster FILE",
        )
    return _Member(found[0], team)


COMMANDS: tuple[Any, ...] = (teams,)
