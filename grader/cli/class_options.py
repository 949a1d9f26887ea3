"""What every command about a class shares: which gradebook and course, whose word it is, what cannot be read."""

from __future__ import annotations

import functools
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from grader.cli.context import note
from grader.errors import UsageError
from grader.reports.style import safe

if TYPE_CHECKING:
    from grader.gradebook.store import Gradebook

NAMED = 10
"""Marks that are named one by one; the others are counted."""

gradebook_option: Callable[[Any], Any] = click.option(
    "--gradebook",
    "where",
    metavar="URL",
    envvar="KATA_GRADEBOOK",
    default="gradebook.sqlite",
    show_default=True,
    help="A file, or the address of a database: postgresql://…",
)
course_option: Callable[[Any], Any] = click.option(
    "--course",
    "course_file",
    metavar="FILE",
    envvar="KATA_COURSE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Course settings. [default: course.toml beside the gradebook]",
)


def note_unreadable(book: Gradebook) -> None:
    """Name every mark whose report could not be read, and what never was graded; say how they are made again."""
    if ungraded := [f"{learner} ({kata})" for learner, kata in book.ungraded]:
        more = f" and {len(ungraded) - NAMED} more" if len(ungraded) > NAMED else ""
        note(
            f"not graded: {', '.join(ungraded[:NAMED])}{more}; 0 points until kata grade has graded the same "
            "submissions."
        )
    found = list(book.unreadable.items())
    for (learner, kata), why in found[:NAMED]:
        note(f"warning: {learner}, {kata}: {why}")
    if len(found) > NAMED:
        note(f"warning: … and {len(found) - NAMED} more reports.")
    if found:
        note(
            "All other marks are intact. The next kata grade of the same submissions makes their reports again."
        )


author_option: Callable[[Any], Any] = click.option(
    "--author", metavar="NAME", envvar="KATA_AUTHOR", help="Who decides this. [default: your user name]"
)
comment_option: Callable[[Any], Any] = click.option(
    "--comment", metavar="TEXT", required=True, help="The reason; it stays in the history."
)


def with_gradebook(command: Callable[..., Any]) -> Any:
    """Give a command the options that say which gradebook is meant, and hand it that one, opened, as `book`."""

    @functools.wraps(command)
    def run(where: str, course_file: Path | None, **given: Any) -> Any:
        from grader.catalogue import Catalogue
        from grader.gradebook.course import Course
        from grader.gradebook.store import Gradebook

        course = Course.find(where, course_file, Catalogue.discover())
        with Gradebook.open(where, create=False, course=course) as book:
            outcome = command(book=book, **given)
            note_unreadable(book)
            return outcome

    return gradebook_option(course_option(run))


def author_of(author: str | None) -> str:
    """Return who speaks.

    Raises:
        UsageError: nobody says, and the system does not know.
    """
    if author is not None and author.strip():
        return author.strip()
    import getpass

    try:
        return getpass.getuser()
    except (KeyError, OSError):
        raise UsageError("The system does not say who you are.", "Say it: --author NAME") from None


def word(text: str) -> str:
    """Return text as a shell takes it back."""
    return safe(shlex.quote(text))


def same_book() -> str:
    """Return the options that name the gradebook and the course of this command once more, without a password."""
    from grader.gradebook.address import DEFAULT, redact

    given = click.get_current_context().params
    where, course = given["where"], given["course_file"]
    named = "" if where == DEFAULT else f" --gradebook {word(redact(where))}"
    return named + ("" if course is None else f" --course {word(str(course))}")
