"""What `kata grade` says at its end: a line a kata, what needs a look, where to go next."""

from __future__ import annotations

import os
import statistics
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console
from rich.table import Table

from grader.catalogue import Kata
from grader.cli.class_options import again, word
from grader.cli.progress import outcomes
from grader.files import write_atomic
from grader.gradebook.address import Address, redact
from grader.gradebook.identities import Matches
from grader.grading.run import Tally
from grader.reports.style import LOOKS, bar, console, has_unicode, keep_whole, points, safe, safe_text
from grader.submissions.names import listed

if TYPE_CHECKING:
    from grader.gradebook.store import Gradebook

SHOWN = 10
"""Remarks printed in full; the others are counted."""
WIDE = 100
"""From so many columns on, a status has its word in the heading."""
STATUSES = ("pass", "fail", "error", "timeout", "in_progress", "not_started", "missing")


def print_summary(
    book: Gradebook,
    katas: Sequence[Kata],
    learners: list[str],
    tally: Tally,
    matches: Matches,
    where: str,
    notes: str,
    *,
    stderr: bool,
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
    option = again(where)
    _remarks(tally, matches, option, notes, out)
    if notes:
        out.print(f"\nall notes  {safe(notes)}", soft_wrap=True)
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
    keep_whole(table, 0)
    return table


def _remarks(tally: Tally, matches: Matches, option: str, notes: str, out: Console) -> None:
    refused: dict[str, list[str]] = {}
    for submission, answer in tally.refused:
        text = f"{answer.message} {answer.hint or ''}".strip()
        refused.setdefault(text, []).append(f"{submission.learner}, {submission.kata}")
    if refused:
        out.print("\nNot graded, through no fault of the learners; the same command tries again:")
        _some([f"{_names(who)}: {text}" for text, who in refused.items()], notes, out)
    if matches.strangers:
        out.print("\nNot in the roster, and graded under the names that they handed in with:")
        _some(_strangers(matches, option), notes, out)
    if tally.proposed:
        out.print("\nMissing, though a file with another name may be the answer:")
        _some(_proposals(tally, option), notes, out)
    if matches.absent:
        out.print(
            f"\nIn the roster, but not in this download: {listed(matches.absent, SHOWN)}", soft_wrap=True
        )
    remarks = _notes(tally)
    if remarks:
        out.print("\nWorth a look:")
        _some(remarks, notes, out)


def _strangers(matches: Matches, option: str) -> list[str]:
    lines = []
    for name, meant in matches.strangers.items():
        for learner, reason in meant[:1]:
            accept = f"kata gradebook alias {word(learner)} {word(name)}{option} --comment TEXT"
            lines.append(f"{name}: {learner} ({reason})? If so: {accept}")
        if not meant:
            accept = f"kata gradebook alias LEARNER {word(name)}{option} --comment TEXT"
            lines.append(
                f"{name}: like nobody in the roster who has not handed in. To say whose it is: {accept}"
            )
    return lines


def _proposals(tally: Tally, option: str) -> list[str]:
    return [
        f"{one.learner}, {one.kata}: {one.proposal.origin}, {one.proposal.reason}. If so: kata gradebook take "
        f"{word(one.learner)} {one.kata} {word(one.proposal.file)}{option} --comment TEXT, and grade again"
        for one in tally.proposed
        if one.proposal is not None
    ]


def _notes(tally: Tally) -> list[str]:
    """Return every note once, with the katas that it was said of."""
    said: dict[tuple[str, str], list[str]] = {}
    for submission, text in tally.notes:
        said.setdefault((submission.learner, text), []).append(submission.kata)
    return [
        f"{learner}, {', '.join(katas) if len(katas) < 4 else f'{len(katas)} katas'}: {text}"
        for (learner, text), katas in said.items()
    ]


def write_notes(scanned: Sequence[str], tally: Tally, matches: Matches, where: str) -> str:
    """Write all there is to say about a run into a file beside the gradebook; return its name, or nothing."""
    beside = Address.parse(where).file
    option = again(where)
    parts = {
        "About the download": list(scanned),
        "Not graded, through no fault of the learners": [
            f"{one.learner}, {one.kata}: {answer.message}" for one, answer in tally.refused
        ],
        "Recognized as somebody in the roster, and recorded": [
            f"{name}: {learner} ({reason})" for name, (learner, reason) in matches.learnt.items()
        ],
        "Not in the roster": _strangers(matches, option),
        "In the roster, but not in this download": matches.absent,
        "Missing, though a file with another name may be the answer": _proposals(tally, option),
        "Worth a look": _notes(tally),
    }
    text = "\n".join(
        "\n".join((f"{title}:", *(f"  {safe(line)}" for line in lines), ""))
        for title, lines in parts.items()
        if lines
    )
    name = f"{beside.stem if beside else 'gradebook'}.notes.txt"
    path = (beside.parent if beside else Path()) / name
    if not text:
        path.unlink(missing_ok=True)
        return ""
    write_atomic(path, text.encode())
    return os.path.relpath(path)


def _names(who: list[str]) -> str:
    return who[0] if len(who) == 1 else f"{who[0]} and {len(who) - 1} more"


def _some(lines: list[str], notes: str, out: Console) -> None:
    for line in lines[:SHOWN]:
        out.print(safe_text(f"  {line}"), soft_wrap=True)
    if len(lines) > SHOWN:
        out.print(f"  … and {len(lines) - SHOWN} more, in {notes}", soft_wrap=True)
