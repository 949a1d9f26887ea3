"""What every command about a class shares: which gradebook and course, whose word it is, what is graded and how."""

from __future__ import annotations

import functools
import shlex
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict, TypeVar

import click

from grader import machine
from grader.catalogue import Catalogue, Kata
from grader.cli.context import device_option, gathered, note, timeout_option
from grader.commands import EXTRAS, load
from grader.devices import Device
from grader.engine import sandbox
from grader.errors import UsageError, did_you_mean
from grader.report.style import console, escape_controls
from grader.words import typed_name

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from grader.instructor.gradebook.course import Course
    from grader.instructor.gradebook.store import Argument, Gradebook
    from grader.instructor.grading.executors import Slots
    from grader.instructor.grading.run import RunPolicy


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

    required = {
        parameter.name for parameter in click.get_current_context().command.params if parameter.required
    }
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
    file: Path,
    columns: Iterable[str],
    line: Callable[[dict[str, str]], T],
    about: Callable[[T], Hashable],
    example: str,
) -> list[T]:
    """Read a whole table before anything of it is written.

    Args:
        file: a CSV file.
        columns: what it must have; `points|met` is either.
        line: makes something of a line's cells by column, or raises UsageError.
        about: what a line is about; no two lines are about the same.
        example: what a good file looks like.

    Raises:
        UsageError: it is missing, or lines break a rule: which lines, and what is expected.
    """
    from grader.instructor.gradebook.roster import read_table

    place, there, rows = read_table(file, "file", "Name the CSV file.")
    for names in (column.split("|") for column in columns):
        if set(names).isdisjoint(there):
            missing = " and no column ".join(f"`{name}`" for name in names)
            raise UsageError(f"{file}:{place}: there is no column {missing}.", example)
    found: list[T] = []
    wrong: list[UsageError] = []
    first: dict[Hashable, int] = {}
    for number, cells in rows:
        try:
            found.append(made := line(cells))
            if (before := first.setdefault(about(made), number)) != number:
                raise UsageError(f"this is about the same as line {before}.", "Leave one of them out.")
        except UsageError as error:
            wrong.append(UsageError(f"{file}:{number}: {error.message}", error.hint))
    if wrong:
        raise UsageError.of_all(wrong, example)
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


LEVELS = ("full", "confined", "process")


@dataclass(frozen=True, kw_only=True)
class GradingOptions:
    """The options that grading has, wherever the submissions come from."""

    jobs: int | None
    only: tuple[str, ...]
    assignment: str | None
    seed: int | None
    timeout: float | None
    perf: bool
    device: str
    force: bool
    where: str
    course_file: Path | None
    scheduler: str | None
    require_isolation: Literal["full", "confined", "process"] | None

    def prepare(self) -> None:
        """Get this machine ready, and refuse what it cannot do.

        Raises:
            UsageError: options contradict each other, or the device or the isolation is not to be had.
        """
        machine.prepare()
        if self.scheduler is not None:  # then devices and isolation are for the cluster's machines to say
            if self.jobs is not None:
                raise UsageError(
                    "-j is for this machine; with --scheduler, the number of the cluster's workers counts."
                )
            return
        if self.require_isolation is not None:
            sandbox.require(self.require_isolation)
        Device(self.device).require()

    @property
    def policy(self) -> RunPolicy:
        """How submissions are graded."""
        from grader.instructor.grading.run import RunPolicy

        return RunPolicy(
            self.seed,
            self.timeout,
            device=self.device,
            perf=self.perf,
            require_isolation=self.require_isolation,
            force=self.force,
        )

    def slots(self) -> AbstractContextManager[Slots]:
        """Return where submissions are graded: here, or on a cluster."""
        from grader.instructor.grading.executors import cores, local_slots

        if self.scheduler is not None:
            if "grade --scheduler" not in EXTRAS:
                raise UsageError("--scheduler needs the extra cluster, which is not installed.")
            slots: AbstractContextManager[Slots] = load(EXTRAS["grade --scheduler"])(self.scheduler)
            return slots
        return local_slots(self.jobs or cores())

    def arguments(self, submissions: Path | None = None, times: Path | None = None) -> dict[str, Argument]:
        """Return what the gradebook notes of a run."""
        return {
            "submissions": str(submissions.absolute()) if submissions else None,
            "times": str(times.absolute()) if times else None,
            "only": list(self.only),
            "assignment": self.assignment,
            "seed": self.seed,
            "timeout": self.timeout,
            "scheduler": self.scheduler,
            "require_isolation": self.require_isolation,
            "perf": self.perf,
            "device": self.device,
        }

    def refuse_exposed(self, course: Course, submissions: Path | None = None) -> None:
        """Refuse to grade where a submission could read answers, marks, or the work of others."""
        from grader.instructor.grading.executors import refuse_exposed

        if self.scheduler is None:  # else nothing is graded on this machine
            agreed = self.require_isolation == "process"
            refuse_exposed(self.where, course, submissions, agreed=agreed)


