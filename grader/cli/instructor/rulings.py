"""`kata gradebook alias | left | dispute | take | choose | extend | rulings | undo | withdraw`: more than points."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TextIO

import click

from grader.cli.context import complete_id, json_option, note, print_json
from grader.cli.instructor.class_options import (
    By,
    decision,
    name_word,
    print_decision,
    print_line,
    same_book,
    with_gradebook,
)
from grader.errors import UsageError, did_you_mean
from grader.words import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.instructor.gradebook.events import Decision
    from grader.instructor.gradebook.store import Gradebook


SHOWN = 10
"""Rulings that are named one by one when they are taken back."""


@click.command(short_help="Say that a learner has another name, too.")
@click.argument("learner")
@click.argument("other", metavar="NAME")
@click.option("--ahead", is_flag=True, help="Nothing has come in under NAME yet.")
@decision
def alias(book: Gradebook, learner: str, other: str, ahead: bool, by: By) -> None:
    """Say that LEARNER is also called NAME: a folder, a handle or an address in a download.

    From now on, everything under that name is theirs, including what came in before. You need to say so only once.

    \b
    Example:
      kata gradebook alias linus linus.p --comment "his folder's name"
    """
    same = book.course.normalized_name
    if same(other) in {same(name) for name in book.course.roster}:
        raise UsageError(f"{other} is in the roster as another learner.", "Correct the roster first.")
    if same(learner) == same(other):
        raise UsageError(f"{learner} already has that name.")
    known = book.aliases().get(same(other))
    if known is not None:
        raise UsageError(
            f"{other} is already recorded as {known}.",
            f"See who said so: kata gradebook rulings{same_book()}",
        )
    names = book.learners()
    # Most names that nobody has are misspelled.
    if not ahead and same(other) not in {same(name) for name in names}:
        raise UsageError(
            f"Nothing has come in under the name {other}.{did_you_mean(other, names)}",
            "If it will, say so: --ahead",
        )
    from grader.instructor.gradebook.events import Alias, Provenance

    number = book.decide(Alias(learner=learner, name=other, made=Provenance(**by)))
    print_decision(number, f"{other} is {learner}")


@click.command(short_help="Say that a learner has left the course.")
@click.argument("learner")
@decision
def left(book: Gradebook, learner: str, by: By) -> None:
    """Say that LEARNER has left the course: from now on in no table of the class, no export, no report.

    What was handed in and decided stays, and `show LEARNER` shows it. The roster need not change.

    \b
    Example:
      kata gradebook left ada --comment "dropped the course"
    """
    from grader.instructor.gradebook.events import Left, Provenance

    if learner in book.left():
        raise UsageError(
            f"{learner} has left already.", f"See who said so: kata gradebook rulings {name_word(learner)}"
        )
    print_decision(
        book.decide(Left(learner=learner, made=Provenance(**by))), f"{learner} has left the course"
    )


@click.command(short_help="Say which attempt counts.")
@click.argument("learner")
@click.argument("id_", metavar="ID", shell_complete=complete_id)
@click.argument("attempt", type=click.IntRange(min=1))
@decision
def choose(
    book: Gradebook,
    learner: str,
    id_: str,
    attempt: int,
    by: By,
) -> None:
    """Say which ATTEMPT of a learner counts for ID, whatever else was handed in; `history` shows the numbers.

    \b
    Example:
      kata gradebook history ada masks
      kata gradebook choose ada masks 2 --comment "the one she means"
    """
    from grader.instructor.gradebook.errors import GradebookUsageError
    from grader.instructor.gradebook.events import Choose, Provenance
    from grader.instructor.gradebook.resolve import resolve_kata

    kata = resolve_kata(book, id_)
    try:
        hand_in = book.hand_in_of(learner, kata, book.attempt_of(learner, kata, attempt))
    except GradebookUsageError as error:
        hint = f"See: kata gradebook history {name_word(learner)} {kata}{same_book()}"
        raise UsageError(error.message, hint) from None
    number = book.decide(Choose(learner=learner, kata=kata, hand_in=hand_in, made=Provenance(**by)))
    # Read back: what an attempt is worth depends on when it came in.
    row = next(iter(book.rows(katas=[kata], learners=[learner])))
    print_decision(number, f"{learner}, {kata}: attempt {attempt} counts, {row.score:g} points")


@click.command(short_help="Give a learner more time.")
@click.argument("learner")
@click.argument("assignment", metavar="ASSIGNMENT|ID|all", shell_complete=complete_id)
@click.argument("days")
@decision
def extend(
    book: Gradebook,
    learner: str,
    assignment: str,
    days: str,
    by: By,
) -> None:
    """Give LEARNER this many more DAYS for an assignment, a kata, or `all`: both due time and closing time move.

    This takes precedence over [extensions] in course.toml; of several extensions, the newest counts.

    \b
    Example:
      kata gradebook extend ada week1 3 --comment "was ill"
    """
    from grader.instructor.gradebook.events import Extend, Provenance
    from grader.instructor.gradebook.resolve import days_meant, insist_on_deadline

    of, more = covered(book, assignment), days_meant(days)
    insist_on_deadline(book.course, of)
    number = book.decide(Extend(learner=learner, of=of, days=more, made=Provenance(**by)))
    print_decision(number, f"{learner}: {counted(more, 'more day')} for {of or 'everything'}")


def covered(book: Gradebook, text: str) -> str:
    """Return the assignment or the kata that a person means; nothing for all.

    Raises:
        UsageError: there is none of this name.
    """
    if text == "all":
        return ""
    if text in book.course.assignments:
        return text
    from grader.catalogue import Catalogue

    try:
        return Catalogue.discover().resolve_one(text).slug
    except UsageError as error:
        there = ", ".join(book.course.assignments) or "none"
        raise UsageError(
            f"There is no assignment {text}, nor one kata: {error.message}", f"The assignments are: {there}."
        ) from None


@click.command(short_help="List decisions other than points, and who made them.")
@click.argument("learner", required=False)
@json_option
@with_gradebook
def rulings(book: Gradebook, learner: str | None, as_json: bool) -> None:
    """List decisions other than points: other names, files accepted, attempts chosen, more time.

    \b
    Example:
      kata gradebook rulings
      kata gradebook rulings ada --json
    """
    found = book.rulings(learners=[learner] if learner is not None else None)
    zone, own = book.course.timezone, _attempts(book, found)
    if as_json:
        from grader.instructor.gradebook.exports.documents import document_of_decision

        print_json({"rulings": [document_of_decision(ruling) for ruling in found]})
        return
    if not found:
        note("There are no decisions other than points.")
    for ruling in found:
        withdrawn = "   withdrawn" if ruling.revoked else ""
        line = f"{ruling.id:>4}  {ruling.made.at.astimezone(zone):%Y-%m-%d %H:%M}  {_sentence(ruling, own)}{withdrawn}"
        print_line(line)


def _attempts(book: Gradebook, found: Sequence[Decision]) -> dict[int, int]:
    """Return the numbers that people see of the attempts of those whom decisions are about."""
    return book.attempt_numbers({event.learner for event in found if event.learner is not None})


def _sentence(event: Decision, own: dict[int, int]) -> str:
    from grader.instructor.gradebook.events import words

    where = f"{event.learner}, {event.kata}" if event.kata else event.learner or "everybody"
    return f"{where}: {words(event, own)}   {event.made.author}: {event.made.comment}"


MOST_WITHDRAWN = 10_000


def _numbers(_: click.Context, parameter: click.Parameter, words: tuple[str, ...]) -> list[int]:
    """Return the numbers: each alone, or a range such as 12-40."""
    found: dict[int, None] = {}
    for word in words:
        matched = re.fullmatch(r"(\d{1,9})(?:-(\d{1,9}))?", word, re.ASCII)
        first, last = (int(matched[1]), int(matched[2] or matched[1])) if matched else (0, 0)
        if not 0 < first <= last < first + MOST_WITHDRAWN:
            raise click.BadParameter(
                f"{word} is neither a number from 1 on nor a range such as 12-40 of at most {MOST_WITHDRAWN}.",
                param=parameter,
            )
        found.update(dict.fromkeys(range(first, last + 1)))
    return list(found)


@click.command(short_help="Take back rulings.")
@click.argument("numbers", metavar="NUMBER...", callback=_numbers, nargs=-1, required=True)
@decision
def withdraw(book: Gradebook, numbers: list[int], by: By) -> None:
    """Take back the rulings with these NUMBERS, all or none; `kata gradebook rulings` lists them.

    The history keeps the rulings and their withdrawal.

    \b
    Example:
      kata gradebook withdraw 12 --comment "it was adam"
      kata gradebook withdraw 12-40 --comment "shared among others"
    """
    from grader.instructor.gradebook.events import RULING

    _print_taken(book, "withdrawn", book.undo(*numbers, **by, only=RULING))


@click.command(short_help="Take back decisions of any kind.")
@click.argument("numbers", metavar="NUMBER...", callback=_numbers, nargs=-1, required=True)
@decision
def undo(book: Gradebook, numbers: list[int], by: By) -> None:
    """Take back whatever was decided with these NUMBERS, all or none: changes of points, marks of answers, rulings.

    `history`, `answers` and `rulings` show the numbers. The history keeps what was taken back.

    \b
    Example:
      kata gradebook undo 12 --comment "it was adam"
      kata gradebook undo 12-40 --comment "the wrong class"
    """
    _print_taken(book, "taken back", book.undo(*numbers, **by))


def _print_taken(book: Gradebook, how: str, taken: Sequence[Decision]) -> None:
    own = _attempts(book, taken)
    for event in taken[:SHOWN]:
        print_line(f"{how}  {_sentence(event, own)}")
    if len(taken) > SHOWN:
        note(f"… and {len(taken) - SHOWN} more")


@click.command(short_help="Accept a file with a wrong name as a learner's answer.")
@click.argument("learner")
@click.argument("id_", metavar="ID", shell_complete=complete_id)
@click.argument("file")
@decision
def take(book: Gradebook, learner: str, id_: str, file: str, by: By) -> None:
    """Accept FILE, as LEARNER named it, as the answer to ID: `masks_final_v3.py` instead of `masks.py`.

    It is looked for in what was graded, the newest download first, also in attempts that do not count, and graded at
    once. FILE is a name, or a path inside what the learner handed in.

    \b
    Example:
      kata gradebook take ada masks masks_final_v3.py --comment "she asked by mail"
    """
    from grader.cli.progress import watching
    from grader.instructor.gradebook.events import Provenance
    from grader.instructor.gradebook.resolve import resolve_kata
    from grader.instructor.grading.take_files import TakenFile
    from grader.instructor.grading.take_files import take as taken

    name = file.strip("/")
    if not name.strip("/. "):
        raise UsageError("The file's name is empty.")
    slug = resolve_kata(book, id_)
    number = taken(book, [TakenFile(learner, slug, name)], Provenance(**by), watching=watching)
    row = next(iter(book.rows(katas=[slug], learners=[learner])))
    print_decision(number, f"{learner}, {slug}: {name} is the answer, {row.score:g}/{row.max_score:g} points")


@click.command(short_help="Record disputes that learners sent.")
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=click.File())
@with_gradebook
def dispute(book: Gradebook, files: tuple[TextIO, ...]) -> None:
    """Record the disputes in FILEs, such as mails, or - for standard input: the lines that feedback has for it.

    The learner adds a reason to the line of a mark; a line that was altered otherwise is refused, and then nothing is
    recorded. What is recorded already is skipped. The desk lists them on Disputes.

    \b
    Example:
      kata gradebook dispute mail.txt
    """
    from grader.instructor.gradebook.dispute_lines import read_disputes
    from grader.instructor.gradebook.events import Dispute

    found = [each for file in files for each in read_disputes(book, file.name, file.read())]
    known = {(each.learner, each.kata, each.made.comment) for each in book.rulings([Dispute])}
    new = {(each.learner, each.kata, each.made.comment): each for each in found}
    for key, each in new.items():
        if key not in known:
            print_decision(book.decide(each), f"{each.learner}, {each.kata}: disputed: {each.made.comment}")
    note(f"{len(new.keys() - known)} recorded, {len(new.keys() & known)} already there")


COMMANDS: tuple[Any, ...] = (alias, left, dispute, take, choose, extend, rulings, undo, withdraw)
