"""What commands print of a gradebook: a class, a learner, one mark; code, written answers, history."""

from __future__ import annotations

import difflib
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len
from rich.console import Console
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from grader.cli.context import note
from grader.cli.instructor.class_options import print_line
from grader.instructor.gradebook.course import Total, total, written_total
from grader.instructor.gradebook.events import AnswerMark, Override, PointsChange, standing
from grader.instructor.gradebook.exports.tables import signed
from grader.instructor.gradebook.row_types import (
    AttemptGraded,
    HistoryEvent,
    Mark,
    SeenAgain,
    TakenBack,
    by_learner,
)
from grader.instructor.gradebook.written_answers import written_in_short
from grader.instructor.submissions.as_text import text_of
from grader.instructor.submissions.names import natural_key
from grader.report.report import WRONG
from grader.report.style import (
    STATUS_STYLES,
    escape_controls,
    has_unicode,
    never_cut,
    points,
    status_text,
)
from grader.report.terminal import print_findings
from grader.words import counted

if TYPE_CHECKING:
    from grader.instructor.gradebook.course import Course
    from grader.instructor.gradebook.written_answers import AnswerSheet
    from grader.instructor.submissions.submission import Bundle

GAP = 2
MARK_GAP = 1
"""Between marks, which end in a blank or a sign of their own."""
NAME_WIDTH, NAME_WIDTH_WIDE = 24, 40
"""The most that a learner's name takes; the latter where lines are long."""
CHANGED = "*"
"""The sign of a mark that came in late, or is not what the checks gave."""
OPEN = "?"
"""The sign of a total of which answers wait for a mark."""
LATE = "~"
"""The sign of a mark that a system marks late without a time."""


@dataclass
class _Kata:
    """A kata's column: what it says over all learners."""

    number: str
    slug: str
    max_score: float = 0.0
    scores: list[float] = field(default_factory=list)
    learners: int = 0
    passed: int = 0

    @property
    def heading(self) -> str:
        """Its number, and below it what there is to get."""
        return f"{self.number} \n/{points(self.max_score)} "


class _Line(NamedTuple):
    """A learner's line."""

    name: str
    cells: dict[str, Text]
    """By kata."""
    written: str
    """What the written answers come to; nothing where there are none in the total."""
    total: str


def print_class(rows: Iterable[Mark], course: Course, out: Console) -> int:
    """Print one line for each learner and one column for each kata, in as many blocks as the width asks for.

    Returns:
        how many learners there are.
    """
    katas: dict[str, _Kata] = {}
    lines: list[_Line] = []
    statuses: set[str] = set()
    changed, late, unmarked, waiting, ungraded = False, False, 0, 0, 0
    # Only what the table shows is kept of a row: a class's reports do not fit into memory.
    for _, own in by_learner(rows):
        cells = {}
        for slug, row in own.items():
            kata = katas.setdefault(slug, _Kata(row.number, slug))
            kata.max_score = max(kata.max_score, row.max_score)
            if row.graded:
                kata.scores.append(row.score)
            kata.learners += 1
            kata.passed += row.status == "pass"
            statuses.add(row.status)
            changed, late = changed or row.late or row.changed, late or bool(row.late_by)
            ungraded += not row.graded
            unmarked += len(row.written.unmarked) if row.written is not None else 0
            cells[slug] = _cell(row, out)
        whole, written = total(own.values(), course), written_total(own.values(), course)
        waiting += whole.waiting
        lines.append(
            _Line(who(next(iter(own.values()))), cells, _all(written) if written.most else "", _all(whole))
        )
    columns = sorted(katas.values(), key=lambda kata: (natural_key(kata.number), kata.slug))
    for number, block in enumerate(_blocks(columns, lines, out)):
        if number:
            out.print()
        _print_block(block, lines, out)
    # Only signs that the table has are explained.
    legend = Text("\n")
    for status in STATUS_STYLES:
        if status in statuses:
            legend.append_text(status_text(status, out)).append("   ")
    if unmarked > waiting:
        legend.append(
            f"{counted(unmarked - waiting, 'written answer')} not marked yet, nor released: in no total   "
        )
    if waiting:
        legend.append(f"{OPEN} {counted(waiting, 'written answer')} still to be marked, not 0   ")
    if ungraded:
        legend.append(f"{OPEN} {counted(ungraded, 'mark')} still to be graded, not 0   ")
    if late:
        legend.append(f"{LATE} marked late, time not known   ")
    if changed:
        legend.append(f"{CHANGED} late, or changed by a person")
    out.print(legend, soft_wrap=True)
    return len(lines)


