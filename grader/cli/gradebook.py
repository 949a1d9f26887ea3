"""`kata gradebook`: look at marks, change them, take them elsewhere."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import reduce
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

import click

from grader.cli.adjust_all import adjust_all
from grader.cli.answers import COMMANDS as WRITTEN
from grader.cli.assign import assign
from grader.cli.class_options import (
    again,
    author_of,
    author_option,
    opened,
    where_options,
    word,
)
from grader.cli.code import code
from grader.cli.context import complete_id, json_option, note, print_json, write_pieces
from grader.cli.rulings import COMMANDS as RULINGS
from grader.errors import KataError, UsageError
from grader.reports.style import console, points, safe
from grader.words import counted

if TYPE_CHECKING:
    from grader.gradebook.records import Row
    from grader.gradebook.store import Gradebook
    from grader.grading.who import Unmatched

MOST_POINTS = 1e6
_MINUS = "\u2212"
"""Stands for the hyphen of a negative number while click looks for options."""
SYSTEMS = ("canvas", "moodle", "blackboard", "brightspace")
"""Whose own files are written, with a line for each learner."""
FORMATS = ("csv", "wide", "jsonl", *SYSTEMS, "gradescope", "junit")

_only_option: Callable[[Any], Any] = click.option(
    "--only",
    metavar="ID",
    multiple=True,
    shell_complete=complete_id,
    help="Only this unit or kata; repeat it for more.",
)


class TakesPoints(click.Command):
    """A command that reads -2 as points, not as an option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Mark negative numbers that stand where an argument does."""
        before = ["", *args]
        marked = [
            word.replace("-", _MINUS, 1)
            if re.match(r"-[.\d]", word) and not previous.startswith("--")
            else word
            for previous, word in zip(before, args, strict=False)
        ]
        return super().parse_args(ctx, marked)


@click.group(short_help="Look at a class's marks, change them, export them.")
def gradebook() -> None:
    """Look at a class's marks, change them, export them.

    LEARNER is an identity as `show` lists it, a name, or the beginning of one. ID is a number (9.3.2), a name
    (masked-attention), or the beginning of one. Every command takes --gradebook URL.

    \b
    Example:
      kata gradebook show
      kata gradebook adjust ada masks +2 --comment "the third check was ours to mend"
      kata gradebook export --format canvas -o canvas.csv
    """


@gradebook.command(short_help="Show a class, a learner, or one mark with everything that went into it.")
@click.argument("learner", required=False)
@click.argument("id_", metavar="[ID]", required=False, shell_complete=complete_id)
@_only_option
@click.option("--section", metavar="NAME", help="Only the learners of this section of the roster.")
@json_option
@where_options
def show(
    learner: str | None,
    id_: str | None,
    only: tuple[str, ...],
    section: str | None,
    as_json: bool,
    where: str,
    course_file: Path | None,
) -> None:
    """Show a class, a learner, or one mark with everything that went into it.

    Without arguments, it shows a table with a line per learner and a column per kata. Hidden checks are shown, so
    this is for instructors only.

    \b
    Example:
      kata gradebook show
      kata gradebook show --only 9.3
      kata gradebook show ada
      kata gradebook show ada masks
    """
    from grader.gradebook import overview
    from grader.gradebook.exports.documents import document_of
    from grader.gradebook.meant import katas_meant, learner_meant

    with opened(where, course_file) as book:
        katas = katas_meant(book, (*only, *([id_] if id_ else [])))
        if learner is None:
            _show_class(book, katas, _of_section(book, section), as_json)
            return
        rows = list(book.rows(katas=katas, learners=[learner_meant(book, learner)]))
        if as_json:
            print_json(document_of(rows, book.course, whole=True))
        elif id_ is not None and len(rows) == 1:
            overview.print_mark(rows[0], book.course, console())
        elif rows:
            out = console()
            overview.print_learner(rows, book.course, out)
            look = next((row for row in rows if row.report.status != "pass"), rows[0])
            mark = f"{word(look.learner)} {look.kata}{again(where)}"
            out.print(f"\nin full  kata gradebook show {mark}", soft_wrap=True)


def _show_class(book: Gradebook, katas: list[str] | None, learners: list[str] | None, as_json: bool) -> None:
    from grader.gradebook import overview
    from grader.gradebook.exports.documents import document_of
    from grader.gradebook.records import by_learner

    rows = book.rows(katas=katas, learners=learners)
    if as_json:
        found = [document_of(list(own.values()), book.course) for _, own in by_learner(rows)]
        print_json({"learners": found})
    elif not overview.print_class(rows, book.course, console()):
        note(f"Nothing is graded yet in {book.where}.")


def _change(short_help: str) -> Callable[[Callable[..., Any]], click.Command]:
    """Make a command of LEARNER ID POINTS, which says why and whose word it is."""
    parts = (
        gradebook.command(cls=TakesPoints, short_help=short_help),
        click.argument("learner"),
        click.argument("id_", metavar="ID", shell_complete=complete_id),
        click.argument(
            "points_", metavar="POINTS", callback=lambda _context, _parameter, text: _number(text)
        ),
        click.option("--comment", metavar="TEXT", required=True, help="The reason; the learner may read it."),
        author_option,
        where_options,
    )

    return lambda function: reduce(lambda command, part: part(command), reversed(parts), cast(Any, function))


@_change("Give a learner points for a kata, or take some away.")
def adjust(points_: float, **of_what: Any) -> None:
    """Give a learner points for a kata, or take some away.

    They are added to the graded points, and stay when the kata is graded again. The mark never falls below 0, and
    may exceed the maximum.

    \b
    Example:
      kata gradebook adjust ada masks +2 --comment "the third check was ours to mend"
      kata gradebook adjust ada 9.3.2 -1.5 --comment "handed in by mail" --author kim
    """
    if not points_:
        raise UsageError(
            "0 points change nothing.", "Give points, such as 2, or take some away, such as -1.5."
        )
    _decide("adjust", points_, **of_what)


@_change("Set a learner's mark for a kata, whatever was graded.")
def override(points_: float, **of_what: Any) -> None:
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
    _decide("override", points_, **of_what)


def _decide(
    kind: Literal["adjust", "override"],
    points_: float,
    *,
    learner: str,
    id_: str,
    comment: str,
    author: str | None,
    where: str,
    course_file: Path | None,
) -> None:
    with opened(where, course_file) as book, _changing(book, learner, id_, comment) as (who, kata):
        write = book.adjust if kind == "adjust" else book.override
        write(who, kata, points_, comment=comment, author=author_of(author))
    note(f"undo  kata gradebook revoke {word(who)} {kata}{again(where)} --comment TEXT")


@gradebook.command(short_help="Take back an adjustment or an override.")
@click.argument("learner")
@click.argument("id_", metavar="ID", shell_complete=complete_id)
@click.argument("number", required=False, type=click.IntRange(min=1))
@click.option("--comment", metavar="TEXT", required=True, help="The reason; it stays in the history.")
@author_option
@where_options
def revoke(
    learner: str,
    id_: str,
    number: int | None,
    comment: str,
    author: str | None,
    where: str,
    course_file: Path | None,
) -> None:
    """Take back an adjustment or an override: the newest one, or the one with this NUMBER in `history`.

    \b
    Example:
      kata gradebook revoke ada masks --comment "it was meant for adam"
      kata gradebook revoke ada masks 12 --comment "it was meant for adam"
    """
    with opened(where, course_file) as book, _changing(book, learner, id_, comment) as (who, kata):
        row = next(iter(book.rows(katas=[kata], learners=[who])))
        standing = [one.id for one in row.adjustments if not one.revoked]
        if not standing:
            raise UsageError(
                f"{safe(who)}, {kata}: nobody changed this mark.", _history_hint(who, kata, where)
            )
        if number is not None and number not in standing:
            numbers = ", ".join(map(str, standing))
            raise UsageError(
                f"{safe(who)}, {kata}: there is no change {number} to take back; there is {numbers}.",
                _history_hint(who, kata, where),
            )
        book.revoke(number or standing[-1], author=author_of(author), comment=comment)


@gradebook.command(short_help="Show how marks came about: attempts, and what people changed.")
@click.argument("learner")
@click.argument("id_", metavar="[ID]", required=False, shell_complete=complete_id)
@json_option
@where_options
def history(learner: str, id_: str | None, as_json: bool, where: str, course_file: Path | None) -> None:
    """Show how marks came about: attempts, and what people changed.

    \b
    Example:
      kata gradebook history ada
      kata gradebook history ada masks --json
    """
    from grader.gradebook import overview
    from grader.gradebook.meant import katas_meant, learner_meant

    with opened(where, course_file) as book:
        who = learner_meant(book, learner)
        katas = katas_meant(book, [id_] if id_ else []) or book.katas()
        told = {kata: book.history(who, kata) for kata in katas}
    if as_json:
        import msgspec

        events = [{"kata": kata, **msgspec.to_builtins(event)} for kata in katas for event in told[kata]]
        print_json({"learner": who, "events": events})
    else:
        overview.print_history(told, book.course, console())
        if not any(told.values()):
            note(f"Nothing has happened yet to the marks of {who}.")


@gradebook.command(short_help="Write the marks for a spreadsheet or another system.")
@click.option("--format", "format_", type=click.Choice(FORMATS), required=True, help="Format to write.")
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    default="-",
    help="File to write, or - for standard output. For gradescope, a folder.",
)
@click.option(
    "--assignment",
    "assignments",
    callback=lambda _context, _parameter, words: [_assignment(word) for word in words],
    metavar="ID=NUMBER|NAME",
    multiple=True,
    help="For canvas and blackboard: the column's number there. Or an assignment of the course: write only its katas.",
)
@click.option(
    "--per-assignment",
    is_flag=True,
    help="For canvas, moodle, blackboard, brightspace: a column for each assignment of the course, not for each kata.",
)
@click.option("--section", metavar="NAME", help="Only the learners of this section of the roster.")
@click.option(
    "--column",
    "extra",
    metavar="NAME",
    multiple=True,
    help="For csv and wide: add this column of the roster; repeat it for more.",
)
@click.option("--strict", is_flag=True, help="Exit with 3 if somebody who handed in is not in the roster.")
@click.option(
    "--bom", is_flag=True, help="Begin with a byte order mark, so that Excel reads csv and wide as UTF-8."
)
@_only_option
@where_options
def export(
    format_: str,
    output: str,
    assignments: list[tuple[str, str]],
    per_assignment: bool,
    section: str | None,
    extra: tuple[str, ...],
    strict: bool,
    bom: bool,
    only: tuple[str, ...],
    where: str,
    course_file: Path | None,
) -> int:
    """Write the marks for a spreadsheet or another system.

    \b
    csv         a line for each learner and kata
    wide        a line for each learner, a column for each kata
    jsonl       the reports as they were graded, one per line
    canvas      for Canvas: Grades, Import
    moodle      for Moodle: Grades, Import, CSV file
    blackboard  for Blackboard: Gradebook, Upload
    brightspace for Brightspace (D2L): Grades, Enter Grades, Import
    gradescope  a folder with a results.json for each learner
    junit       JUnit XML, with each check as a test case

    Formats that hold hidden checks (jsonl, junit) are for instructors only.

    \b
    Example:
      kata gradebook export --format wide
      kata gradebook export --format canvas --only 9.3 -o canvas.csv
      kata gradebook export --format gradescope -o results/
    """
    if bom and format_ not in ("csv", "wide"):
        raise UsageError("--bom is for csv and wide.", "Other readers take UTF-8 as it is.")
    numbered = [(id_, number) for id_, number in assignments if number]
    if numbered and format_ not in ("canvas", "blackboard"):
        raise UsageError(
            "--assignment with a number is only for canvas and blackboard.",
            "Other systems ask which column is which.",
        )
    if extra and format_ not in ("csv", "wide"):
        raise UsageError("--column is for csv and wide.", "Other systems have columns of their own.")
    if per_assignment and format_ not in SYSTEMS:
        raise UsageError(
            f"--per-assignment is for {', '.join(SYSTEMS)}.", "Other formats have a column for each kata."
        )
    if format_ == "gradescope" and output == "-":
        raise UsageError("gradescope is a file for each learner.", "Name a folder: -o results/")
    if format_ != "gradescope" and Path(output).is_dir():
        raise UsageError(f"{output}: this is a folder.", "Name a file, such as marks.csv.")
    from grader.catalogue import Catalogue
    from grader.gradebook import exports
    from grader.gradebook.meant import kata_meant, katas_meant
    from grader.grading.who import unmatched

    with opened(where, course_file) as book:
        katas = katas_meant(
            book, (*only, *_katas_of([name for name, number in assignments if not number], book))
        )
        learners = _of_section(book, section)
        columns = [_column_meant(book, column) for column in extra]
        found = unmatched(book)

        def rows() -> Iterator[Row]:
            return book.rows(katas=katas, learners=learners)

        if format_ == "gradescope":
            _write_folder(Path(output), exports.to_gradescope(rows(), book.course))
        else:
            if per_assignment and not book.course.assignments:
                raise UsageError(
                    "--per-assignment: the course settings name no assignments.",
                    "Name them in course.toml: [assignments.week1] with katas = [...]",
                )
            named = dict(numbered) if per_assignment else {}
            _katas_of(list(named), book)
            numbers = {} if per_assignment else {kata_meant(book, word): number for word, number in numbered}
            titles = {kata.slug: kata.title for kata in Catalogue.discover().katas}
            pieces = exports.export(
                format_,
                rows,
                book.course,
                titles,
                numbers,
                columns,
                found.unsure,
                named if per_assignment else None,
            )
            write_pieces(output, (piece.encode() for piece in chain(["\ufeff"] if bom else [], pieces)))
    if output != "-" and format_ != "gradescope":
        note(f"written  {output}")
    _note_unmatched(found, katas, format_, where)
    return KataError.exit_code if strict and found.strangers else 0


def _katas_of(names: list[str], book: Gradebook) -> list[str]:
    """Return the katas of assignments, as far as they were graded.

    Raises:
        UsageError: the course has no such assignment, or nothing of it was graded.
    """
    from grader.gradebook.meant import katas_of_assignment

    katas: list[str] = []
    for name in names:
        if name not in book.course.assignments:
            there = ", ".join(book.course.assignments) or "none"
            raise UsageError(
                f"--assignment {name}: neither like masks=1234 nor an assignment of the course (there is {there}).",
                "The number is in the web address of the assignment.",
            )
        katas += katas_of_assignment(book, name)
    return katas


def _of_section(book: Gradebook, section: str | None) -> list[str] | None:
    """Return who is in a section; None where none is asked for.

    Raises:
        UsageError: the roster has no such section.
    """
    if section is None:
        return None
    found = [one.learner for one in book.course.roster.values() if one.section == section]
    if not found:
        there = (
            ", ".join(sorted({one.section for one in book.course.roster.values() if one.section})) or "none"
        )
        raise UsageError(f"--section {section}: the roster has no such section (there is {there}).")
    return found


def _column_meant(book: Gradebook, text: str) -> str:
    """Return a roster's column as it is kept: `E-Mail` is `e_mail`.

    Raises:
        UsageError: the roster has none of this name.
    """
    column = "_".join(text.strip().lower().replace("-", " ").split())
    own = {"section", "canvas_id", "moodle_id"}
    there = own | {name for one in book.course.roster.values() for name in one.other}
    if column not in there:
        raise UsageError(
            f"--column {text}: the roster has no such column.", f"It has {', '.join(sorted(there))}."
        )
    return column


def _note_unmatched(found: Unmatched, katas: list[str] | None, format_: str, where: str) -> None:
    """Name those who handed in and are not in the roster, and those of it of whom nothing came in."""
    from grader.submissions.names import listed

    for name, meant in found.strangers.items():
        guess = f"; {meant[0].learner}? ({meant[0].reason})" if meant else ""
        note(f"not in the roster: {safe(name)}{safe(guess)}")
    if found.strangers:
        note(f"match  kata gradebook alias LEARNER NAME{again(where)} --comment TEXT")
    if found.absent:
        note(f"{len(found.absent)} in the roster handed in nothing: {listed(found.absent, 10)}")
    empty = sorted({learner for learner, kata in found.unsure if katas is None or kata in katas})
    if empty and format_ in SYSTEMS:
        note(
            "Until everybody who handed in is matched with the roster, cells are empty, not 0, for a kata that a "
            f"stranger handed in and these did not: {listed(empty, 10)}."
        )


def _write_folder(folder: Path, files: Iterator[tuple[str, bytes]]) -> None:
    from grader.files import write_atomic

    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder}: this is a file.", "Name a folder, such as results/.")
    count = 0
    for name, data in files:
        write_atomic(folder / name, data)
        count += 1
    note(f"written  {folder}   {counted(count, 'file')}")


# What the commands share


@contextmanager
def _changing(book: Gradebook, learner: str, id_: str, comment: str) -> Iterator[tuple[str, str]]:
    """Find the mark that is meant, and print it before and after.

    Raises:
        UsageError: there is no such mark, or nothing says why it changes.
    """
    if not comment.strip():
        raise UsageError("A mark is not changed without a reason.", "Give one: --comment TEXT")
    from grader.gradebook.meant import kata_meant, learner_meant

    who, kata = learner_meant(book, learner), kata_meant(book, id_)
    before = next(iter(book.rows(katas=[kata], learners=[who])))
    yield who, kata
    after = next(iter(book.rows(katas=[kata], learners=[who])))
    most = points(after.max_score)
    shown = f"{before.report.number} {kata}   {points(before.score)}/{most} → {points(after.score)}/{most}"
    from grader.gradebook.overview import who as called

    out = console()
    arrow = shown if out.encoding.lower().startswith("utf") else shown.replace("→", "->")
    out.print(f"{called(after)}   {arrow}", soft_wrap=True)
    if after.score > after.max_score:
        note(f"note: {points(after.score)} is more than the {most} points there are.")
    elif before.score == after.score:
        note("note: the mark is the same as before.")


def _number(text: str) -> float:
    """Return points as a person types them: 2, +2, -1.5.

    Raises:
        UsageError: it is no number, or no sensible one.
    """
    word = text.strip().replace(_MINUS, "-")
    if not re.fullmatch(r"[-+]?(\d{1,12}\.?\d*|\.\d+)", word, re.ASCII):
        raise UsageError(f"{word!r} is not a number of points.", "Write one like 2, -1.5 or 0.25.")
    number = float(word)
    if abs(number) > MOST_POINTS:
        raise UsageError(f"{word} points are too many; {points(MOST_POINTS)} is the most.")
    return number


def _assignment(word: str) -> tuple[str, str]:
    """Return a kata's ID and what its assignment is called elsewhere, from `masks=1234`; a name alone has no number.

    Raises:
        UsageError: it is not like that.
    """
    kata, equals, number = word.rpartition("=")
    if not equals:
        return word, ""
    if not kata or not (number.isascii() and number.isdigit()):
        raise UsageError(
            f"--assignment {word}: not like masks=1234.",
            "The number is in the web address of the assignment.",
        )
    return kata, number


def _history_hint(who: str, kata: str, where: str) -> str:
    return f"See: kata gradebook history {word(who)} {kata}{again(where)}"


for _command in (adjust_all, assign, code, *WRITTEN, *RULINGS):
    gradebook.add_command(_command)