grading_options: Callable[[Callable[..., Any]], Any] = gathered(
    GradingOptions,
    click.option(
        "-j",
        "--jobs",
        type=click.IntRange(1, 1024),
        metavar="N",
        help="Submissions to grade at a time. [default: one per core]",
    ),
    click.option(
        "--only",
        multiple=True,
        metavar="ID|LEARNER",
        help="Grade only this assignment, unit, kata or learner; repeat it for more.",
    ),
    click.option(
        "--assignment",
        metavar="NAME",
        help="Grade only the katas of this assignment of the course; no other mark is touched.",
    ),
    click.option(
        "--seed",
        type=click.IntRange(0, 2**53 - 1),
        help="Seed of the random inputs. [default: from the gradebook's own secret]",
    ),
    timeout_option,
    click.option(
        "--perf/--no-perf",
        "perf",
        default=False,
        help="Also check speed and memory once everything else passes, one submission at a time.",
    ),
    device_option,
    click.option("--force", is_flag=True, help="Grade again even what has not changed."),
    gradebook_option,
    course_option,
    click.option("--scheduler", metavar="URL", help="Grade on a Dask cluster: tcp://host:8786."),
    click.option(
        "--require-isolation",
        type=click.Choice(LEVELS),
        help="Refuse to grade at a lower isolation level.",
    ),
)


@dataclass(frozen=True)
class KataChoice:
    """Which katas are graded under which rules, and the words of `--only` that may name learners."""

    course: Course
    catalogue: Catalogue
    katas: list[Kata]
    names: list[str]

    @property
    def slugs(self) -> list[str]:
        """The katas by their names."""
        return [kata.slug for kata in self.katas]


def find_wanted(options: GradingOptions) -> KataChoice:
    """Read the course, and split `--only` into katas and other words; where it names no kata, the course decides.

    Raises:
        UsageError: there is no such assignment, or `--only` names katas that are not in it.
    """
    from grader.instructor.gradebook.course import Course
    from grader.instructor.gradebook.resolve import resolve_assignment, slugs_meant
    from grader.instructor.submissions.names import listed

    catalogue = Catalogue.discover()
    course = Course.find(options.where, options.course_file, catalogue)
    named: dict[Kata, None] = {}
    names: list[str] = []
    for word in options.only:
        try:
            slugs = slugs_meant(course, word)
            named.update((kata, None) for kata in catalogue.katas if kata.slug in slugs)
        except UsageError:
            names.append(word)  # a learner, perhaps: who is there, is known when the folder has been read
    allowed = course.katas
    if options.assignment is not None:
        of = resolve_assignment(course, options.assignment)
        allowed = of.katas
        # A kata outside the assignment would be graded by the rules of another one.
        if outside := [kata.slug for kata in named if kata.slug not in allowed]:
            raise UsageError(
                f"--only: {', '.join(outside[:3])} is not in the assignment {of.name}.",
                f"It has {', '.join(allowed)}.",
            )
    katas = sorted(named, key=lambda kata: kata.key) or [
        kata for kata in catalogue.katas if allowed is None or kata.slug in allowed
    ]
    # A warning and not an error: a class can be graded without hidden checks, and after hours of grading it
    # would come too late.
    if bare := [kata.slug for kata in katas if kata.solution is None]:
        note(f"warning: this install has no solutions and no hidden checks for {listed(bare, 3)}.")
    return KataChoice(course, catalogue, katas, names)


def learner_wanted(word: str, known: Sequence[str], book: Gradebook) -> str:
    """Return who of these learners a word of `--only` means.

    Raises:
        UsageError: nobody is called that, or several are.
    """
    from grader.instructor.gradebook.resolve import learners_called

    found = learners_called(word, known, book)
    if len(found) == 1:
        return found[0]
    if found:
        raise UsageError(f"--only {word} could be {', '.join(found[:5])}.", "Type more of it.")
    raise UsageError(
        f"--only {word}: no unit, kata or learner is called that.{did_you_mean(word, list(known))}",
        "kata list shows the katas; learners are named after their folders.",
    )
