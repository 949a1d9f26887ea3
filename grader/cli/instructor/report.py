"""`kata report`: a class's marks as pages to read, and feedback to hand back."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader.cli.context import gathered, json_option, note, print_json
from grader.cli.instructor.class_options import with_gradebook
from grader.errors import UsageError
from grader.report.style import console, escape_controls
from grader.words import counted

if TYPE_CHECKING:
    from grader.instructor.gradebook.row_types import Mark
    from grader.instructor.gradebook.store import Gradebook
    from grader.instructor.html import Part, Written
    from grader.instructor.submissions.submission import Bundle

FOLDER = "kata-report"
KEPT = 16
"""What attempts graded is held for the pages of one learner, which show it several times."""


@dataclass(frozen=True)
class ReportOptions:
    """What is written, and where."""

    out: Path
    assignment: str | None
    feedback_only: bool
    class_only: bool
    zip_file: Path | None

    @property
    def part(self) -> Part:
        """Which pages are written."""
        return "feedback" if self.feedback_only else "class" if self.class_only else "all"


@click.command(short_help="Write a class report, and feedback for each learner, as pages.")
@gathered(
    ReportOptions,
    click.option(
        "--out",
        metavar="FOLDER",
        default=FOLDER,
        show_default=True,
        type=click.Path(path_type=Path),
        help="Where the pages go.",
    ),
    click.option("--assignment", metavar="NAME", help="Only the katas of this assignment of the course."),
    click.option("--feedback-only", is_flag=True, help="Write only what learners may see."),
    click.option("--class-only", is_flag=True, help="Write only what instructors read."),
    click.option(
        "--zip",
        "zip_file",
        metavar="FILE",
        type=click.Path(dir_okay=False, path_type=Path),
        help="Also write the feedback as one archive, each page named as Canvas or Moodle named that hand-in.",
    ),
)
@json_option
@with_gradebook
def report(book: Gradebook, as_json: bool, options: ReportOptions) -> None:
    """Write a class report, and feedback for each learner, as pages.

    FOLDER/index.html is for instructors, and links to a page for each learner; both show hidden checks.
    FOLDER/feedback holds a page and a Markdown file for each learner, without hidden checks and seeds: this is
    what you hand back. FOLDER/index.json says which page is whose. Pages need no server and no network.

    \b
    Example:
      kata report
      kata report --assignment week3 --out week3 --feedback-only --zip week3.zip
    """
    # Two options that leave nothing are a slip, and an empty folder would not say so.
    if options.feedback_only and options.class_only:
        raise UsageError("--feedback-only and --class-only leave nothing to write.", "Give one, or neither.")
    if options.zip_file is not None and options.class_only:
        raise UsageError("--zip packs the feedback, and --class-only writes none.", "Leave one of them out.")
    from grader.instructor.html.feedback_zip import zipped

    origins: dict[str, list[str]] = {}
    written = _written(book, options, origins)
    # From the pages as they were written, so that archive and folder cannot differ.
    unnamed = zipped(options.out, origins, options.zip_file) if options.zip_file is not None else []
    if as_json:
        print_json(
            {
                "folder": str(options.out),
                "learners": written.learners,
                "files": written.files,
                "part": options.part,
            }
        )
    else:
        _print(written.learners, unnamed, options)


def _written(book: Gradebook, options: ReportOptions, origins: dict[str, list[str]]) -> Written:
    """Write the pages, and note where each learner's files lay."""
    from grader.catalogue import Catalogue
    from grader.instructor.gradebook.written_answers import Rubrics, answers_in_rows
    from grader.instructor.html import KataTexts, Viewer, write_report

    catalogue = Catalogue.discover()
    answers = answers_in_rows(book, Rubrics(catalogue, book))
    # The rows pass by once: whose files lay where is noted on the way.
    katas = _katas(book, options.assignment, for_zip=options.zip_file is not None)
    bundle = lru_cache(maxsize=KEPT)(partial(_bundle, book))
    with console(stderr=True).status("") as line:
        return write_report(
            _noting(book.rows(katas=katas), origins, lambda done: line.update(f"learners  {done}")),
            Viewer(book.course, KataTexts(catalogue), book.comments(), bundle, answers, book.nonce),
            options.out,
            built=datetime.now(UTC),
            part=options.part,
            secret=book.nonce,
        )


def _print(learners: int, unnamed: list[str], options: ReportOptions) -> None:
    """Say where what was written lies."""
    from grader.instructor.submissions.names import listed

    people, out = counted(learners, "learner"), options.out
    if options.part != "feedback":
        click.echo(f"report    {escape_controls(str(out / 'index.html'))}   {people}")
    if options.part != "class":
        click.echo(
            f"feedback  {escape_controls(str(out / 'feedback'))}   a page and a Markdown file for each of {people}"
        )
    if options.zip_file is not None:
        click.echo(f"archive   {escape_controls(str(options.zip_file))}   {people}")
    # Before the notes on stderr, or they come first where both go into one file.
    sys.stdout.flush()
    if unnamed:
        shown = listed(unnamed, 5)
        note(
            f"note: no download named files of {shown}, as of those who handed in nothing: a system will not accept "
            "their pages in the archive."
        )
    if options.part == "all":
        note("hand out only the feedback folder: the other pages show hidden checks")


def _bundle(book: Gradebook, attempt: int) -> Bundle | None:
    """Return what an attempt graded; a page does without one that cannot be read."""
    from grader.instructor.gradebook.errors import GradebookError

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
    from grader.instructor.gradebook.resolve import katas_of_assignment

    if assignment is not None:
        return katas_of_assignment(book, assignment)
    there = set(book.katas())
    graded = [name for name, of in book.course.assignments.items() if not there.isdisjoint(of.katas)]
    if for_zip and len(graded) > 1:
        raise UsageError(
            f"--zip: {len(graded)} assignments have been graded, and a system takes back one at a time.",
            f"Say which: --assignment {graded[-1]}",
        )
    return None


def _noting(
    rows: Iterator[Mark], origins: dict[str, list[str]], progress: Callable[[int], None]
) -> Iterator[Mark]:
    """Pass rows on, note where each learner's files lay, and tell how many learners are done."""
    learners: dict[str, None] = {}
    for row in rows:
        if row.learner not in learners:
            progress(len(learners))
        learners[row.learner] = None
        if row.origin and not row.by_mate:  # the name there belongs to who handed it in
            origins.setdefault(row.learner, []).append(row.origin)
        yield row
