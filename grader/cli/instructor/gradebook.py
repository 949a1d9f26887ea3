"""`kata gradebook`: look at marks, at what was handed in, and at what a class's hand-ins say together.

What changes marks, and takes them elsewhere, is in modules of its own, whose commands are added below.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

import click

from grader.cli.context import complete_id, json_option, note, print_json
from grader.cli.instructor.adjust import COMMANDS as ADJUSTING
from grader.cli.instructor.answers import COMMANDS as WRITTEN
from grader.cli.instructor.class_options import name_word, print_line, same_book, with_gradebook
from grader.cli.instructor.export import export, of_section
from grader.cli.instructor.rulings import COMMANDS as RULINGS
from grader.cli.instructor.teams import COMMANDS as TEAMS
from grader.commands import EXTRAS, load
from grader.errors import UsageError
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
        known = [parameter for parameter in command.get_params(ctx) if isinstance(parameter, click.Option)]
        flags = {option for parameter in known if parameter.is_flag for option in parameter.opts}
        with_value = {option for parameter in known if not parameter.is_flag for option in parameter.opts}
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
    from grader.cli.instructor import screens
    from grader.instructor.gradebook.exports.documents import document_of
    from grader.instructor.gradebook.resolve import resolve_katas
    from grader.instructor.gradebook.row_types import by_learner

    katas = resolve_katas(book, (*only, *([id_] if id_ else [])))
    if learner is None:
        class_rows = book.rows(katas=katas, learners=of_section(book, section))
        if as_json:
            every = [document_of(list(own.values()), book.course) for _, own in by_learner(class_rows)]
            print_json({"learners": every})
        elif not screens.print_class(class_rows, book.course, console()):
            note(f"Nothing is graded yet in {book.where}.")
        return
    # One learner: a single mark is shown in full, several as a table.
    rows = list(book.rows(katas=katas, learners=[learner]))
    if not rows:
        note(f"Nothing of {escape_controls(learner)} is graded yet in {book.where}.")
    if as_json:
        print_json(document_of(rows, book.course, whole=True) if rows else {"learner": learner, "katas": []})
    elif id_ is not None and len(rows) == 1:
        screens.print_mark(rows[0], book.course, console())
    elif rows:
        out = console()
        screens.print_learner(rows, book.course, out)
        # What to look at next is what went wrong, if anything did.
        look = next((row for row in rows if row.status != "pass"), rows[0])
        mark = f"{name_word(look.learner)} {look.kata}{same_book()}"
        out.print(f"\nin full  kata gradebook show {mark}", soft_wrap=True)


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
    from grader.cli.instructor import screens
    from grader.instructor.gradebook.resolve import resolve_katas

    katas = resolve_katas(book, [id_] if id_ else []) or book.katas()
    histories = {kata: book.history(learner, kata) for kata in katas}
    if as_json:
        from grader.instructor.gradebook.exports.documents import document_of_event

        events = [{"kata": kata, **document_of_event(event)} for kata in katas for event in histories[kata]]
        print_json({"learner": learner, "events": events})
    else:
        screens.print_history(histories, book.course, console())
        if not any(histories.values()):
            note(f"Nothing has happened yet to the marks of {learner}.")


@click.command(short_help="Show what a learner handed in, and what changed between two attempts.")
@click.argument("learner")
@click.argument("id_", metavar="[ID]", required=False, shell_complete=complete_id)
@click.option(
    "--attempt",
    type=int,
    metavar="N",
    help="Show this attempt instead of the one that counts; `history` shows the numbers.",
)
@click.option("--diff", "other", type=int, metavar="M", help="Show what changed from attempt M to this one.")
@click.option("--all", "every", is_flag=True, help="Also show the files next to the module.")
@with_gradebook
def code(
    book: Gradebook, learner: str, id_: str | None, attempt: int | None, other: int | None, every: bool
) -> None:
    """Show what a learner handed in: the attempt that counts, or the one that --attempt names.

    Without ID, it shows every kata that the learner handed in. For a notebook, it shows the code cells.

    \b
    Example:
      kata gradebook code ada masks
      kata gradebook code ada masks --attempt 3
      kata gradebook code ada masks --attempt 3 --diff 1
    """
    from grader.cli.instructor import screens
    from grader.instructor.gradebook.resolve import resolve_katas

    if other is not None and id_ is None:
        raise UsageError(
            "--diff compares two attempts of one kata.", "Name it: kata gradebook code LEARNER ID"
        )
    out, shown = console(), 0
    for row in book.rows(katas=resolve_katas(book, [id_] if id_ else []), learners=[learner]):
        # People count attempts by learner and kata; the gradebook has one number for each of all.
        there = book.attempts_of(learner, row.kata)
        counts = next((number for number, stored in there.items() if stored == row.attempt), None)
        number = attempt if attempt is not None else counts
        if number is None:
            continue
        bundle = book.bundle(there[number]) if number in there else None
        if bundle is None:
            # Among several katas, one without this attempt is skipped: the others may have it.
            if attempt is not None and id_ is not None:
                raise _nothing_stored(book, learner, row.kata, number)
            continue
        shown += 1
        if other is None:
            screens.print_code(bundle, f"{learner}, {row.kata}, attempt {number}", out, every=every)
            continue
        before = book.bundle(there[other]) if other in there else None
        if before is None:
            raise _nothing_stored(book, learner, row.kata, other)
        screens.print_diff(before, bundle, f"attempt {other}", f"attempt {number}", out)
    if not shown:
        note(f"{escape_controls(learner)} handed in nothing that was stored.")


def _nothing_stored(book: Gradebook, who: str, kata: str, number: int) -> UsageError:
    there = book.attempts_of(who, kata)
    stored = ", ".join(str(number) for number, row in there.items() if book.bundle(row) is not None)
    return UsageError(
        f"Nothing is stored of attempt {number} of {who} at {kata}. Stored attempts: {stored or 'none'}.",
        f"See: kata gradebook history {name_word(who)} {kata}{same_book()}",
    )


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
    found = [group for slug in katas for group in grouped(book, slug)]
    if as_json:
        listed = [group._asdict() | {"members": [row.learner for row in group.members]} for group in found]
        print_json({"groups": listed})
        return
    for group in found:
        names = ", ".join(row.learner for row in group.members)
        print_line(f"{len(group.members):>4}  {group.kata}: {group.what}\n      {names}")
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
        print_json({"items": [item._asdict() for item in found]})
        return
    print_line(" failed  tells  attempts")
    for item in found:
        tells = "    –" if item.discrimination is None else f"{item.discrimination:5.2f}"
        tries = "   –" if item.attempts is None else f"{item.attempts:4.1f}"
        flag = f"  [{item.flag}]" if item.flag else ""
        print_line(f"{100 * item.difficulty:5.0f} %  {tells}      {tries}  {item.kata}: {item.name}{flag}")


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
    found = [problem for problem in open_.problems(book) if only in (None, problem.of)]
    if as_json:
        print_json({"problems": [problem._asdict() for problem in found]})
        return
    comment = f"{same_book()} --comment TEXT"
    for of, those in groupby(found, key=lambda problem: problem.of):
        print_line(f"{of or 'the course'}:")
        for problem in those:
            about = ", ".join(filter(None, (problem.learner, problem.kata)))
            options = {"gradebook": comment, "grade": same_book()}.get(problem.command.split()[1], "")
            print_line(f"  {': '.join(filter(None, (problem.kind, about, problem.what)))}")
            print_line(f"      {problem.command}{options}")
    if not found:
        note("Nothing is open.")


for _command in (
    code,
    groups,
    items,
    problems,
    export,
    *ADJUSTING,
    *WRITTEN,
    *RULINGS,
    *TEAMS,
    *(load(target) for name, target in EXTRAS.items() if name.startswith("gradebook ")),
):
    gradebook.add_command(_command)
