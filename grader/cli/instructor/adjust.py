"""`kata gradebook adjust | override | revoke | adjust-all`: changes of marks, one at a time or from a table."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from grader.cli.context import complete_id, gathered, note
from grader.cli.instructor.class_options import (
    author_of,
    author_option,
    lines_of,
    name_word,
    print_line,
    same_book,
    with_gradebook,
)
from grader.errors import UsageError
from grader.report.style import console, escape_controls, points

if TYPE_CHECKING:
    from grader.instructor.gradebook.events import Adjust, Override
    from grader.instructor.gradebook.store import Gradebook

_EXAMPLE = "For example: the header learner,kata,points,comment and a line like ada,masks,+2,oral exam"


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
    command = click.command(short_help=short_help)
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


@click.command(short_help="Take back an adjustment or an override.")
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
        standing = [change.id for change in row.adjustments if not change.revoked]
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
    from grader.cli.instructor.screens import who as called

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
    columns = ("learner", "kata", "points", "comment")
    lines = lines_of(
        file, columns, partial(_line, book), lambda line: (line.learner, line.kata, line.kind), _EXAMPLE
    )
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
    # No mark is too high before any is written.
    new = [line for line in lines if line not in recorded]
    changes = []
    for line in new:
        made = Provenance(author=who, comment=line.comment)
        change = line.kind(learner=line.learner, kata=line.kata, points=line.points, made=made)
        changes.append(change)
        mark = marks[line.learner, line.kata]
        mark_meant(mark, line.kind, line.points, beyond=beyond)
        # On goes the changed mark: two lines of one learner are judged together.
        marks[line.learner, line.kata] = replace(mark, adjustments=(*mark.adjustments, change))
    for line, change in zip(new, changes, strict=True):
        if not dry_run:
            book.decide(change)
        print_line(f"{line.learner}, {line.kata}: {change.sign}{points(line.points)}  {line.comment}")
    note(f"{len(new)} {'would change' if dry_run else 'changed'}, {len(lines) - len(new)} already recorded")


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


COMMANDS: tuple[Any, ...] = (adjust, override, revoke, adjust_all)
