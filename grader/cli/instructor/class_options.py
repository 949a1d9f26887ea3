"""What every command about a class shares: which gradebook and course, whose word it is, what is not graded."""

from __future__ import annotations

import functools
import shlex
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar

import click

from grader.cli.context import note
from grader.errors import UsageError
from grader.report.style import console, escape_controls
from grader.words import typed_name

if TYPE_CHECKING:
    from grader.instructor.gradebook.course import Course
    from grader.instructor.gradebook.store import Gradebook

T = TypeVar("T")
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
    help="Course settings. [default: course.toml next to the gradebook]",
)


def note_ungraded(book: Gradebook) -> None:
    """Name every mark that is not graded, and the command that grades it."""
    runs = book.unfinished_runs() if book.ungraded else []
    for run in runs:
        note(f"not graded yet: {run.words}: {run.command}{same_book()}")
    left = {of for run in runs for of in run.left}
    if failed := [f"{learner} ({kata})" for learner, kata in book.ungraded if (learner, kata) not in left]:
        from grader.instructor.submissions.names import listed

        note(
            f"not graded: {listed(failed, NAMED)}; no mark until kata grade has graded the same submissions."
        )


author_option: Callable[[Any], Any] = click.option(
    "--author", metavar="NAME", envvar="KATA_AUTHOR", help="Who decides this. [default: your user name]"
)
comment_option: Callable[[Any], Any] = click.option(
    "--comment", metavar="TEXT", required=True, help="The reason; it stays in the history."
)


def with_gradebook(command: Callable[..., Any]) -> Any:
    """Give a command the options that say which gradebook to use, and hand it that one, opened, as `book`.

    A `learner` that the command takes becomes that person's identity, so that every command means the same one.
    Where it may be left out, an assignment or a kata in its place is `id_`: `show week1`.
    """

    @functools.wraps(command)
    def run(where: str, course_file: Path | None, **given: Any) -> Any:
        from grader.catalogue import Catalogue
        from grader.instructor.gradebook.course import Course
        from grader.instructor.gradebook.resolve import resolve_learner
        from grader.instructor.gradebook.store import Gradebook

        course = Course.find(where, course_file, Catalogue.discover())
        with Gradebook.open(where, create=False, course=course) as book:
            if given.get("learner") is not None:
                try:
                    # Here, for all commands: a name must not mean one person in one of them and another in
                    # the next.
                    given["learner"] = resolve_learner(book, given["learner"])
                except UsageError:
                    if not _is_of_katas(given, course):
                        raise
                    given |= {"learner": None, "id_": given["learner"]}
            outcome = command(book=book, **given)
            note_ungraded(book)
            return outcome

    return gradebook_option(course_option(run))


def _is_of_katas(given: dict[str, Any], course: Course) -> bool:
    """Whether a command that may name a learner, an assignment or both was given an assignment or a kata alone."""
    from grader.instructor.gradebook.resolve import slugs_meant

    required = {one.name for one in click.get_current_context().command.params if one.required}
    if "learner" in required or given.get("id_", "") is not None:
        return False
    try:
        return bool(slugs_meant(course, given["learner"]))
    except UsageError:
        return False


class By(TypedDict):
    """Why something is decided, and whose word it is."""

    comment: str
    author: str


def decision(command: Callable[..., Any]) -> Any:
    """Give a command --comment and --author, and hand it the gradebook as `book`, why and who as `by`."""

    @functools.wraps(command)
    def run(author: str | None, comment: str, **given: Any) -> Any:
        return command(by=By(comment=comment, author=author_of(author)), **given)

    return comment_option(author_option(with_gradebook(run)))


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


def lines_of(
    file: Path, columns: Iterable[str], line: Callable[[dict[str, str]], T], example: str
) -> list[T]:
    """Read a whole table before anything of it is written.

    Args:
        file: a CSV file.
        columns: what it must have; `points|met` is either.
        line: makes something of a line's cells by column, or raises UsageError.
        example: what a good file looks like.

    Raises:
        UsageError: it is missing, or a line breaks a rule: which line, and what is expected.
    """
    from grader.instructor.gradebook.roster import read_table

    place, there, rows = read_table(file, "file", "Name the CSV file.")
    for names in (one.split("|") for one in columns):
        if set(names).isdisjoint(there):
            missing = " and no column ".join(f"`{name}`" for name in names)
            raise UsageError(f"{file}:{place}: there is no column {missing}.", example)
    found = []
    for number, cells in rows:
        try:
            found.append(line(cells))
        except UsageError as error:
            raise UsageError(f"{file}:{number}: {error.message}", error.hint or example) from error
    return found


def shell_quote(text: str) -> str:
    """Return text as a shell takes it back."""
    return escape_controls(shlex.quote(text))


def name_word(name: str) -> str:
    """Return a name, as `kata gradebook` takes it back where an argument is."""
    return escape_controls(typed_name(name))


def same_book() -> str:
    """Return the options that name the gradebook and the course of this command once more, without a password."""
    from grader.instructor.gradebook.database import DEFAULT, redact

    given = click.get_current_context().params
    where, course = given["where"], given["course_file"]
    named = "" if where == DEFAULT else f" --gradebook {shell_quote(redact(where))}"
    return named + ("" if course is None else f" --course {shell_quote(str(course))}")


def print_line(text: str) -> None:
    """Print a line of a result: in one piece, however wide, so that a program finds it."""
    console().print(escape_controls(text), soft_wrap=True)


def print_decision(number: int, what: str) -> None:
    """Say what was decided, and how to take it back."""
    print_line(what)
    note(f"undo  kata gradebook withdraw {number}{same_book()} --comment TEXT")
