"""`kata gradebook export`: a class's marks for a spreadsheet or another system."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from grader.cli.context import complete_id, gathered, note, write_pieces
from grader.cli.instructor.class_options import same_book, with_gradebook
from grader.errors import KataError, UsageError
from grader.report.style import escape_controls
from grader.words import counted

if TYPE_CHECKING:
    from grader.instructor.gradebook.store import Gradebook
    from grader.instructor.grading.roster_matching import Unmatched

SYSTEMS = ("canvas", "moodle", "blackboard", "brightspace")
"""Whose own files are written, with a line for each learner."""
FORMATS = ("csv", "wide", "jsonl", *SYSTEMS, "gradescope")

only_option: Callable[[Any], Any] = click.option(
    "--only",
    metavar="ID",
    multiple=True,
    shell_complete=complete_id,
    help="Only this assignment, unit or kata; repeat it for more.",
)


@dataclass(frozen=True)
class ExportOptions:
    """What is exported, and how."""

    format: str
    output: str
    assignments: list[tuple[str, str]]
    per_assignment: bool
    section: str | None
    extra: tuple[str, ...]
    strict: bool
    bom: bool
    only: tuple[str, ...]

    @property
    def numbers(self) -> dict[str, str]:
        """The numbers that columns have in another system, by what each column is of."""
        return {name: number for name, number in self.assignments if number}

    @property
    def whole_assignments(self) -> list[str]:
        """Assignments of the course whose katas alone are written."""
        return [name for name, number in self.assignments if not number]


@click.command(short_help="Write the marks for a spreadsheet or another system.")
@gathered(
    ExportOptions,
    click.option("--format", type=click.Choice(FORMATS), required=True, help="Format to write."),
    click.option(
        "-o",
        "--output",
        metavar="FILE",
        default="-",
        help="File to write, or - for standard output. For gradescope, a folder.",
    ),
    click.option(
        "--assignment",
        "assignments",
        callback=lambda _context, _parameter, words: [_assignment(word) for word in words],
        metavar="ID=NUMBER|NAME",
        multiple=True,
        help="For canvas and blackboard: the column's number there. Or an assignment of the course: write only its "
        "katas.",
    ),
    click.option(
        "--per-assignment",
        is_flag=True,
        help="For canvas, moodle, blackboard, brightspace: a column for each assignment of the course, not for each "
        "kata.",
    ),
    click.option("--section", metavar="NAME", help="Only the learners of this section of the roster."),
    click.option(
        "--column",
        "extra",
        metavar="NAME",
        multiple=True,
        help="For csv and wide: add this column of the roster; repeat it for more.",
    ),
    click.option(
        "--strict", is_flag=True, help="Exit with 3 if somebody who handed in is not in the roster."
    ),
    click.option(
        "--bom", is_flag=True, help="Begin with a byte order mark, so that Excel reads csv and wide as UTF-8."
    ),
    only_option,
)
@with_gradebook
def export(book: Gradebook, options: ExportOptions) -> int:
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

    jsonl holds hidden checks: it is for instructors only.

    \b
    Example:
      kata gradebook export --format wide
      kata gradebook export --format canvas --only 9.3 -o canvas.csv
      kata gradebook export --format gradescope -o results/
    """
    from grader.instructor.gradebook.exports import to_gradescope
    from grader.instructor.gradebook.resolve import resolve_katas
    from grader.instructor.grading.problems import unsettled

    _refuse_contradictions(options)
    format_, output = options.format, options.output
    learners = of_section(book, options.section)
    # Before anything is written: a name that means nothing leaves no half-made file.
    katas = resolve_katas(book, (*options.only, *_katas_of(options.whole_assignments, book)))
    found = unsettled(book)
    note_waiting(book, katas, learners, format_)
    titled = [name for name in book.course.assignments if name in book.course.columns]
    if titled and format_ in SYSTEMS and not (options.per_assignment or options.numbers):
        title = escape_controls(book.course.columns[titled[0]])
        note(f"note: this has a column for each kata; {title} is one of an assignment: --per-assignment")
    if format_ == "gradescope":
        _write_folder(Path(output), to_gradescope(book.rows(katas=katas, learners=learners), book.course))
    else:
        pieces = _pieces(book, options, katas, found)
        write_pieces(output, (piece.encode() for piece in chain(["\ufeff"] if options.bom else [], pieces)))
        if output != "-":
            note(f"written  {output}")
    # If you upload the file somewhere, you should know whose marks are not in it.
    note_unmatched(found, katas, format_)
    return KataError.exit_code if options.strict and found.strangers else 0


def _refuse_contradictions(options: ExportOptions) -> None:
    """Refuse options that the format has no use for.

    Raises:
        UsageError: there is such a one, or the output cannot be what the format is.
    """
    format_, output = options.format, options.output
    # An option that is ignored would look as if it had worked.
    in_columns = format_ in ("csv", "wide")
    # In the order in which people correct them: the content first, then where it goes.
    for wrong, message, hint in (
        (
            options.bom and not in_columns,
            "--bom is for csv and wide.",
            "Other readers take UTF-8 as it is.",
        ),
        (
            options.numbers and format_ not in ("canvas", "blackboard"),
            "--assignment with a number is only for canvas and blackboard.",
            "Other systems ask which column is which.",
        ),
        (
            options.extra and not in_columns,
            "--column is for csv and wide.",
            "Other systems have columns of their own.",
        ),
        (
            options.per_assignment and format_ not in SYSTEMS,
            f"--per-assignment is for {', '.join(SYSTEMS)}.",
            "Other formats have a column for each kata.",
        ),
        (
            format_ == "gradescope" and output == "-",
            "gradescope is a file for each learner.",
            "Name a folder: -o results/",
        ),
        (
            format_ != "gradescope" and Path(output).is_dir(),
            f"{output}: this is a folder.",
            "Name a file, such as marks.csv.",
        ),
    ):
        if wrong:
            raise UsageError(message, hint)


