"""The gradebook on a terminal: a class as a table, one learner, one mark with everything that made it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from grader.catalogue.model import number_key
from grader.gradebook.exports.model import by_learner
from grader.gradebook.exports.tables import signed
from grader.gradebook.model import Row
from grader.reports.style import LOOKS, has_unicode, points, safe, status_text
from grader.reports.terminal import print_findings

GAP = 2
NAME_WIDTH = 24
NAME_WIDTH_PLAIN = 60
CHANGED = "*"
"""Stands beside a mark that is not what the checks gave."""


@dataclass
class _Cell:
    text: str
    style: str


@dataclass
class _Kata:
    """A kata's column: what it says for each learner, and over all of them."""

    number: str
    slug: str
    max_score: float = 0.0
    scores: list[float] = field(default_factory=list)
    passed: int = 0


def print_class(rows: Iterable[Row], out: Console) -> int:
    """Print one line for each learner and one column for each kata, in as many blocks as the width asks for.

    Returns:
        how many learners there are.
    """
    katas: dict[str, _Kata] = {}
    lines: list[tuple[str, dict[str, _Cell], str]] = []
    statuses: set[str] = set()
    changed = False
    for learner, own in by_learner(rows):
        cells = {}
        for slug, row in own.items():
            kata = katas.setdefault(slug, _Kata(row.report.number, slug))
            kata.max_score = max(kata.max_score, row.max_score)
            kata.scores.append(row.score)
            kata.passed += row.report.status == "pass"
            statuses.add(row.report.status)
            changed = changed or is_changed(row)
            cells[slug] = _cell(row, out)
        total = points(sum(row.score for row in own.values()), sum(row.max_score for row in own.values()))
        lines.append((safe(learner).replace("\n", "\\n"), cells, total))
    columns = sorted(katas.values(), key=lambda kata: (number_key(kata.number), kata.slug))
    for first, block in _blocks(columns, lines, out):
        if not first:
            out.print()
        _print_block(block, lines, out, last=block[-1] is columns[-1])
    legend = Text("\n")
    for status in LOOKS:
        if status in statuses:
            legend.append_text(status_text(status, out)).append("   ")
    if changed:
        legend.append(f"{CHANGED} late, or changed by a person")
    out.print(legend, soft_wrap=True)
    return len(lines)


def _cell(row: Row, out: Console) -> _Cell:
    look = LOOKS[row.report.status]
    glyph = look.glyph if has_unicode(out) else look.ascii
    return _Cell(f"{glyph} {points(row.score)}{CHANGED if is_changed(row) else ' '}", look.style)


def _blocks(
    columns: Sequence[_Kata], lines: Sequence[tuple[str, dict[str, _Cell], str]], out: Console
) -> Iterator[tuple[bool, list[_Kata]]]:
    """Yield the columns that fit beside each other, block by block; the totals stand in every block."""
    room = out.width - _name_width(lines, out) - max((len(total) for *_, total in lines), default=5) - GAP
    block: list[_Kata] = []
    used, first = 0, True
    for kata in columns:
        width = GAP + max(
            len(kata.number),
            len(f"/{points(kata.max_score)} "),
            *(len(cells[kata.slug].text) for _, cells, _ in lines if kata.slug in cells),
        )
        if block and used + width > room:
            yield first, block
            block, used, first = [], 0, False
        block.append(kata)
        used += width
    if block:
        yield first, block


def _name_width(lines: Sequence[tuple[str, dict[str, _Cell], str]], out: Console) -> int:
    most = NAME_WIDTH if out.is_terminal else NAME_WIDTH_PLAIN
    return min(most, max([len("learner"), *(cell_len(name) for name, *_ in lines)]))


