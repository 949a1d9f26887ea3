"""`kata gradebook adjust-all`: many changes of marks at once, from a table."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from grader.cli.context import note
from grader.cli.instructor.class_options import author_of, author_option, lines_of, print_line, with_gradebook
from grader.errors import UsageError
from grader.report.style import points

if TYPE_CHECKING:
    from grader.instructor.gradebook.events import Adjust, Override
    from grader.instructor.gradebook.store import Gradebook

_EXAMPLE = "For example: the header learner,kata,points,comment and a line like ada,masks,+2,oral exam"


class MarkLine(NamedTuple):
    """One change of a mark."""

    learner: str
    kata: str
    kind: type[Adjust] | type[Override]
    points: float
    comment: str


@click.command("adjust-all", short_help="Change many marks at once, from a CSV file.")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--dry-run", is_flag=True, help="Say what would change, and write nothing.")
@click.option("--beyond", is_flag=True, help="Marks may be more than the maximum.")
@author_option
@with_gradebook
def adjust_all(book: Gradebook, file: Path, dry_run: bool, beyond: bool, author: str | None) -> None:
    """Change many marks at once: FILE has the columns learner, kata, points and comment.

    Points are given or taken away, as by `adjust`; if a column `kind` says override, they become the mark. If any line
    has a mistake, it is reported and nothing is written. A line that is already recorded word for word is skipped, so
    the same file can be used again.

    \b
    Example:
      kata gradebook adjust-all oral.csv --dry-run
      kata gradebook adjust-all oral.csv --author kim
    """
    lines = lines_of(file, ("learner", "kata", "points", "comment"), partial(_line, book), _EXAMPLE)
    write_changes(book, lines, author_of(author), dry_run=dry_run, beyond=beyond)


def write_changes(
    book: Gradebook, lines: list[MarkLine], who: str, *, dry_run: bool, beyond: bool = False
) -> None:
    """Record those of some changes that are not recorded yet, or none of them, and print them.

    Raises:
        UsageError: a mark would be more than may be.
    """
    from msgspec.structs import replace

    from grader.instructor.gradebook.events import Provenance, standing
    from grader.instructor.gradebook.resolve import mark_meant

    whose = {line.learner for line in lines}
    marks = {(mark.learner, mark.kata): mark for mark in book.rows(learners=whose)}
    recorded: set[tuple[object, ...]] = {
        (*of, type(change), change.points, change.made.comment)
        for of, mark in marks.items()
        for change in standing(mark.adjustments)
    }
    # The same line twice is one line; and no mark is too high before any is written.
    new = [line for line in dict.fromkeys(lines) if line not in recorded]
    changes = []
    for line in new:
        made = Provenance(author=who, comment=line.comment)
        change = line.kind(learner=line.learner, kata=line.kata, points=line.points, made=made)
        changes.append(change)
        mark = marks[line.learner, line.kata]
        mark_meant(mark, line.kind, line.points, beyond=beyond)
        # On goes the changed mark: two lines of one learner are judged together.
        changed = replace(mark, adjustments=(*mark.adjustments, change))
        marks[line.learner, line.kata] = changed
    for line, change in zip(new, changes, strict=True):
        if not dry_run:
            book.decide(change)
        text = f"{line.learner}, {line.kata}: {change.sign}{points(line.points)}  {line.comment}"
        print_line(text)
    already = len(lines) - len(new)
    note(f"{len(new)} {'would change' if dry_run else 'changed'}, {already} already recorded")


def _line(book: Gradebook, cells: dict[str, str]) -> MarkLine:
    """Return what a line says.

    Raises:
        UsageError: it breaks a rule.
    """
    from grader.instructor.gradebook.events import Adjust, Override
    from grader.instructor.gradebook.resolve import points_meant, resolve_kata, resolve_learner

    word = cells.get("kind", "").casefold() or "adjust"
    kinds: dict[str, type[Adjust] | type[Override]] = {"adjust": Adjust, "override": Override}
    kind = kinds.get(word)
    if kind is None:
        raise UsageError(f"kind must be adjust or override, not {word}.")
    if not cells["comment"]:
        raise UsageError("A mark is not changed without a reason: the comment is empty.")
    given = points_meant(cells["points"])
    if kind is Override and given < 0:
        raise UsageError(f"A mark cannot be {points(given)}; it is 0 or more.")
    # More likely a cell that was forgotten than a wish: an override to 0 says so.
    if kind is Adjust and not given:
        raise UsageError("0 points change nothing.")
    who, kata = resolve_learner(book, cells["learner"]), resolve_kata(book, cells["kata"])
    return MarkLine(who, kata, kind, given, cells["comment"])
