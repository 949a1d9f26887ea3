"""`kata regrade`: everything that was handed in, graded again from the gradebook alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from grader.cli.context import note, write_pieces
from grader.cli.instructor.class_options import (
    GradingOptions,
    KataChoice,
    find_wanted,
    grading_options,
    learner_wanted,
    note_ungraded,
    same_book,
)
from grader.errors import KataError, UsageError
from grader.report.json_text import encode
from grader.report.style import STATUS_STYLES, console, escape_controls, never_cut, points

if TYPE_CHECKING:
    from rich.console import Console

    from grader.instructor.gradebook.store import Gradebook
    from grader.instructor.grading.regrading import Regraded, StoredLearner
    from grader.instructor.grading.run import Tally
    from grader.report.report import KataReport

SHOWN = 40
"""Changes that are printed; `--json FILE` has them all."""


@click.command(short_help="Grade again what the gradebook keeps; say what changes.")
@click.option("--dry-run", is_flag=True, help="Say what would change, and write nothing.")
@click.option(
    "--json", "json_file", metavar="FILE", help="Write every change to FILE, one per line; - is stdout."
)
@grading_options
def regrade(dry_run: bool, json_file: str | None, options: GradingOptions) -> int:
    """Grade again what the gradebook keeps, after a check was corrected, say. The downloads are not needed.

    Every attempt is graded with the seed that it always gets. What neither the kata nor a version has changed for is
    not graded again, unless you say --force: then a mark that nothing touched comes out the same.

    \b
    Example:
      kata regrade --only masks --dry-run
      kata regrade --only masks
      kata regrade --only ada --only masks --force --dry-run
    """
    from grader.instructor.gradebook.store import Gradebook
    from grader.instructor.grading.regrading import stored_learners

    options.prepare()
    wanted = find_wanted(options)
    options.refuse_exposed(wanted.course)
    with Gradebook.open(options.where, create=False, course=wanted.course) as book:
        who = [learner_wanted(name, book.learners(), book) for name in wanted.names] or None
        stored = stored_learners(book, wanted.slugs, who)
        if not stored:
            raise UsageError("The gradebook holds nothing that was handed in for these katas.")
        before, own = list(book.rows(katas=wanted.slugs, learners=who)), book.attempt_numbers(who)
        tally, changed = _graded_again(book, stored, wanted, options, dry_run)
        # stdout is for programs when the changes go there.
        out = console(stderr=json_file == "-")
        _print_changes(changed, own, {row.attempt for row in before}, out, dry_run=dry_run)
        for submission, answer in tally.refused:
            note(f"not graded: {submission.learner}, {submission.kata}: {answer.message}")
        if dry_run:
            outcome = f"{len(changed)} would change. Nothing was written; leave out --dry-run to write it."
        else:
            # What changed in a grading need not change a mark: another attempt may count, or somebody decided.
            scores = {(row.learner, row.kata): row.score for row in before}
            after = book.rows(katas=wanted.slugs, learners=who)
            if moved := sum(scores.get((row.learner, row.kata), row.score) != row.score for row in after):
                out.print(
                    f"{moved} marks have changed, with lateness and decisions counted in.", soft_wrap=True
                )
            outcome = f"{len(changed)} changed; next  kata gradebook show{same_book()}"
        out.print(f"{tally.total} hand-ins, {outcome}", soft_wrap=True)
        if json_file is not None:
            _write(changed, own, json_file)
        note_ungraded(book)
    return KataError.exit_code if tally.refused else 0


def _graded_again(
    book: Gradebook,
    stored: Sequence[StoredLearner],
    wanted: KataChoice,
    options: GradingOptions,
    dry_run: bool,
) -> tuple[Tally, list[Regraded]]:
    """Grade stored hand-ins, and return what comes out differently; nothing is written if this is a rehearsal."""
    from grader.cli.progress import watching
    from grader.instructor.grading.regrading import Regrading
    from grader.instructor.grading.run import Run

    total = sum(len(learner.hand_ins) for learner in stored)
    recording = None if dry_run else book.start_run(options.arguments())
    marks = Regrading(book, recording)
    with options.slots() as slots, watching(total, slots.where) as watch:
        run = Run(wanted.katas, marks, options.policy)
        tally = run.grade(stored, slots.executor, slots.count, watch, total)
    if recording is not None:
        recording.finish()
    return tally, [change for change in marks.changes if change.differs]


def _print_changes(
    changed: Sequence[Regraded],
    own: dict[int, int],
    counting: set[int | None],
    out: Console,
    *,
    dry_run: bool,
) -> None:
    if not changed:
        return
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for title in ("learner", "kata", "attempt", "graded before", "would be" if dry_run else "now"):
        table.add_column(title, no_wrap=True)
    for one in changed[:SHOWN]:
        attempt = f"{own[one.attempt]}{'' if one.attempt in counting else ', does not count'}"
        table.add_row(escape_controls(one.learner), one.kata, attempt, _mark(one.before), _mark(one.after))
    never_cut(table, 0, 1)
    out.print(table)
    if len(changed) > SHOWN:
        out.print(f"… and {len(changed) - SHOWN} more; --json FILE has them all")
    out.print("checks that come out differently, and for how many hand-ins; --json FILE has them for each:")
    for check, count in Counter(check for one in changed for check in one.checks).most_common():
        out.print(escape_controls(f"  {count:>4}  {check}"), soft_wrap=True, highlight=False)
    gains = [one.after.earned - one.before.earned for one in changed]
    higher, lower = sum(gain > 0 for gain in gains), sum(gain < 0 for gain in gains)
    out.print(f"{higher} higher, {lower} lower, {gains.count(0)} with the same points")


def _mark(report: KataReport) -> str:
    return f"{points(report.earned, report.possible)} {STATUS_STYLES[report.status].word}"


def _write(changed: Sequence[Regraded], own: dict[int, int], file: str) -> None:
    lines = (
        {
            "learner": one.learner,
            "kata": one.kata,
            "attempt": own[one.attempt],
            "before": {"status": one.before.status, "score": one.before.earned},
            "after": {"status": one.after.status, "score": one.after.earned},
            "checks": one.checks,
        }
        for one in changed
    )
    write_pieces(file, (encode(line) + b"\n" for line in lines))