def _cell(row: Mark, out: Console) -> Text:
    look = STATUS_STYLES[row.status]
    glyph = look.glyph if has_unicode(out) else look.ascii
    sign = CHANGED if row.late or row.changed else LATE if row.late_by else " "
    return Text(f"{glyph} {points(row.points)}{sign}", look.style)


def _all(of: Total) -> str:
    """Return what somebody has in all; a sign says that a part of it waits for a mark."""
    return f"{points(of.score, of.most)}{OPEN if of.waits else ''}"


def _blocks(columns: Sequence[_Kata], lines: Sequence[_Line], out: Console) -> list[list[_Kata]]:
    """Return the columns that fit side by side, block by block; the totals are in every block."""
    room = (
        out.width
        - _name_width(lines, out)
        - sum(MARK_GAP + max(map(len, texts), default=5) for texts in _ends(lines).values())
    )
    blocks: list[list[_Kata]] = []
    used = 0
    for kata in columns:
        marks = [len(line.cells[kata.slug]) for line in lines if kata.slug in line.cells]
        width = MARK_GAP + max(*map(len, kata.heading.split("\n")), *marks)
        if not blocks or used + width > room:
            blocks.append([])
            used = 0
        blocks[-1].append(kata)
        used += width
    return blocks


def _name_width(lines: Sequence[_Line], out: Console) -> int:
    most = NAME_WIDTH if out.width < 120 else NAME_WIDTH_WIDE
    return min(most, max([len("learner"), *(cell_len(line.name) for line in lines)]))


def _ends(lines: Sequence[_Line]) -> dict[str, list[str]]:
    """Return the columns that are in every block: the total, and before it the written answers in it."""
    ends = {"written": [line.written for line in lines], "total": [line.total for line in lines]}
    return ends if any(ends["written"]) else {"total": ends["total"]}


def _print_block(block: Sequence[_Kata], lines: Sequence[_Line], out: Console) -> None:
    table = Table(box=None, pad_edge=False, padding=(0, MARK_GAP, 0, 0), header_style="bold")
    table.add_column("learner", width=_name_width(lines, out), no_wrap=True, overflow="ellipsis")
    for kata in block:
        table.add_column(kata.heading, justify="right", no_wrap=True)
    ends = _ends(lines)
    for title in ends:
        table.add_column(title, justify="right", no_wrap=True)
    for place, line in enumerate(lines):
        own = (line.cells.get(kata.slug, "") for kata in block)
        table.add_row(Text(line.name), *own, *(texts[place] for texts in ends.values()))
    if len(lines) > 1:
        table.add_section()
        means = [f"{points(statistics.fmean(kata.scores) if kata.scores else None)} " for kata in block]
        table.add_row("mean", *means, style="dim")
        table.add_row("passed", *(f"{kata.passed}/{kata.learners} " for kata in block), style="dim")
    out.print(table)


def print_learner(rows: Sequence[Mark], course: Course, out: Console) -> None:
    """Print one learner: a line for each kata and its released answers, and what was said about the mark."""
    whole = total(rows, course)
    out.print(Text.assemble((who(rows[0]), "bold"), f"   {_all(whole)} points"), soft_wrap=True)
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, GAP, 0, 0))
    for _ in range(2):
        table.add_column(no_wrap=True)
    table.add_column(no_wrap=True, justify="right")
    table.add_column(no_wrap=True)
    table.add_column()  # the one to give way on a narrow terminal
    for row in rows:
        mark, remark = points(row.points, row.max_score), Text(_remarks(row, course), style="dim")
        table.add_row(row.number, row.kata, mark, status_text(row.status, out), remark)
        if (part := row.written) is not None and part.released:
            weight = course.written_weight(row.kata)
            counts = f"counts {points(weight)} times, " if weight != 1 else ""
            remark = Text(counts + written_in_short(row), style="dim")
            table.add_row("", "written answers", points(part.score, part.max_score), "", remark)
    never_cut(table, 0, 1)
    out.print(table)


def print_mark(row: Mark, course: Course, out: Console) -> None:
    """Print one mark with everything that made it: the checks, lateness, what people changed."""
    title = Text.assemble(
        (f"{who(row)}   {row.number} {row.kata}", "bold"),
        f"   {points(row.points, row.max_score)} points   ",
    )
    out.print(title.append_text(status_text(row.status, out)), soft_wrap=True)
    for fact in _facts(row, course):
        out.print(Text(f"  {fact}"), soft_wrap=True)
    out.print()
    print_findings(row.report, out)


