"""`kata gradebook push` and `pull`: marks into Canvas or Moodle, and times from there, over the network."""

from __future__ import annotations

from collections import Counter
from importlib.util import find_spec
from typing import TYPE_CHECKING

import click

from grader.api import (
    KataError,
    UsageError,
    author_of,
    author_option,
    counted,
    install_extra,
    note,
    note_unmatched,
    note_waiting,
    only_option,
    points,
    print_line,
    same_book,
    with_gradebook,
)

if TYPE_CHECKING:
    from grader.api import Gradebook
    from grader.extras.push.courses import RemoteMark
    from grader.extras.push.push import Difference, PushTarget


@click.command(short_help="Set the marks in Canvas or Moodle.")
@click.argument("system", type=click.Choice(("canvas", "moodle")))
@click.option("--dry-run", is_flag=True, help="Show what would be set there; nothing is.")
@only_option
@author_option
@with_gradebook
def push(book: Gradebook, system: str, dry_run: bool, only: tuple[str, ...], author: str | None) -> int:
    """Set the marks in Canvas or Moodle, for each assignment whose number there the course knows.

    A mark that somebody changed there since the last push, or that never came from here, stays as it is and is named.
    So is one that the system refuses; the others are set all the same, and the exit code is 3. It can be stopped at any
    time and repeated. The token is asked of the environment variable KATA_LMS_TOKEN, then of the system's keyring.

    \b
    Example:
      kata course set --lms https://canvas.example.edu/courses/1234 --column 'week1=Week 1 (501)'
      keyring set kata canvas.example.edu
      kata gradebook push canvas --dry-run
      kata gradebook push canvas --only week1
    """
    from grader.api import Catalogue, resolve_katas, unsettled

    address = _address(book)
    from grader.extras.push.courses import open_course
    from grader.extras.push.push import Pusher, token_for

    client = open_course(system, address, token_for(address))
    katas = resolve_katas(book, only)
    pusher = Pusher(book, client, author_of(author))
    targets = pusher.targets(katas, {kata.slug: kata.title for kata in Catalogue.discover().katas})
    # Before the first mark is sent: no 0 for anybody whose work may lie under another name.
    found = unsettled(book)
    note_waiting(book, katas, None, system)
    seen = Counter[str]()
    last: PushTarget | None = None
    for difference in pusher.differences(targets, {*found.unsure, *found.misnamed}):
        if not dry_run:
            # One by one: what was sent is in the gradebook, wherever it is stopped.
            difference = pusher.push(difference)
        seen[difference.verdict] += 1
        last = _print(difference, last, client.title)
    _print_sum(seen, client.title, dry_run)
    note_unmatched(found, katas, system)
    return KataError.exit_code if seen["refused"] else 0


@click.command(short_help="Ask Canvas or Moodle when learners handed in.")
@click.argument("what", metavar="times", type=click.Choice(("times",)))
@only_option
@author_option
@with_gradebook
def pull(book: Gradebook, what: str, only: tuple[str, ...], author: str | None) -> None:
    """Ask Canvas or Moodle when learners handed in what is graded here, who has more time, and who hands in together.

    It is about the assignments whose number there the course knows. A hand-in that has a time keeps it. Everything is
    asked for before anything is written; what could not be used is in `problems`. The token is that of `push`.

    \b
    Example:
      kata grade week1.zip --assignment week1
      kata gradebook pull times
    """
    from grader.api import Catalogue, resolve_katas

    address = _address(book)
    from grader.extras.push.courses import open_course, system_of
    from grader.extras.push.pull import lines, write
    from grader.extras.push.pull import pull as pulled
    from grader.extras.push.push import Pusher, token_for

    client = open_course(system_of(address), address, token_for(address))
    by, titles = author_of(author), {kata.slug: kata.title for kata in Catalogue.discover().katas}
    targets = Pusher(book, client, by).targets(resolve_katas(book, only), titles, to_set=False)
    found = pulled(book, client, targets)
    write(book, client.title, found, by)
    for line in lines(found):
        print_line(line)
    if any(each.unused for each in found):
        note(f"open  kata gradebook problems{same_book()}")


def _address(book: Gradebook) -> str:
    """Return where the course is in Canvas or Moodle.

    Raises:
        UsageError: it does not say so, or the packages that ask there are not installed.
    """
    # Looked for before they are imported: an extra that most installs lack.
    if find_spec("canvasapi") is None or find_spec("keyring") is None:
        raise UsageError(
            "Canvas and Moodle need packages that are not installed.", f"Install them: {install_extra('lms')}"
        )
    if not book.course.lms:
        raise UsageError(
            "The course does not say where it is in Canvas or Moodle.", "Say it: kata course set --lms URL"
        )
    return book.course.lms


def _print(difference: Difference, last: PushTarget | None, where: str) -> PushTarget:
    """Print a line for what differs, after one for its assignment."""
    text = {
        "push": f"{_mark(difference.theirs)} → {points(difference.ours or 0.0)}",
        "kept": f"{_mark(difference.theirs)} stays: it was changed in {where} (here {points(difference.ours or 0.0)})",
        "no_account": f"has no account in this course in {where}",
        "refused": f"{_mark(difference.theirs)} stays: {difference.reason}",
    }.get(difference.verdict)
    if difference.target is not last:
        print_line(f"{difference.target.title}   {points(difference.target.column.max_score)} points")
    if text is not None:
        name = f"  {difference.name}" if difference.name != difference.learner else ""
        print_line(f"  {difference.learner}{name}   {text}")
    return difference.target


def _mark(there: RemoteMark) -> str:
    if there.excused:
        return "excused"
    return "no mark" if there.points is None else points(there.points)


def _print_sum(seen: Counter[str], where: str, dry_run: bool) -> None:
    words = {
        "push": "to set" if dry_run else "set",
        "same": f"already the same in {where}",
        "kept": f"changed in {where} and left as they are",
        "unmarked": "without a mark yet",
        "no_account": "without an account there",
        "refused": f"refused by {where}",
    }
    text = ", ".join(f"{seen[verdict]} {word}" for verdict, word in words.items() if seen[verdict])
    note(f"\n{counted(sum(seen.values()), 'mark')}: {text}")
    if seen["kept"]:
        note(f"To have one of ours there, enter it in {where}: from then on it is ours again.")
    if dry_run and seen["push"]:
        note(f"set them  the same command without --dry-run{' with' + same_book() if same_book() else ''}")
