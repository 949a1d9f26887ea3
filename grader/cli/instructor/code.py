"""`kata gradebook code`: what a learner handed in, and what changed since."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

import click

from grader.cli.context import complete_id, note
from grader.cli.instructor.class_options import name_word, same_book, with_gradebook
from grader.errors import UsageError
from grader.instructor.submissions.as_text import text_of
from grader.report.style import console, escape_controls
from grader.words import counted

if TYPE_CHECKING:
    from rich.console import Console

    from grader.instructor.gradebook.store import Gradebook
    from grader.instructor.submissions.submission import Bundle

MOST_LINES = 5000
"""Of one file; the rest is counted."""


@click.command(short_help="Show what a learner handed in, and what changed between two attempts.")
@click.argument("learner")
@click.argument("id_", metavar="[ID]", required=False, shell_complete=complete_id)
@click.option(
    "--attempt",
    type=int,
    metavar="N",
    help="Show this attempt instead of the one that counts; `history` shows the numbers.",
)
@click.option("--diff", "other", type=int, metavar="M", help="Show what changed from attempt M to this one.")
@click.option("--all", "every", is_flag=True, help="Also show the files next to the module.")
@with_gradebook
def code(
    book: Gradebook, learner: str, id_: str | None, attempt: int | None, other: int | None, every: bool
) -> None:
    """Show what a learner handed in: the attempt that counts, or the one that --attempt names.

    Without ID, it shows every kata that the learner handed in. For a notebook, it shows the code cells.

    \b
    Example:
      kata gradebook code ada masks
      kata gradebook code ada masks --attempt 3
      kata gradebook code ada masks --attempt 3 --diff 1
    """
    from grader.instructor.gradebook.resolve import resolve_katas

    if other is not None and id_ is None:
        raise UsageError(
            "--diff compares two attempts of one kata.", "Name it: kata gradebook code LEARNER ID"
        )
    out, shown = console(), 0
    for row in book.rows(katas=resolve_katas(book, [id_] if id_ else []), learners=[learner]):
        # People count attempts by learner and kata; the gradebook has one number for each of all.
        there = book.attempts_of(learner, row.kata)
        counts = next((number for number, one in there.items() if one == row.attempt), None)
        number = attempt if attempt is not None else counts
        if number is None:
            continue
        bundle = book.bundle(there[number]) if number in there else None
        if bundle is None:
            # Among several katas, one without this attempt is skipped: the others may have it.
            if attempt is not None and id_ is not None:
                raise _nothing_stored(book, learner, row.kata, number)
            continue
        shown += 1
        if other is None:
            _print(bundle, f"{learner}, {row.kata}, attempt {number}", out, every=every)
            continue
        before = book.bundle(there[other]) if other in there else None
        if before is None:
            raise _nothing_stored(book, learner, row.kata, other)
        _print_diff(before, bundle, f"attempt {other}", f"attempt {number}", out)
    if not shown:
        note(f"{escape_controls(learner)} handed in nothing that was stored.")


def _nothing_stored(book: Gradebook, who: str, kata: str, number: int) -> UsageError:
    there = book.attempts_of(who, kata)
    stored = ", ".join(str(one) for one, row in there.items() if book.bundle(row) is not None)
    return UsageError(
        f"Nothing is stored of attempt {number} of {who} at {kata}. Stored attempts: {stored or 'none'}.",
        f"See: kata gradebook history {name_word(who)} {kata}{same_book()}",
    )


def _print(bundle: Bundle, title: str, out: Console, *, every: bool) -> None:
    from rich.syntax import Syntax
    from rich.text import Text

    names = [bundle.main, *sorted(set(bundle.files) - {bundle.main})] if every else [bundle.main]
    for name in names:
        out.print(Text(f"{title}   {escape_controls(name)}", style="bold"), soft_wrap=True)
        text = text_of(name, bundle.files[name])
        lines = text.splitlines()
        # Escaped: what a learner wrote may hold sequences that a terminal obeys.
        shown = "\n".join(escape_controls(line) for line in lines[:MOST_LINES])
        out.print(
            Syntax(
                shown,
                "python" if name.endswith((".py", ".ipynb")) else "text",
                line_numbers=True,
                theme="ansi_dark",
            )
            if out.is_terminal
            else Text(shown),
            soft_wrap=True,
        )
        if len(lines) > MOST_LINES:
            out.print(f"… and {len(lines) - MOST_LINES} more lines")
    others = len(bundle.files) - 1
    if others and not every:
        note(f"and {counted(others, 'file')} more: --all shows them")


def _print_diff(before: Bundle, after: Bundle, old: str, new: str, out: Console) -> None:
    from rich.syntax import Syntax
    from rich.text import Text

    changes: list[str] = []
    for name in sorted({*before.files, *after.files}):
        one, other = (
            text_of(name, files[name]).splitlines() if name in files else []
            for files in (before.files, after.files)
        )
        changes += difflib.unified_diff(
            one[:MOST_LINES],
            other[:MOST_LINES],
            f"{escape_controls(name)}  {old}",
            f"{escape_controls(name)}  {new}",
            lineterm="",
        )
    if not changes:
        note(f"{old} and {new} are the same.")
        return
    text = "\n".join(escape_controls(line) for line in changes)
    out.print(Syntax(text, "diff", theme="ansi_dark") if out.is_terminal else Text(text), soft_wrap=True)