def _facts(row: Mark, course: Course) -> Iterator[str]:
    report = row.report
    if row.changed:
        yield f"graded    {points(report.earned, report.possible)}"
    if row.late_points or row.days_late:
        yield f"late      {_late(row)}"
    for change in standing(row.adjustments):
        yield f"{_word(change):8}  {signed(change)} by {change.made.author}: {change.made.comment}"
    if row.late_days_used:
        yield f"late days {row.late_days_used} used of {course.late.late_days}"
    if row.submitted_at is not None:
        by = f", says {row.time_source}" if row.time_source else ""
        yield f"handed in {_when(row.submitted_at, course)}{by}"
    if answers := written_in_short(row):
        yield f"answers   {answers}"
    if row.origin:
        yield f"found in  {row.origin}"
    for remark in row.notes:
        yield f"note      {remark}"
    if not row.attempt or report.status == "missing":
        return
    yield (
        f"checked   {_when(row.graded_at, course)}, {_versions(row)}, {report.duration_s:.1f} s, "
        f"seed {report.seed}, {report.device}, isolation {report.isolation}"
    )


def print_history(histories: Mapping[str, Sequence[HistoryEvent]], course: Course, out: Console) -> None:
    """Print what happened to marks, by kata, oldest first, in the course's time zone."""
    for kata, events in histories.items():
        if not events:
            continue
        out.print(Text(kata, style="bold"))
        table = Table(box=None, show_header=False, padding=(0, GAP, 0, 0), pad_edge=False)
        for _ in range(4):
            table.add_column(no_wrap=True)
        table.add_column()  # the one to give way on a narrow terminal
        for event in events:
            table.add_row(f"  {_when(event.at, course)}", *_happened(event, course, out))
        out.print(table)


def _happened(event: HistoryEvent, course: Course, out: Console) -> tuple[Text, str, Text, Text]:
    """Return what an event is, its points, the number by which a command takes it back, and what there is to say."""
    match event:
        case AttemptGraded(result=result):
            handed_in = f", handed in {_when(event.submitted_at, course)}" if event.submitted_at else ""
            comment = Text(f"attempt {event.number}{handed_in}", style="dim")
            return status_text(result.status, out), points(result.score, result.max_score), Text(), comment
        case SeenAgain():
            again = f"{event.comment}, handed in {_when(event.submitted_at, course)}"
            return Text("unchanged"), "", Text(), Text(again, style="dim")
    given = ""
    match decision := event.decision:
        case AnswerMark():
            done, number, undone, given = "marked", "mark", "taken back", f"question {decision.question}"
        case PointsChange():
            done, number, undone = _word(decision), "change", "revoked"
        case _:
            done, number, undone = "decided", "ruling", "withdrawn"
    by = Text(f"{number} {decision.id}", style="dim")
    if isinstance(event, TakenBack):
        return Text(undone), given, by, Text(f"{event.by.author}: {event.by.comment}")
    comment = Text(decision.made.author + (f": {event.comment}" if event.comment else ""))
    if decision.revoked:
        comment.append(f", {undone} later", "dim")
    match decision:
        case AnswerMark():
            given += f": {points(decision.points, decision.max_points)}"
        case PointsChange():
            given = decision.sign + points(decision.points)
    return Text(done), given, by, comment


def _word(change: PointsChange) -> str:
    return "override" if isinstance(change, Override) else "adjusted"


def _when(moment: datetime, course: Course) -> str:
    return f"{moment.astimezone(course.timezone):%Y-%m-%d %H:%M}"


def _remarks(row: Mark, course: Course) -> str:
    """Return what is worth a glance in a table of one learner."""
    parts = [f"({signed(change)}) {change.made.comment}" for change in standing(row.adjustments)]
    if row.late_points or row.days_late:
        parts.insert(0, _late(row))
    elif row.late_by:
        parts.insert(0, f"late? says {row.late_by}, time not known")
    if course.weight(row.kata) != 1:  # else the lines do not add up to the total
        parts.insert(0, f"counts {points(course.weight(row.kata))} times")
    if row.attempts > 1:
        parts.append(_versions(row))
    if row.report.message:
        parts.append(row.report.message.partition("\n")[0])
    if (answers := written_in_short(row)) and row.written is not None and not row.written.released:
        parts.append(f"written: {answers}")
    wrong = [check for check in row.report.checks if check.status in WRONG]
    if wrong and not row.report.message:
        parts.append(f"{len(wrong)} of {len(row.report.checks)} checks went wrong")
    return ", ".join(parts)


