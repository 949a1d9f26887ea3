"""What `kata grade` says at its end: a line a kata, what needs a look, where to go next; changes of `kata regrade`."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console
from rich.table import Table

from grader.catalogue import Kata
from grader.cli.instructor.class_options import name_word, same_book
from grader.cli.progress import outcomes
from grader.instructor.gradebook.database import redact
from grader.instructor.gradebook.identities import Matches, proposal
from grader.instructor.gradebook.row_types import NEWER, PASSED_OVER
from grader.instructor.grading.problems import without_effect
from grader.instructor.grading.run import Tally
from grader.instructor.submissions.names import listed
from grader.report.style import STATUS_STYLES, bar, escape_controls, has_unicode, never_cut, points, safe_text
from grader.words import counted

if TYPE_CHECKING:
    from grader.instructor.gradebook.store import Gradebook
    from grader.instructor.grading.regrading import Regraded
    from grader.report.report import KataReport

SHOWN = 10
"""Remarks printed in full; the others are counted."""
CHANGES = 40
"""Changes that are printed; `--json FILE` has them all."""
_SHOW = "kata gradebook show LEARNER ID"
WIDE = 100
"""From so many columns on, a status has its word in the heading."""
STATUSES = ("pass", "fail", "error", "timeout", "in_progress", "not_started", "missing", "not_graded")


@dataclass(frozen=True)
class Remarks:
    """What an instructor should look at after a run."""

    tally: Tally
    matches: Matches
    where: str
    """Which gradebook it went into."""
    unused: Sequence[str] = ()
    """Times that are nobody's, and why."""


def print_summary(
    book: Gradebook, katas: Sequence[Kata], learners: Sequence[str], remarks: Remarks, out: Console
) -> None:
    """Print how those did whom a run was about, and what an instructor should look at."""
    # What counts although a system marks it late and nobody knows the time.
    late: dict[tuple[str, float], list[str]] = {}
    # Of whom something came in that is newer than what counts, and why it does not count.
    newer: list[str] = []
    taken: dict[tuple[str, str], str | None] = {}
    untouched = remarks.tally.untouched
    refused = {(submission.learner, submission.kata) for submission, _ in remarks.tally.refused}
    troubles: list[str] = []
    counts: dict[str, Counter[str]] = {kata.slug: Counter() for kata in katas}
    scores: dict[str, list[float]] = {kata.slug: [] for kata in katas}
    whole = {kata.slug: 0.0 for kata in katas}
    for row in book.rows(katas=[kata.slug for kata in katas], learners=learners):
        # Of other downloads their own runs have spoken.
        if (row.learner, row.kata) in untouched:
            continue
        counts[row.kata][row.status] += 1
        if row.graded:
            scores[row.kata].append(row.score)
        # The largest: a check that this machine could not run leaves one learner a smaller maximum.
        whole[row.kata] = max(whole[row.kata], row.max_score)
        taken[row.learner, row.kata] = row.taken
        if row.late_by:
            late.setdefault((row.late_by, row.days_late), []).append(f"{row.learner} ({row.kata})")
        newer += [f"{row.learner}, {row.kata}: {NEWER[why]}" for why in row.newer if why in PASSED_OVER]
        # What the machine could not grade is told with its reason further down.
        if row.trouble and (row.learner, row.kata) not in refused:
            troubles.append(f"{row.learner}, {row.kata}: {row.trouble}")
    idle = [
        f"{problem.learner}{problem.kata and f', {problem.kata}'}: {problem.what}. "
        f"If so: {problem.command}{same_book()} --comment TEXT"
        for problem in without_effect(book, taken)
        if (problem.learner, problem.kata) not in untouched
    ]
    if graded := [kata for kata in katas if counts[kata.slug]]:
        out.print(_table(graded, counts, scores, whole, out))
    tally, option = remarks.tally, same_book()
    where = escape_controls(redact(remarks.where))
    became = outcomes(tally) or "nothing to grade"
    out.print(f"{counted(tally.done, 'row')} in {where}: {became}.", soft_wrap=True)
    _print_some("The checks could not judge:", troubles, _SHOW, out)
    untimed = [_late(*how, who) for how, who in late.items()]
    if _print_remarks(remarks, idle, untimed, newer, out) or troubles:
        out.print(f"\nopen  kata gradebook problems{option}", soft_wrap=True)
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
        look = STATUS_STYLES[status]
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
    never_cut(table, 0)
    return table


