"""`kata gradebook assign`: who marks what, as the desk shares it out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import groupby
from typing import TYPE_CHECKING

import click

from grader.api import By, UsageError, complete_id, counted, covered, decision, note, print_line, same_book

if TYPE_CHECKING:
    from grader.api import Gradebook


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
      kata gradebook assign kim,lee week1 --comment "halves"
      kata gradebook assign kim masks --section A --comment "her exercise class"
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
    if section and section not in {person.section for person in book.course.roster.values()}:
        raise UsageError(
            f"Nobody is in section {section}.", "The roster's column `section` names the sections."
        )
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
        text = f"{name}  {counted(given[name], 'hand-in')}"
        print_line(text)
    note(f"undo  kata gradebook withdraw {' '.join(_ranges(numbers))}{same_book()} --comment TEXT")


def _ranges(numbers: Iterable[int]) -> list[str]:
    """Return numbers as `withdraw` takes them: 3 5-9."""
    runs = [
        [number for _, number in run]
        for _, run in groupby(enumerate(sorted(numbers)), lambda pair: pair[1] - pair[0])
    ]
    return [f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs]
