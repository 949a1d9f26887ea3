"""What `kata grade` says at its end: a line a kata, what needs a look, where to go next."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console
from rich.table import Table

from grader.catalogue import Kata
from grader.cli.progress import outcomes
from grader.gradebook.address import DEFAULT, redact
from grader.grading.run import Tally
from grader.reports.style import LOOKS, bar, console, has_unicode, points, safe, safe_text

if TYPE_CHECKING:
    from grader.gradebook.store import Gradebook

SHOWN = 10
"""Remarks printed in full; the others are counted."""
WIDE = 100
"""From so many columns on, a status has its word in the heading."""
STATUSES = ("pass", "fail", "error", "timeout", "in_progress", "not_started", "missing")


def print_summary(
    book: Gradebook, katas: Sequence[Kata], learners: list[str], tally: Tally, where: str, *, stderr: bool
) -> None:
    """Print how the class did, and what an instructor should look at."""
    out = console(stderr=stderr)
    counts: dict[str, Counter[str]] = {kata.slug: Counter() for kata in katas}
    scores: dict[str, list[float]] = {kata.slug: [] for kata in katas}
    whole = {kata.slug: 0.0 for kata in katas}
    for row in book.rows(katas=[kata.slug for kata in katas], learners=learners):
        counts[row.kata][row.report.status] += 1
        scores[row.kata].append(row.score)
        whole[row.kata] = max(whole[row.kata], row.max_score)
    out.print(_table(katas, counts, scores, whole, out))
    out.print(
        f"{tally.done} rows in {safe(redact(where))}: {outcomes(tally) or 'nothing to grade'}.",
        soft_wrap=True,
    )
    _remarks(tally, out)
    option = "" if where == DEFAULT else f" --gradebook {safe(redact(where))}"
    out.print(f"\nnext  kata gradebook show{option}    kata report{option}", soft_wrap=True)


def _table(
    katas: Sequence[Kata],
    counts: dict[str, Counter[str]],
    scores: dict[str, list[float]],
    whole: dict[str, float],
    out: Console,
) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("kata", no_wrap=True)
    present = [status for status in STATUSES if any(count[status] for count in counts.values())]
    wide = out.width >= WIDE
    for status in present:
        look = LOOKS[status]
        glyph = look.glyph if has_unicode(out) else look.ascii
        table.add_column(f"{glyph} {look.word}" if wide else glyph, justify="right", no_wrap=True)
    table.add_column("median", justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    for kata in katas:
        middle = statistics.median(scores[kata.slug]) if scores[kata.slug] else 0.0
        most = whole[kata.slug]
        table.add_row(
            f"{kata.number}  {kata.slug}",
            *(str(counts[kata.slug][status] or "·") for status in present),
            points(middle, most),
            bar(middle, most, out, width=10) if most else "",
        )
    return table


def _remarks(tally: Tally, out: Console) -> None:
    refused: dict[str, list[str]] = {}
    for submission, answer in tally.refused:
        text = f"{answer.message} {answer.hint or ''}".strip()
        refused.setdefault(text, []).append(f"{submission.learner}, {submission.kata}")
    if refused:
        out.print("\nNot graded, through no fault of theirs; the same command tries again:")
        _some([f"{_names(who)}: {text}" for text, who in refused.items()], out)
    notes = [f"{submission.learner}, {submission.kata}: {text}" for submission, text in tally.notes]
    if notes:
        out.print("\nWorth a look:")
        _some(notes, out)


def _names(who: list[str]) -> str:
    return who[0] if len(who) == 1 else f"{who[0]} and {len(who) - 1} more"


def _some(lines: list[str], out: Console) -> None:
    for line in lines[:SHOWN]:
        out.print(safe_text(f"  {line}"), soft_wrap=True)
    if len(lines) > SHOWN:
        out.print(f"  … and {len(lines) - SHOWN} more")
