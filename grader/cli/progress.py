"""How far a long command is: a live bar on a terminal; of grading a class, now and then a line elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING

import click
from rich.console import Group
from rich.live import Live
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from grader.report.style import console, escape_controls
from grader.words import counted

if TYPE_CHECKING:
    from grader.instructor.grading.run import Tally, Watch
    from grader.instructor.submissions.submission import Submission
    from grader.report.report import KataReport

Step = Callable[[str, int, int], None]
"""Called with what is done, how much of it is, and of how much."""
EVERY_S = 10.0
"""Off a terminal, a line this often."""


SILENT_S = 2.0
"""For so long nobody is told what is waited for: most verdicts are there by then."""


class LongWait:
    """What a terminal shows while katas are checked: which of several it is, and what takes longer than a moment."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._head, self._title, self._limit, self._since = "", "", 0.0, time.monotonic()

    def kata(self, number: int, name: str) -> None:
        """Note which kata comes now."""
        self._head = f"{number} of {self._total}  {name}" if self._total > 1 else ""
        self.check("", 0.0)

    def check(self, title: str, limit: float) -> None:
        """Note what runs now, and how many seconds it may take."""
        self._title, self._limit, self._since = title, limit, time.monotonic()

    def __rich__(self) -> Text:
        """Draw it as it is at this moment: a thread draws anew, while the check waits."""
        seconds = time.monotonic() - self._since
        slow = (
            f"{self._title} … {seconds:.0f} s of {self._limit:g}"
            if self._title and seconds >= SILENT_S
            else ""
        )
        text = "   ".join(part for part in (self._head, escape_controls(slow)) if part)
        return Text(text, style="dim", no_wrap=True, overflow="ellipsis")


@contextmanager
def waiting(total: int) -> Iterator[LongWait]:
    """Show on a terminal what is waited for while the block runs; elsewhere nothing."""
    err, shown = console(stderr=True), LongWait(total)
    if not (total and err.is_terminal):
        yield shown
        return
    with Live(shown, console=err, transient=True):
        yield shown


@contextmanager
def watching(total: int, where: str) -> Iterator[Watch]:
    """Show progress on stderr while the block runs; the block calls what it gets after every row."""
    err = console(stderr=True)
    # In a log a bar would be thousands of lines.
    if not err.is_terminal:
        yield _lines(total, where)
        return
    progress = Progress(
        TextColumn("grading"),
        BarColumn(bar_width=None),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(compact=True),
        expand=True,
    )
    task = progress.add_task("", total=total, rate="")
    line = Text(where, style="dim", no_wrap=True, overflow="ellipsis")
    started = time.monotonic()

    def watch(tally: Tally, submission: Submission, report: KataReport | None) -> None:
        progress.update(task, advance=1, rate=_rate(tally, started))
        line.plain = outcomes(tally) or where

    with Live(Group(progress, line), console=err, transient=True):
        yield watch


def _lines(total: int, where: str) -> Watch:
    click.echo(f"grading {counted(total, 'submission')}, {where}", err=True)
    started = last = time.monotonic()
    done = 0

    def watch(tally: Tally, submission: Submission, report: KataReport | None) -> None:
        nonlocal last, done
        done += 1
        now = time.monotonic()
        # A log is read later: a line for each submission would hide everything else.
        if now - last >= EVERY_S:
            last = now
            click.echo(f"{done}/{total}  {_rate(tally, started)}  {outcomes(tally)}", err=True)

    return watch


def outcomes(tally: Tally) -> str:
    """Say what became of the submissions so far."""
    parts = [
        f"{tally.by_status[status]} {word}" for status, word in _WORDS.items() if tally.by_status.get(status)
    ]
    if tally.unchanged:
        parts.append(f"{tally.unchanged} unchanged")
    if tally.untouched:
        parts.append(f"{len(tally.untouched)} not in this download and left as they were")
    return ", ".join(parts)


_WORDS = {
    "pass": "passed",
    "fail": "failed",
    "error": "error",
    "timeout": "timed out",
    "in_progress": "in progress",
    "not_started": "not started",
    "missing": "missing",
}


def _rate(tally: Tally, started: float) -> str:
    seconds = time.monotonic() - started
    return f"{tally.graded / seconds:.1f}/s" if tally.graded and seconds > 1 else ""


@contextmanager
def measuring() -> Iterator[tuple[Callable[[int], None], Callable[[str, int], None]]]:
    """Show how far it is: yields what is told the number of rounds, and what is told which of them are done."""
    bar = Progress(
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}"),
        console=console(stderr=True),
        transient=True,
    )
    with bar:
        task = bar.add_task("collecting", total=None)

        def start(total: int) -> None:
            bar.update(task, total=total)

        def step(text: str, done: int) -> None:
            bar.update(task, advance=done, description=escape_controls(text) if text else None)

        yield start, step


def examining() -> AbstractContextManager[Step]:
    """Show how far the gate is."""
    # Refreshed by steps, not by a thread, which a process that is forked must not have.
    columns = BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}")
    return _stepping("collecting", columns, auto_refresh=False)


def moving() -> AbstractContextManager[Step]:
    """Show how much has been moved or learned, where the number itself says nothing."""
    columns = TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn()
    return _stepping("…", columns, auto_refresh=True)


@contextmanager
def _stepping(text: str, columns: Iterable[ProgressColumn], *, auto_refresh: bool) -> Iterator[Step]:
    with Progress(*columns, console=console(stderr=True), transient=True, auto_refresh=auto_refresh) as bar:
        task = bar.add_task(text, total=None)
        yield lambda what, done, total: bar.update(
            task, description=escape_controls(what), completed=done, total=total, refresh=not auto_refresh
        )
