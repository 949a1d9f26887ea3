"""`kata report`: a class's marks as pages to read, and feedback to hand back."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader.cli.class_options import course_option, gradebook_option, note_unreadable
from grader.cli.context import json_option, note, print_json
from grader.errors import UsageError
from grader.reports.style import console, safe

if TYPE_CHECKING:
    from grader.gradebook.records import Row
    from grader.gradebook.store import Gradebook
    from grader.pages import Part
    from grader.submissions.submission import Bundle

FOLDER = "kata-report"
KEPT = 16
"""What attempts graded is held for the pages of one learner, which show it several times."""


@click.command(short_help="Write a class report, and feedback for each learner, as pages.")
@gradebook_option
@course_option
@click.option(
    "--out",
    metavar="FOLDER",
    default=FOLDER,
    show_default=True,
    type=click.Path(path_type=Path),
    help="Where the pages go.",
)
@click.option("--assignment", metavar="NAME", help="Only the katas of this assignment of the course.")
@click.option("--feedback-only", is_flag=True, help="Write only what learners may see.")
@click.option("--class-only", is_flag=True, help="Write only what instructors read.")
@click.option(
    "--zip",
    "zip_file",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Also write the feedback as one archive, each page named as Canvas or Moodle named that hand-in.",
)
@json_option
def report(
    where: str,
    course_file: Path | None,
    out: Path,
    assignment: str | None,
    feedback_only: bool,
    class_only: bool,
    zip_file: Path | None,
    as_json: bool,
) -> None:
    """Write a class report, and feedback for each learner, as pages.

    FOLDER/index.html is for instructors, and links to a page for each learner; both show hidden checks.
    FOLDER/feedback holds a page and a Markdown file for each learner, without hidden checks and seeds: this is
    what you hand back. FOLDER/index.json says which page is whose. Pages need no server and no network.

    \b
    Example:
      kata report
      kata report --assignment week3 --out week3 --feedback-only --zip week3.zip
    """
    if feedback_only and class_only:
        raise UsageError("--feedback-only and --class-only leave nothing to write.", "Give one, or neither.")
    if zip_file is not None and class_only:
        raise UsageError("--zip packs the feedback, and --class-only writes none.", "Leave one of them out.")
    from grader.catalogue import Catalogue
    from grader.gradebook.course import Course
    from grader.gradebook.store import Gradebook
    from grader.pages import Lessons, Viewer, write_report
    from grader.pages.feedback_zip import zipped
    from grader.submissions.names import listed

    origins: dict[str, list[str]] = {}
    part: Part = "feedback" if feedback_only else "class" if class_only else "all"
    catalogue = Catalogue.discover()
    course = Course.find(where, course_file, catalogue)
    # The rows pass by once: whose files lay where is noted on the way.
    with Gradebook.open(where, create=False, course=course) as book, console(stderr=True).status("") as line:
        katas = _katas(book, assignment, for_zip=zip_file is not None)
        bundle = lru_cache(maxsize=KEPT)(partial(_bundle, book))
        written = write_report(
            _noting(book.rows(katas=katas), origins, lambda done: line.update(f"learners  {done}")),
            Viewer(course, Lessons(catalogue), book.said(), bundle),
            out,
            built=datetime.now(UTC),
            part=part,
            secret=book.nonce,
        )
        line.stop()
        note_unreadable(book)
    unnamed = zipped(out, origins, zip_file) if zip_file is not None else []
    if as_json:
        print_json({"folder": str(out), "learners": written.learners, "files": written.files, "part": part})
        return
    people = "1 learner" if written.learners == 1 else f"{written.learners} learners"
    if part != "feedback":
        click.echo(f"report    {safe(str(out / 'index.html'))}   {people}")
    if part != "class":
        click.echo(
            f"feedback  {safe(str(out / 'feedback'))}   a page and a Markdown file for each of {people}"
        )
    if zip_file is not None:
        click.echo(f"archive   {safe(str(zip_file))}   {people}")
    sys.stdout.flush()
    if unnamed:
        shown = listed(unnamed, 5)
        note(
            f"note: no system named the files of {shown}, so their pages in the archive have names of our own."
        )
    if part == "all":
        note("hand out only the feedback folder: the other pages show hidden checks")


def _bundle(book: Gradebook, attempt: int) -> Bundle | None:
    """Return what an attempt graded; a page does without one that cannot be read."""
    from grader.gradebook.errors import GradebookError

    try:
        return book.bundle(attempt)
    except GradebookError:
        return None


def _katas(book: Gradebook, assignment: str | None, *, for_zip: bool) -> list[str] | None:
    """Return which katas the pages are of; None for all.

    A system takes feedback back to one assignment, under the names that it made for that one.

    Raises:
        UsageError: there is no such assignment, or an archive would be for several.
    """
    from grader.gradebook.meant import katas_of_assignment

    if assignment is not None:
        return katas_of_assignment(book, assignment)
    there = book.katas()
    graded = [name for name, one in book.course.assignments.items() if not set(one.katas).isdisjoint(there)]
    if for_zip and len(graded) > 1:
        raise UsageError(
            f"--zip: {len(graded)} assignments have been graded, and a system takes back one at a time.",
            f"Say which: --assignment {graded[-1]}",
        )
    return None


def _noting(
    rows: Iterator[Row], origins: dict[str, list[str]], progress: Callable[[int], None]
) -> Iterator[Row]:
    """Pass rows on, note where each learner's files lay, and tell how many learners are done."""
    learners: dict[str, None] = {}
    for row in rows:
        if row.learner not in learners:
            progress(len(learners))
        learners[row.learner] = None
        if row.origin:
            origins.setdefault(row.learner, []).append(row.origin)
        yield row
