"""`kata desk`: marks, code, disputes and look-alikes in a browser; and `kata gradebook assign`: who marks what."""

from __future__ import annotations

import webbrowser
from collections import Counter
from importlib.util import find_spec
from itertools import groupby
from typing import TYPE_CHECKING

import click

from grader.api import (
    By,
    UsageError,
    author_of,
    author_option,
    complete_id,
    counted,
    covered,
    decision,
    install_extra,
    note,
    print_line,
    same_book,
    with_gradebook,
)

if TYPE_CHECKING:
    from grader.api import Gradebook


@click.command(short_help="Mark in a browser: code, checks, remarks, disputes, look-alikes.")
@with_gradebook
@author_option
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, help="Port to listen on. [default: any that is free]"
)
@click.option("--no-browser", is_flag=True, help="Only print the address; open nothing.")
def desk(book: Gradebook, author: str | None, port: int, no_browser: bool) -> None:
    """Mark in a browser: code next to failing checks, remarks on lines, disputes, extensions, look-alikes.

    It serves pages to this machine alone, to anyone who opens the address that it prints, until Ctrl-C. Every decision
    made there is stored in the gradebook with who, when and why, as the commands store it, and can be taken back. If
    several people mark, each starts a desk of their own on the same gradebook: a file if all work on one machine, a
    PostgreSQL database if not.

    \b
    Example:
      kata desk
      kata desk --gradebook postgresql://kim@db.example/course --author kim
    """
    # Looked up, so that this is said before anything of the desk is imported and fails in its own words.
    if find_spec("starlette") is None or find_spec("uvicorn") is None:
        raise UsageError(
            "The desk needs packages that are not installed.", f"Install them: {install_extra('desk')}"
        )
    from grader.api import Catalogue
    from grader.extras.desk.serve import serve

    # Called once its port is open: a browser that came earlier would be refused.
    def ready(address: str) -> None:
        click.echo(f"desk  {address}")
        note("for this machine alone; Ctrl-C closes it")
        if not no_browser:
            webbrowser.open(address)

    who = author_of(author)
    try:
        serve(book, Catalogue.discover(), author=who, port=port, ready=ready)
    except KeyboardInterrupt:
        note("closed; everything is in the gradebook")


@click.command(short_help="Share hand-ins among markers.")
@click.argument("markers", metavar="MARKER[,MARKER]...")
@click.argument("id_", metavar="[ASSIGNMENT|ID]", required=False, shell_complete=complete_id)
@click.option("--section", metavar="NAME", help="Only learners of this section of the roster.")
@click.option(
    "--learner", "learners", metavar="LEARNER", multiple=True, help="Only this learner; repeat it for more."
)
@click.option(
    "--most", type=click.IntRange(min=1), metavar="N", help="Share at most this many, the first ones."
)
@decision
def assign(
    book: Gradebook,
    markers: str,
    id_: str | None,
    section: str | None,
    learners: tuple[str, ...],
    most: int | None,
    by: By,
) -> None:
    """Share hand-ins that are nobody's to mark yet among MARKERS: each gets a consecutive part of the list.

    What was reviewed already is left out. Markers who open the desk with `--author MARKER` find theirs there
    under Mine.

    \b
    Example:
      kata gradebook assign kim masks --section A --comment "her exercise class"
      kata gradebook assign kim,lee week1 --comment "halves"
      kata gradebook assign lee --learner ada --comment "lee knows the case"
    """
    from grader.api import Assign, Catalogue, KataTexts, resolve_learner
    from grader.extras.desk.queries import DeskReader, Filter

    names = list(dict.fromkeys(filter(None, map(str.strip, markers.split(",")))))
    if not names:
        raise UsageError("Nobody is named.", "Name the markers, separated by commas: kim,lee")
    reader = DeskReader(book, KataTexts(Catalogue.discover()), by["author"])
    of = covered(book, id_) if id_ else ""
    assignment, kata = (of, "") if of in book.course.assignments else ("", of)
    if kata and kata not in book.katas():
        raise UsageError(f"Nothing was handed in for {of}.", "See: kata gradebook")
    if section:
        section = book.course.section_called(section)
    # Resolved before anything is decided: an unknown name shares nothing out.
    only = {resolve_learner(book, learner) for learner in learners}
    free = [
        hand_in
        for hand_in in reader.unassigned(Filter(assignment=assignment, kata=kata, section=section or ""))
        if not only or hand_in[0] in only
    ]
    numbers = book.assign(free, names, most=most, **by)
    if not numbers:
        raise UsageError(
            "There is nothing to share: every hand-in is already somebody's to mark, or was reviewed.",
            f"To see who marks what: kata gradebook rulings{same_book()}",
        )
    # Read back: which of them were free was decided in the transaction, not here.
    made = set(numbers)
    given = Counter(decided.marker for decided in book.standing(Assign) if decided.id in made)
    for name in names:
        print_line(f"{name}  {counted(given[name], 'hand-in')}")
    # As `withdraw` takes numbers: 3 5-9.
    ranges = []
    for _, run in groupby(enumerate(sorted(numbers)), lambda pair: pair[1] - pair[0]):
        first, *others = [number for _, number in run]
        ranges.append(f"{first}-{others[-1]}" if others else str(first))
    note(f"undo  kata gradebook withdraw {' '.join(ranges)}{same_book()} --comment TEXT")