def _versions(row: Mark) -> str:
    """Return how many different contents were graded."""
    return f"{counted(row.attempts, 'version')} handed in"


def _late(row: Mark) -> str:
    words = row.lateness.words
    return f"{words}: -{points(row.late_points)}" if row.late_points else words


def who(row: Mark) -> str:
    """Return a learner as identity and name, the name only where it says more."""
    learner, name = (escape_controls(text).replace("\n", "\\n") for text in (row.learner, row.name))
    return learner if name in ("", learner) else f"{learner}  {name}"


MOST_LINES = 5000
"""Of one file; the rest is counted."""


def print_code(bundle: Bundle, title: str, out: Console, *, every: bool) -> None:
    """Print the files that were handed in, with numbers of lines."""
    names = [bundle.main, *sorted(set(bundle.files) - {bundle.main})] if every else [bundle.main]
    for name in names:
        out.print(Text(f"{title}   {escape_controls(name)}", style="bold"), soft_wrap=True)
        text = text_of(name, bundle.files[name])
        lines = text.splitlines()
        # Escaped: what a learner wrote may hold sequences that a terminal obeys.
        shown: Text | Syntax = Text("\n".join(escape_controls(line) for line in lines[:MOST_LINES]))
        if out.is_terminal:
            kind = "python" if name.endswith((".py", ".ipynb")) else "text"
            shown = Syntax(str(shown), kind, line_numbers=True, theme="ansi_dark")
        out.print(shown, soft_wrap=True)
        if len(lines) > MOST_LINES:
            out.print(f"… and {len(lines) - MOST_LINES} more lines")
    others = len(bundle.files) - 1
    if others and not every:
        note(f"and {counted(others, 'file')} more: --all shows them")


def print_diff(before: Bundle, after: Bundle, old: str, new: str, out: Console) -> None:
    """Print what changed from one attempt to another."""
    changes: list[str] = []
    for name in sorted({*before.files, *after.files}):
        was, now = (
            text_of(name, files[name]).splitlines()[:MOST_LINES] if name in files else []
            for files in (before.files, after.files)
        )
        called = escape_controls(name)
        changes += difflib.unified_diff(was, now, f"{called}  {old}", f"{called}  {new}", lineterm="")
    if not changes:
        note(f"{old} and {new} are the same.")
        return
    text = "\n".join(escape_controls(line) for line in changes)
    out.print(Syntax(text, "diff", theme="ansi_dark") if out.is_terminal else Text(text), soft_wrap=True)


def print_sheet(sheet: AnswerSheet, zone: tzinfo) -> None:
    """Print written answers, each next to the model answer, the criteria and the mark."""
    at = sheet.handed_in
    facts = [f"{sheet.learner}, {sheet.kata}"]
    if at is None:
        facts.append("nothing was handed in")
    elif at.submitted_at is not None:
        handed_in = f"{at.submitted_at.astimezone(zone):%Y-%m-%d %H:%M}"
        facts.append(f"handed in {handed_in}{', late' if sheet.late else ''}")
    if sheet.versions > 1:
        facts.append(f"{sheet.versions} versions")
    facts.append("released" if sheet.released else "not released")
    print_line("   ".join(facts))
    for answer in sheet.answers:
        print_line(f"\n{answer.number}. {answer.question}")
        # After a bar: what a learner wrote must not look like a line of ours.
        for line in answer.text.splitlines() or ["(no answer)"]:
            print_line(f"   | {line}")
        if answer.rubric is not None:
            print_line(f"   model    {' '.join(answer.rubric.model.split())}")
            for mistake in answer.rubric.mistakes:
                print_line(f"   mistake  {' '.join(mistake.split())}")
            for number, criterion in enumerate(answer.rubric.criteria, 1):
                met = "x" if answer.mark is not None and number in answer.mark.criteria else " "
                print_line(f"   [{met}] {number}    {criterion.met} ({points(criterion.points)})")
        if answer.mark is not None:
            made = answer.mark.made
            comment = f": {made.comment}" if made.comment else ""
            # The mark is of another text: it counts until somebody looks again.
            older = "   The answer has changed since." if answer.changed else ""
            print_line(
                f"   mark {answer.mark.id}: {points(answer.mark.points, answer.mark.max_points)} "
                f"by {made.author}{comment}{older}"
            )
        elif answer.digest:
            print_line("   not marked yet")
    if sheet.rest:
        print_line("\nUnder no question's number:")
        for line in sheet.rest.splitlines():
            print_line(f"   | {line}")