def _print_block(
    block: Sequence[_Kata], lines: Sequence[tuple[str, dict[str, _Cell], str]], out: Console, *, last: bool
) -> None:
    table = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold")
    table.add_column("learner", width=_name_width(lines, out), overflow="fold")
    for kata in block:
        table.add_column(f"{kata.number} \n/{points(kata.max_score)} ", justify="right", no_wrap=True)
    table.add_column("total", justify="right", no_wrap=True)
    for name, cells, total in lines:
        marks = [cells.get(kata.slug) for kata in block]
        table.add_row(
            Text(name), *(Text(mark.text, mark.style) if mark else Text("") for mark in marks), Text(total)
        )
    if len(lines) > 1:
        table.add_section()
        means = [f"{points(sum(kata.scores) / len(kata.scores))} " for kata in block]
        table.add_row("mean", *means, "", style="dim")
        table.add_row("passed", *(f"{kata.passed}/{len(kata.scores)} " for kata in block), "", style="dim")
    out.print(table)


def print_learner(rows: Sequence[Row], out: Console) -> None:
    """Print one learner: a line for each kata, and what was said about the mark."""
    total = points(sum(row.score for row in rows), sum(row.max_score for row in rows))
    out.print(Text.assemble((who(rows[0]), "bold"), f"   {total} points"), soft_wrap=True)
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, GAP, 0, 0))
    for _ in range(2):
        table.add_column(no_wrap=True)
    table.add_column(no_wrap=True, justify="right")
    table.add_column(no_wrap=True)
    table.add_column()  # the one to give way on a narrow terminal
    for row in rows:
        table.add_row(
            row.report.number,
            row.kata,
            points(row.score, row.max_score),
            status_text(row.report.status, out),
            Text(_remarks(row), style="dim"),
        )
    out.print(table)


def print_mark(row: Row, out: Console) -> None:
    """Print one mark with everything that made it: the checks, lateness, what people changed."""
    title = Text.assemble(
        (f"{who(row)}   {row.report.number} {row.kata}", "bold"),
        f"   {points(row.score, row.max_score)} points   ",
    )
    out.print(title.append_text(status_text(row.report.status, out)), soft_wrap=True)
    for fact in _facts(row):
        out.print(Text(f"  {fact}"), soft_wrap=True)
    out.print()
    print_findings(row.report, out)


def _facts(row: Row) -> Iterator[str]:
    report = row.report
    if is_changed(row):
        yield f"graded    {points(report.score, report.max_score)}"
    if row.late_points or row.days_late:
        yield f"late      {_days(row.days_late)}: -{points(row.late_points)}"
    for one in row.adjustments:
        if not one.revoked:
            word = "override" if one.kind == "override" else "adjusted"
            yield f"{word:8}  {signed(one)} by {safe(one.author)}: {safe(one.comment)}"
    if row.submitted_at is not None:
        yield f"handed in {row.submitted_at:%Y-%m-%d %H:%M %Z}".rstrip()
    yield (
        f"checked   {row.graded_at:%Y-%m-%d %H:%M %Z}, attempt {row.attempts}, {report.duration_s:.1f} s, "
        f"seed {report.seed}, {safe(report.device)}, isolation {report.isolation}"
    )


def _remarks(row: Row) -> str:
    """Return what is worth a glance in a table of one learner."""
    parts = [f"({signed(one)}) {safe(one.comment)}" for one in row.adjustments if not one.revoked]
    if row.late_points or row.days_late:
        parts.insert(0, f"{_days(row.days_late)}: -{points(row.late_points)}")
    if row.attempts > 1:
        parts.append(f"attempt {row.attempts}")
    if row.report.message:
        parts.append(safe(row.report.message).partition("\n")[0])
    wrong = [check for check in row.report.checks if check.status not in ("pass", "skipped")]
    if wrong and not row.report.message:
        parts.append(f"{len(wrong)} of {len(row.report.checks)} checks went wrong")
    return ", ".join(parts)


def _days(days: float) -> str:
    return f"{points(days)} day{'' if days == 1 else 's'} late"


def who(row: Row) -> str:
    """Return a learner as identity and name, the name only where it says more."""
    learner, name = (safe(text).replace("\n", "\\n") for text in (row.learner, row.name))
    return learner if name in ("", learner) else f"{learner}  {name}"


def is_changed(row: Row) -> bool:
    """Return whether a mark is something else than what the checks gave."""
    return bool(row.late_points) or any(not one.revoked for one in row.adjustments)