def _print_remarks(
    remarks: Remarks, idle: Sequence[str], late: Sequence[str], newer: Sequence[str], out: Console
) -> bool:
    """Print what an instructor should look at; return whether there was anything."""
    tally, matches = remarks.tally, remarks.matches
    refused: dict[str, list[str]] = {}
    for submission, answer in tally.refused:
        text = f"{answer.message} {answer.hint or ''}".strip()
        refused.setdefault(text, []).append(f"{submission.learner}, {submission.kata}")
    # Every note once, with the katas that it was said of.
    katas_of: dict[tuple[str, str], list[str]] = {}
    for submission, text in tally.notes:
        katas_of.setdefault((submission.learner, text), []).append(submission.kata)
    worth = [
        f"{learner}, {', '.join(katas) if len(katas) < 4 else f'{len(katas)} katas'}: {text}"
        for (learner, text), katas in katas_of.items()
    ]
    proposed = [
        f"{submission.learner}, {submission.kata}: {file.origin}, {file.reason}. If so: kata gradebook take "
        f"{name_word(submission.learner)} {submission.kata} {name_word(file.file)}{same_book()} --comment TEXT"
        for submission in tally.proposed
        if (file := submission.proposal) is not None
    ]
    open_: tuple[tuple[str, Sequence[str]], ...] = (
        (
            "Not graded, through no fault of the learners; the same command tries again:",
            [f"{_names(who)}: {text}" for text, who in refused.items()],
        ),
        ("Not in the roster, and graded under the names that they handed in with:", _strangers(matches)),
        ("No file of the right name, but one that may be the answer:", proposed),
        ("Decided, and without effect by now:", idle),
        ("Marked late without a time:", late),
        ("Times that are nobody's:", remarks.unused),
        ("A newer attempt does not count:", newer),
    )
    for title, lines in open_:
        _print_some(title, lines, "kata gradebook problems", out)
    if matches.absent:
        out.print(
            f"\nIn the roster, but not in this download: {listed(matches.absent, SHOWN)}", soft_wrap=True
        )
    _print_some("Worth a look:", worth, _SHOW, out)
    return bool(worth or matches.absent or any(lines for _, lines in open_))


def _late(system: str, days: float, who: Sequence[str]) -> str:
    """Return what a mark of lateness cost of which nobody knows the time, and how to say the time."""
    what = counted(len(who), "hand-in")
    cost = f"counted as {counted(days, 'day')} late" if days else "counted as on time, and lost no points"
    return (
        f"{what} marked late by {system}, {cost}: {listed(who, SHOWN)}. Nobody says when they came in. To give "
        "times: kata grade --times FILE with the columns learner,submitted_at; or a rule: unknown = 1 (day) under "
        "[late] in course.toml."
    )


def _strangers(matches: Matches) -> list[str]:
    lines, option = [], same_book()
    for name, candidates in matches.strangers.items():
        whose, guess = proposal(candidates)
        accept = f"kata gradebook alias {name_word(whose) if whose else 'LEARNER'} {name_word(name)}{option}"
        how = "If so" if whose else "To say whose it is"
        lines.append(f"{name}: {guess}. {how}: {accept} --comment TEXT")
    return lines


def _names(who: list[str]) -> str:
    return who[0] if len(who) == 1 else f"{who[0]} and {len(who) - 1} more"


def _print_some(title: str, lines: Sequence[str], rest: str, out: Console) -> None:
    """Print the first lines, and which command has the rest."""
    if lines:
        out.print(f"\n{title}")
    for line in lines[:SHOWN]:
        out.print(safe_text(f"  {line}"), soft_wrap=True)
    if len(lines) > SHOWN:
        out.print(f"  … and {len(lines) - SHOWN} more, in {rest}", soft_wrap=True)


def print_changes(
    changed: Sequence[Regraded],
    own: dict[int, int],
    counting: set[int | None],
    out: Console,
    *,
    titles: tuple[str, str],
) -> None:
    """Print which gradings come out differently, the largest change first, and for which checks."""
    if not changed:
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for title in ("learner", "kata", "attempt", *titles):
        table.add_column(title, no_wrap=True)
    for change in changed[:CHANGES]:
        attempt = f"{own.get(change.attempt, '?')}{'' if change.attempt in counting else ', does not count'}"
        table.add_row(
            escape_controls(change.learner), change.kata, attempt, _mark(change.before), _mark(change.after)
        )
    never_cut(table, 0, 1)
    out.print(table)
    if len(changed) > CHANGES:
        out.print(f"… and {len(changed) - CHANGES} more; --json FILE has them all")
    if checks := Counter(check for change in changed for check in change.checks):
        out.print(
            "checks that come out differently, and for how many hand-ins; --json FILE has them for each:"
        )
        for check, count in checks.most_common():
            out.print(escape_controls(f"  {count:>4}  {check}"), soft_wrap=True, highlight=False)
    gains = [change.gain for change in changed]
    higher, lower = sum(gain > 0 for gain in gains), sum(gain < 0 for gain in gains)
    out.print(f"{higher} higher, {lower} lower, {gains.count(0)} with the same points")


def _mark(report: KataReport) -> str:
    return f"{points(report.earned, report.possible)} {STATUS_STYLES[report.status].word}"
