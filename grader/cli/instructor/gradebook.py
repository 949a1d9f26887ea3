"""`kata gradebook`: look at marks, change them, take them elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from grader.cli.context import complete_id, json_option, note, print_json
from grader.cli.instructor.adjust import COMMANDS as ADJUSTING
from grader.cli.instructor.analysis import COMMANDS as ANALYSIS
from grader.cli.instructor.answers import COMMANDS as WRITTEN
from grader.cli.instructor.class_options import name_word, same_book, with_gradebook
from grader.cli.instructor.code import code
from grader.cli.instructor.export import export, of_section
from grader.cli.instructor.push import push
from grader.cli.instructor.questions import questions, quiz_results
from grader.cli.instructor.rulings import COMMANDS as RULINGS
from grader.report.style import console, escape_controls

if TYPE_CHECKING:
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


for _command in (
    code,
    export,
    push,
    questions,
    quiz_results,
    *ADJUSTING,
    *ANALYSIS,
    *WRITTEN,
    *RULINGS,
):
    gradebook.add_command(_command)
