"""A report as a learner reads it: what holds, the first thing that does not in full, what to type next."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from grader.reports.model import CheckReport, KataReport
from grader.reports.style import LOOKS, has_unicode, points, safe, safe_text, status_text

PRINTED_LINES = 20
"""Lines of a submission's own prints that are shown with a failure."""
WIDTH = 96
PROBLEMS = ("fail", "error", "timeout")


def print_reports(
    reports: Sequence[KataReport],
    out: Console,
    *,
    verbose: bool = False,
    quiet: bool = False,
    again: Sequence[str] = (),
) -> None:
    """Print reports: one kata in full, the others in a line each.

    Args:
        reports: in the order of the katas.
        out: where to.
        verbose: every kata and every message in full.
        quiet: one line a kata.
        again: how the check was asked for, so that the repeat line says it (a path, say).
    """
    focus = _focus(reports)
    for report in reports:
        if not quiet and (verbose or report is focus):
            _print_full(report, out, verbose=verbose, again=again)
        else:
            out.print(_line(report, out), no_wrap=True, overflow="ellipsis")
    if focus is None and not quiet:
        _print_where_to_begin(reports, out)
    if len(reports) > 1:
        passed = sum(report.status == "pass" for report in reports)
        score, whole = sum(r.score for r in reports), sum(r.max_score for r in reports)
        out.print(Text(f"{passed} of {len(reports)} passed, {points(score, whole)} points"))


def _focus(reports: Sequence[KataReport]) -> KataReport | None:
    """Return the one kata to show in full: the first that went wrong, or the only one there is."""
    if len(reports) == 1:
        return reports[0]
    wrong = (report for report in reports if report.status not in ("pass", "not_started", "missing"))
    return next(wrong, None)


def _print_where_to_begin(reports: Sequence[KataReport], out: Console) -> None:
    """Say what to do when nothing went wrong, but something is still to be written."""
    waiting = next((report for report in reports if report.status == "not_started"), None)
    if waiting is not None:
        out.print(Text(f"\nnext  edit {safe(waiting.file or waiting.kata)}, then check again"))
        out.print(Text(f"read  kata show {waiting.kata}      stuck?  kata hint {waiting.kata}", "dim"))


def _line(report: KataReport, out: Console) -> Text:
    text = Text.assemble(
        status_text(report.status, out),
        f"  {report.number} {report.kata}",
        (
            f"  {points(report.score, report.max_score)}"
            if report.status not in ("not_started", "missing")
            else "",
            "dim",
        ),
    )
    if report.message:
        text.append("  " + safe(report.message.splitlines()[0]), "dim")
    return text


def _print_full(report: KataReport, out: Console, *, verbose: bool, again: Sequence[str]) -> None:
    out.print()
    title = Text.assemble(
        (f"{report.number} {report.kata}", "bold"), f"   {points(report.score, report.max_score)} points   "
    )
    title.append_text(status_text(report.status, out))
    out.print(title)
    if report.message:
        out.print()
        _print_block(report.message, out)
    if report.status == "not_started":
        out.print(Text(f"  Nothing is written yet in {safe(report.file or 'the stub')}."))
        out.print(Text(f"  read  kata show {report.kata}      stuck?  kata hint {report.kata}", "dim"))
        if not verbose:
            return
    if report.output:
        _print_output(report.output, "printed while loading", out)
    if report.message and not verbose:
        return
    shown = 0
    for check in report.checks:
        out.print(_check_line(check, out), no_wrap=True, overflow="ellipsis")
        if verbose and check.status != "pass":
            _print_details(check, out)
    first = next((check for check in report.checks if check.status in PROBLEMS), None)
    if first is not None and not verbose:
        out.print()
        _print_failure(first, report, out)
        shown = 1
    elif first is not None:
        out.print()
        _print_next_steps(first, report, out, again)
    if shown:
        _print_next_steps(first, report, out, again)
    if report.status == "pass":
        out.print(Text(f"  All of it holds. Compare with ours:  kata solution {report.kata}", "dim"))


def _check_line(check: CheckReport, out: Console) -> Text:
    look = LOOKS[check.status]
    glyph = look.glyph if has_unicode(out) else look.ascii
    hidden = " (hidden)" if check.hidden else ""
    # The word stands beside the glyph wherever something is not as it should be; colour says nothing new.
    word = "" if check.status == "pass" else f"  {look.word}"
    return Text.assemble(
        (f"  {glyph} ", look.style),
        (f"{points(check.points, check.max_points):>7}  ", "dim"),
        safe(check.name) + hidden,
        (word, look.style),
    )


def _print_failure(check: CheckReport, report: KataReport, out: Console) -> None:
    word = {"fail": "FAIL", "error": "ERROR", "timeout": "TIME"}[check.status]
    head = f"{word} {report.number} {safe(check.name)}"
    score = points(check.points, check.max_points)
    out.print(
        Text.assemble((head, "bold red"), " " * max(2, WIDTH - len(head) - len(score)), score),
        no_wrap=True,
        overflow="ellipsis",
    )
    _print_details(check, out)


def _print_details(check: CheckReport, out: Console) -> None:
    if check.message:
        _print_block(check.message, out)
    if check.misconception:
        out.print(Text.assemble(("  likely  ", "bold"), safe(check.misconception)))
    if check.output:
        _print_output(check.output, "printed", out)


def _print_block(text: str, out: Console) -> None:
    for line in text.splitlines():
        out.print(Text("  ").append_text(safe_text(line)), no_wrap=True, overflow="ignore", crop=False)


def _print_output(output: str, title: str, out: Console) -> None:
    lines = output.rstrip("\n").splitlines()
    cut = len(lines) - PRINTED_LINES
    out.print(
        Text(f"  {title}" + (f" (the last {PRINTED_LINES} of {len(lines)} lines)" if cut > 0 else ""), "dim")
    )
    for line in lines[-PRINTED_LINES:]:
        out.print(Text("    | ", "dim").append_text(safe_text(line[:200])), no_wrap=True, overflow="ellipsis")


def _print_next_steps(
    check: CheckReport | None, report: KataReport, out: Console, again: Sequence[str]
) -> None:
    if check is None:
        return
    target = list(again) or [report.kata]
    repeat = shlex.join(["kata", "check", *target, "-k", check.id, "--seed", str(report.seed)])
    out.print(Text.assemble(("  try     ", "bold"), f"kata hint {report.kata}"))
    out.print(
        Text.assemble(("  repeat  ", "bold"), safe(repeat)), no_wrap=True, overflow="ignore", crop=False
    )