def _pieces(
    book: Gradebook, options: ExportOptions, katas: list[str] | None, found: Unmatched
) -> Iterator[str]:
    """Return what goes into the file, bit by bit."""
    from grader.catalogue import Catalogue
    from grader.instructor.gradebook.exports import export as pieces
    from grader.instructor.gradebook.resolve import resolve_kata

    learners = of_section(book, options.section)
    named = None
    if options.per_assignment:
        if not book.course.assignments:
            raise UsageError(
                "--per-assignment: the course settings name no assignments.",
                "Name them in course.toml: [assignments.week1] with katas = [...]",
            )
        named = options.numbers
        _katas_of(list(named), book)  # to be refused where the course has no such assignment
    return pieces(
        options.format,
        lambda: book.rows(katas=katas, learners=learners),  # tables read them twice
        book.course,
        {kata.slug: kata.title for kata in Catalogue.discover().katas},
        {resolve_kata(book, id_): number for id_, number in options.numbers.items()} if named is None else {},
        [_column_meant(book, column) for column in options.extra],
        {*found.unsure, *found.misnamed},
        named,
    )


def _katas_of(names: list[str], book: Gradebook) -> list[str]:
    """Return the katas of assignments, as far as they were graded.

    Raises:
        UsageError: the course has no such assignment, or nothing of it was graded.
    """
    from grader.instructor.gradebook.resolve import katas_of_assignment

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


def of_section(book: Gradebook, section: str | None) -> list[str] | None:
    """Return who is in a section; None where none is asked for.

    Raises:
        UsageError: the roster has no such section.
    """
    if section is None:
        return None
    learners, gone = book.course.sections[book.course.section_called(section)], book.left()
    return [learner for learner in learners if learner not in gone]


def _column_meant(book: Gradebook, text: str) -> str:
    """Return a roster's column as it is stored: `E-Mail` is `e_mail`.

    Raises:
        UsageError: the roster has none of this name.
    """
    # As the roster's headings are read, so that either spelling finds it.
    column = "_".join(text.strip().lower().replace("-", " ").split())
    own = {"section", "canvas_id", "moodle_id"}
    there = own | {name for person in book.course.roster.values() for name in person.other}
    if column not in there:
        raise UsageError(
            f"--column {text}: the roster has no such column.", f"It has {', '.join(sorted(there))}."
        )
    return column


def note_waiting(book: Gradebook, katas: list[str] | None, learners: list[str] | None, format_: str) -> None:
    """Say, before anything is written, what becomes of released answers that wait for a mark."""
    parts = {
        (mark.learner, mark.kata): mark.written
        for mark in book.marks(learners=learners)
        if mark.written is not None and mark.written.released and (katas is None or mark.kata in katas)
    }
    count = sum(len(part.unmarked) for part in parts.values())
    if count and format_ not in ("csv", "jsonl"):  # the one has a column of them, the other no such marks
        people = counted(len({who for (who, _), part in parts.items() if part.unmarked}), "learner")
        worth = "count as 0 in this export" if format_ == "gradescope" else "leave their cells empty, not 0"
        note(
            f"{counted(count, 'written answer')} ({people}) not marked yet: they {worth}. "
            f"See them: kata gradebook answers{same_book()}"
        )


def note_unmatched(found: Unmatched, katas: list[str] | None, format_: str) -> None:
    """Name those who handed in and are not in the roster, and those of it of whom nothing came in."""
    from grader.instructor.gradebook.identities import proposal
    from grader.instructor.submissions.names import listed

    for name, near in found.strangers.items():
        guess = f"; {proposal(near)[1]}" if near else ""
        note(f"not in the roster: {escape_controls(name)}{escape_controls(guess)}")
    if found.strangers:
        note(f"match  kata gradebook alias LEARNER NAME{same_book()} --comment TEXT")
    if found.absent:
        note(f"{len(found.absent)} in the roster handed in nothing: {listed(found.absent, 10)}")
    empty = sorted({learner for learner, kata in found.unsure if katas is None or kata in katas})
    if empty and format_ in SYSTEMS:
        note(
            "Until everybody who handed in is matched with the roster, cells are empty, not 0, for a kata that a "
            f"stranger handed in and these did not: {listed(empty, 10)}."
        )
    over = [f"{learner} ({kata})" for learner, kata in found.passed_over if katas is None or kata in katas]
    if over:
        note(
            f"A newer attempt does not count: {listed(over, 10)}. See why: kata gradebook problems{same_book()}"
        )
    open_ = sorted({learner for learner, kata in found.misnamed if katas is None or kata in katas})
    if open_:
        cells = "their cells are empty, not 0" if format_ in SYSTEMS else "it counts as 0 in this export"
        note(
            f"A misnamed file may be the answer of {listed(open_, 10)}; until that is settled, {cells}. "
            f"See: kata gradebook problems{same_book()}"
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
