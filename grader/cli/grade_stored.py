"""`kata grade --stored`: everything that was handed in, graded again from the gradebook alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from grader.catalogue import Kata
from grader.cli.class_options import again, note_unreadable
from grader.cli.context import note
from grader.errors import KataError, UsageError
from grader.reports.style import LOOKS, console, keep_whole, points, safe

if TYPE_CHECKING:
    from grader.gradebook.records import Row
    from grader.gradebook.store import Argument, Gradebook
    from grader.grading.executors import Slots
    from grader.grading.run import RunPolicy
    from grader.grading.stored import Regraded

SHOWN = 40
"""Changes that are printed; `--json FILE` has them all."""


def grade_stored(
    book: Gradebook,
    katas: Sequence[Kata],
    learners: Sequence[str] | None,
    policy: RunPolicy,
    slots: AbstractContextManager[Slots],
    *,
    check: str | None,
    dry_run: bool,
    arguments: dict[str, Argument],
    where: str,
    json_file: str | None,
) -> int:
    """Grade again what the gradebook keeps, print what changes, and write it unless it is a rehearsal.

    Raises:
        UsageError: nothing was handed in, or no check is called so.
    """
    from grader.cli.progress import watching
    from grader.grading.run import Run
    from grader.grading.stored import Regrading, check_meant, stored_learners

    slugs = [kata.slug for kata in katas]
    kept = stored_learners(book, slugs, learners)
    total = sum(len(one.kept) for one in kept)
    if not total:
        raise UsageError("The gradebook holds nothing that was handed in for these katas.")
    meant = check_meant(book, slugs, check) if check is not None else None
    before = {(row.learner, row.kata): row for row in book.rows(katas=slugs, learners=learners)}
    own = book.attempt_numbers(learners)
    number = 0 if dry_run else book.start_run(arguments)
    marks = Regrading(book, book, meant, rehearsal=dry_run)
    run = Run(katas, marks, policy, number)
    with slots as found, watching(total, found.where) as watch:
        tally = run.grade(kept, found.executor, found.count, watch, total)
    if not dry_run:
        book.finish_run(number)
    changed = [one for one in marks.changes if one.differs]
    out = console(stderr=json_file == "-")
    _print(changed, own, {row.attempt for row in before.values()}, dry_run=dry_run)
    for submission, answer in tally.refused:
        note(f"not graded: {submission.learner}, {submission.kata}: {answer.message}")
    if dry_run:
        out.print(
            f"{total} hand-ins, {len(changed)} would change. Nothing was written; leave out --dry-run to write it.",
            soft_wrap=True,
        )
    else:
        after = {(row.learner, row.kata): row for row in book.rows(katas=slugs, learners=learners)}
        _print_marks(before, after)
        out.print(
            f"{total} hand-ins, {len(changed)} changed; next  kata gradebook show{again(where)}",
            soft_wrap=True,
        )
    if json_file is not None:
        _write(changed, own, json_file)
    note_unreadable(book)
    return KataError.exit_code if tally.refused else 0


def _print(
    changed: Sequence[Regraded], own: dict[int, int], counting: set[int | None], *, dry_run: bool
) -> None:
    if not changed:
        return
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for title in ("learner", "kata", "attempt", "graded before", "would be" if dry_run else "now"):
        table.add_column(title, no_wrap=True)
    for one in changed[:SHOWN]:
        stands = "" if one.attempt in counting else ", does not count"
        table.add_row(
            safe(one.learner),
            one.kata,
            f"{own[one.attempt]}{stands}",
            _result(one, "before"),
            _result(one, "after"),
        )
    keep_whole(table, 0, 1)
    console().print(table)
    if len(changed) > SHOWN:
        console().print(f"… and {len(changed) - SHOWN} more; --json FILE has them all")
    console().print(
        "checks that come out differently, and for how many hand-ins; --json FILE has them for each:"
    )
    for check, count in Counter(check for one in changed for check in one.checks).most_common():
        console().print(safe(f"  {count:>4}  {check}"), soft_wrap=True, highlight=False)
    sums = Counter(
        "up"
        if one.after.earned > one.before.earned
        else "down"
        if one.after.earned < one.before.earned
        else "same"
        for one in changed
    )
    console().print(f"{sums['up']} higher, {sums['down']} lower, {sums['same']} with the same points")


def _result(one: Regraded, when: str) -> str:
    report = one.before if when == "before" else one.after
    return f"{points(report.earned, report.possible)} {LOOKS[report.status].word}"


def _print_marks(before: dict[tuple[str, str], Row], after: dict[tuple[str, str], Row]) -> None:
    moved = [key for key in after if key in before and before[key].score != after[key].score]
    if moved:
        console().print(
            f"{len(moved)} marks have changed, with lateness and decisions counted in.", soft_wrap=True
        )


def _write(changed: Sequence[Regraded], own: dict[int, int], file: str) -> None:
    from grader.cli.context import write_pieces
    from grader.reports.json_text import encode

    write_pieces(
        file,
        (
            encode(
                {
                    "learner": one.learner,
                    "kata": one.kata,
                    "attempt": own[one.attempt],
                    "before": {"status": one.before.status, "score": one.before.earned},
                    "after": {"status": one.after.status, "score": one.after.earned},
                    "checks": one.checks,
                }
            )
            + b"\n"
            for one in changed
        ),
    )
