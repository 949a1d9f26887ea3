"""`kata gradebook`: look at marks, change them, take them elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from grader.cli.context import complete_id, gathered, json_option, note, print_json
from grader.cli.instructor.adjust_all import adjust_all
from grader.cli.instructor.analysis import COMMANDS as ANALYSIS
from grader.cli.instructor.answers import COMMANDS as WRITTEN
from grader.cli.instructor.class_options import author_of, author_option, name_word, same_book, with_gradebook
from grader.cli.instructor.code import code
from grader.cli.instructor.export import export, of_section
from grader.cli.instructor.rulings import COMMANDS as RULINGS
from grader.commands import EXTRAS, load
from grader.errors import UsageError
from grader.report.style import console, escape_controls, points

if TYPE_CHECKING:
    from grader.instructor.gradebook.events import Adjust, Override
    from grader.instructor.gradebook.store import Gradebook


class TakesNames(click.Group):
    """Commands that take `-2` as points and `-rf` as a name, as they print them, and not as options."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Put arguments after a `--` if any begins with a hyphen and is not one of the command's options.

        What comes directly after a `--` is a name, even `--help`; options may follow it, as in the commands we print.
        """
        name, command, rest = super().resolve_command(ctx, args)
        if command is None:
            return name, command, rest
        known = [one for one in command.get_params(ctx) if isinstance(one, click.Option)]
        flags = {option for one in known if one.is_flag for option in one.opts}
        with_value = {option for one in known if not one.is_flag for option in one.opts}
        short = tuple(option for option in with_value if not option.startswith("--"))
        options: list[str] = []
        arguments: list[str] = []
        before = ""
        for text in rest:
            is_value, is_name = before in with_value, before == "--"
            is_option = text in flags or text.startswith("--") or bool(short and text.startswith(short))
            if is_value or is_name or text != "--":
                (options if is_value or (is_option and not is_name) else arguments).append(text)
            before = "" if is_value or is_name else text
        # A folder of a download may begin with a hyphen, and then so does the learner's name.
        if any(text.startswith("-") for text in arguments):
            return name, command, [*options, "--", *arguments]
        return name, command, rest


@click.group(cls=TakesNames, short_help="Look at a class's marks, change them, export them.")
def gradebook() -> None:
    """Look at a class's marks, change them, export them.

    LEARNER is an identity as `show` lists it, or words of a name or their beginnings, with or without accents. ID is
    a number (9.3.2), a name (masked-attention), the beginning of one, or an assignment. What follows a -- is a name,
    whatever it begins with. Every command takes --gradebook URL.

    \b
    Example:
      kata gradebook show
      kata gradebook adjust ada masks +2 --comment "the third check was ours to mend"
      kata gradebook export --format canvas -o canvas.csv
    """


@gradebook.command(short_help="Show a class, a learner, or one mark with everything that went into it.")
@click.argument("learner", required=False)
@click.argument("id_", metavar="[ID]", required=False, shell_complete=complete_id)
@click.option(
    "--only",
    "--assignment",
    "only",
    metavar="ID",
    multiple=True,
    shell_complete=complete_id,
    help="Only this assignment, unit or kata; repeat it for more.",
)
@click.option("--section", metavar="NAME", help="Only the learners of this section of the roster.")
@json_option
@with_gradebook
def show(
    book: Gradebook,
    learner: str | None,
    id_: str | None,
    only: tuple[str, ...],
    section: str | None,
    as_json: bool,
) -> None:
    """Show a class, a learner, or one mark with everything that went into it.

    Without arguments, it shows a table with a line per learner and a column per kata. Hidden checks are shown, so
    this is for instructors only.

    \b
    Example:
      kata gradebook show
      kata gradebook show week1
      kata gradebook show ada
      kata gradebook show ada masks
    """
    from grader.instructor.gradebook import overview
    from grader.instructor.gradebook.exports.documents import document_of
    from grader.instructor.gradebook.resolve import resolve_katas

    katas = resolve_katas(book, (*only, *([id_] if id_ else [])))
    if learner is None:
        _show_class(book, katas, of_section(book, section), as_json)
        return
    # One learner: a single mark is shown in full, several as a table.
    rows = list(book.rows(katas=katas, learners=[learner]))
    if not rows:
        note(f"Nothing of {escape_controls(learner)} is graded yet in {book.where}.")
    if as_json:
        print_json(document_of(rows, book.course, whole=True) if rows else {"learner": learner, "katas": []})
    elif id_ is not None and len(rows) == 1:
        overview.print_mark(rows[0], book.course, console())
    elif rows:
        out = console()
        overview.print_learner(rows, book.course, out)
        # What to look at next is what went wrong, if anything did.
        look = next((row for row in rows if row.status != "pass"), rows[0])
        mark = f"{name_word(look.learner)} {look.kata}{same_book()}"
        out.print(f"\nin full  kata gradebook show {mark}", soft_wrap=True)


def _show_class(book: Gradebook, katas: list[str] | None, learners: list[str] | None, as_json: bool) -> None:
    from grader.instructor.gradebook import overview
    from grader.instructor.gradebook.exports.documents import document_of
    from grader.instructor.gradebook.records import by_learner

    rows = book.rows(katas=katas, learners=learners)
    if as_json:
        found = [document_of(list(own.values()), book.course) for _, own in by_learner(rows)]
        print_json({"learners": found})
    elif not overview.print_class(rows, book.course, console()):
        note(f"Nothing is graded yet in {book.where}.")


@dataclass(frozen=True)
class MarkChange:
    """Which mark is changed, why, and whose word it is."""

    learner: str
    id_: str
    comment: str
    author: str | None


def _change_options(reason: str) -> Callable[[Callable[..., Any]], Any]:
    """Give a command LEARNER, ID, a comment and an author as its argument `options`, and the gradebook."""
    of_what = gathered(
        MarkChange,
        click.argument("learner"),
        click.argument("id_", metavar="ID", shell_complete=complete_id),
        click.option("--comment", metavar="TEXT", required=True, help=reason),
        author_option,
    )
    return lambda command: of_what(with_gradebook(command))


def _change(short_help: str) -> Callable[[Callable[..., Any]], click.Command]:
    """Make a command of LEARNER ID POINTS, which says why and whose word it is."""
    command = gradebook.command(short_help=short_help)
    points_ = click.argument(
        "points_", metavar="POINTS", callback=lambda _context, _parameter, text: _points(text)
    )
    beyond = click.option("--beyond", is_flag=True, help="The mark may be more than the maximum.")
    return lambda function: command(
        _change_options("The reason; the learner may read it.")(beyond(points_(function)))
    )


@_change("Give a learner points for a kata, or take some away.")
def adjust(book: Gradebook, points_: float, beyond: bool, options: MarkChange) -> None:
    """Give a learner points for a kata, or take some away.

    They are added to the graded points, and stay when the kata is graded again. The mark never falls below 0, and
    exceeds the maximum only with --beyond.

    \b
    Example:
      kata gradebook adjust ada masks +2 --comment "the third check was ours to mend"
      kata gradebook adjust ada 9.3.2 -1.5 --comment "handed in by mail" --author kim
    """
    if not points_:
        raise UsageError(
            "0 points change nothing.", "Give points, such as 2, or take some away, such as -1.5."
        )
    from grader.instructor.gradebook.events import Adjust

    _decide(book, Adjust, points_, beyond, options)


@_change("Set a learner's mark for a kata, whatever was graded.")
def override(book: Gradebook, points_: float, beyond: bool, options: MarkChange) -> None:
    """Set a learner's mark for a kata, whatever was graded.

    It replaces the graded mark, lateness and earlier adjustments, and stays when the kata is graded again.

    \b
    Example:
      kata gradebook override ada masks 8 --comment "graded by hand: the notebook was in an old format"
    """
    if points_ < 0:
        raise UsageError(
            f"A mark cannot be {points(points_)}; it is 0 or more.",
            "To take points away: kata gradebook adjust",
        )
    from grader.instructor.gradebook.events import Override

    _decide(book, Override, points_, beyond, options)


def _decide(
    book: Gradebook,
    kind: type[Adjust] | type[Override],
    points_: float,
    beyond: bool,
    change: MarkChange,
) -> None:
    from grader.instructor.gradebook.events import Provenance
    from grader.instructor.gradebook.resolve import mark_meant

    with _changing(book, change) as (who, kata):
        mark_meant(next(iter(book.rows(katas=[kata], learners=[who]))), kind, points_, beyond=beyond)
        made = Provenance(author=author_of(change.author), comment=change.comment)
        book.decide(kind(learner=who, kata=kata, points=points_, made=made))
    note(f"undo  kata gradebook revoke {name_word(who)} {kata}{same_book()} --comment TEXT")


@gradebook.command(short_help="Take back an adjustment or an override.")
@_change_options("The reason; it stays in the history.")
@click.argument("number", required=False, type=click.IntRange(min=1))
def revoke(book: Gradebook, number: int | None, options: MarkChange) -> None:
    """Take back an adjustment or an override: the newest one, or the one with this NUMBER in `history`.

    \b
    Example:
      kata gradebook revoke ada masks --comment "it was meant for adam"
      kata gradebook revoke ada masks 12 --comment "it was meant for adam"
    """
    from grader.instructor.gradebook.events import CHANGE

    with _changing(book, options) as (who, kata):
        row = next(iter(book.rows(katas=[kata], learners=[who])))
        standing = [one.id for one in row.adjustments if not one.revoked]
        hint = f"See: kata gradebook history {name_word(who)} {kata}{same_book()}"
        if not standing:
            raise UsageError(f"{escape_controls(who)}, {kata}: nobody changed this mark.", hint)
        if number is not None and number not in standing:
            numbers = ", ".join(map(str, standing))
            raise UsageError(
                f"{escape_controls(who)}, {kata}: there is no change {number} to take back; there is {numbers}.",
                hint,
            )
        by = author_of(options.author)
        book.undo(number or standing[-1], author=by, comment=options.comment, only=CHANGE)


@gradebook.command(short_help="Show how marks came about: attempts, and what people changed.")
@click.argument("learner")
@click.argument("id_", metavar="[ID]", required=False, shell_complete=complete_id)
@json_option
@with_gradebook
def history(book: Gradebook, learner: str, id_: str | None, as_json: bool) -> None:
    """Show how marks came about: attempts, and what people changed.

    \b
    Example:
      kata gradebook history ada
      kata gradebook history ada masks --json
    """
    from grader.instructor.gradebook import overview
    from grader.instructor.gradebook.resolve import resolve_katas

    katas = resolve_katas(book, [id_] if id_ else []) or book.katas()
    histories = {kata: book.history(learner, kata) for kata in katas}
    if as_json:
        from grader.instructor.gradebook.exports.documents import document_of_event

        events = [{"kata": kata, **document_of_event(event)} for kata in katas for event in histories[kata]]
        print_json({"learner": learner, "events": events})
    else:
        overview.print_history(histories, book.course, console())
        if not any(histories.values()):
            note(f"Nothing has happened yet to the marks of {learner}.")


# What the commands share


@contextmanager
def _changing(book: Gradebook, change: MarkChange) -> Iterator[tuple[str, str]]:
    """Find the mark to change, and print it before and after.

    Raises:
        UsageError: there is no such mark, or nothing says why it changes.
    """
    if not change.comment.strip():
        raise UsageError("A mark is not changed without a reason.", "Give one: --comment TEXT")
    from grader.instructor.gradebook.resolve import resolve_kata, resolve_learner

    who, kata = resolve_learner(book, change.learner), resolve_kata(book, change.id_)
    # Looked at before and after, since the change of a mark is not the points that were given: it may be
    # late or overridden.
    before = next(iter(book.rows(katas=[kata], learners=[who])))
    yield who, kata
    after = next(iter(book.rows(katas=[kata], learners=[who])))
    most = points(after.max_score)
    shown = f"{before.report.number} {kata}   {points(before.score)}/{most} → {points(after.score)}/{most}"
    from grader.instructor.gradebook.overview import who as called

    out = console()
    arrow = shown if out.encoding.lower().startswith("utf") else shown.replace("→", "->")
    out.print(f"{called(after)}   {arrow}", soft_wrap=True)
    if after.score > after.max_score:
        note(f"note: {points(after.score)} is more than the {most} points there are.")
    elif before.score == after.score:
        note("note: the mark is the same as before.")


def _points(text: str) -> float:
    from grader.instructor.gradebook.resolve import points_meant

    return points_meant(text)


for _command in (
    adjust_all,
    code,
    export,
    *ANALYSIS,
    *WRITTEN,
    *RULINGS,
    *(load(target) for name, target in EXTRAS.items() if name.startswith("gradebook ")),
):
    gradebook.add_command(_command)
