"""A report as a learner reads it: what holds, the first thing that does not in full, what to type next."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from grader.reports.report import CheckReport, KataReport, Measured
from grader.reports.style import points, safe, safe_text, status_text

PRINTED_LINES = 20
"""Lines of a submission's own prints that are shown with a failure."""
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


def print_findings(report: KataReport, out: Console) -> None:
    """Print all that was found about a kata, every check with its message, and no advice to the learner."""
    if report.message:
        _print_block(report.message, out)
    if report.output:
        _print_output(report.output, "printed while loading", out)
    _print_every_check(report, out)


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
        out.print(Text(f"\nnext  edit {_file(waiting)}, then check again"), soft_wrap=True)
        out.print(Text(f"read  kata show {waiting.kata}      stuck?  kata hint {waiting.kata}", "dim"))


def _file(report: KataReport) -> str:
    """Return the submission's path as somebody in this folder would type it."""
    path = report.file or f"the stub of {report.kata}"
    near = os.path.relpath(path) if report.file else path
    return safe(near if len(near) < len(path) else path)


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
        out.print(Text(f"  Nothing is written yet in {_file(report)}."), soft_wrap=True)
        out.print(Text(f"  read  kata show {report.kata}      stuck?  kata hint {report.kata}", "dim"))
        if not verbose:
            return
    if report.output:
        _print_output(report.output, "printed while loading", out)
    if report.message and not verbose:
        return
    if verbose:
        _print_every_check(report, out)
    else:
        checks = Table.grid(padding=(0, 1))
        checks.add_column(no_wrap=True)
        checks.add_column(no_wrap=True, justify="right")
        checks.add_column()  # the title is what gives way on a narrow terminal, by wrapping
        for check in report.checks:
            checks.add_row(*_check_cells(check, out))
        out.print(checks)
    first = next((check for check in report.checks if check.status in PROBLEMS), None)
    if first is not None:
        out.print()
        if not verbose:
            _print_failure(first, report, out)
        _print_next_steps(first, report, out, again)
    if report.status == "pass":
        out.print(
            Text(f"  All of it holds. Ours, and what to think about:  kata solution {report.kata}", "dim")
        )


def _print_every_check(report: KataReport, out: Console) -> None:
    for check in report.checks:
        out.print(_check_line(check, out))
        if check.status != "pass" or check.message:
            _print_details(check, out)


def _check_cells(check: CheckReport, out: Console) -> tuple[Text, Text, Text]:
    """Return status, points and title; the word stands beside the glyph, colour says nothing new."""
    status = Text("  ").append_text(status_text(check.status, out))
    hidden = " (hidden)" if check.hidden else ""
    title = Text(safe(check.name) + hidden)
    if isinstance(check.speed, Measured):
        title.append(f"   {_measured(check.speed)}", "dim")
    return status, Text(points(check.points, check.max_points), style="dim"), title


def _measured(speed: Measured) -> str:
    """Say what was measured and what was asked, in the threshold's unit."""
    if speed.value is None:
        limit = f"{speed.threshold:.0%}" if speed.form == "roofline" else f"{speed.threshold:g}"
        text = f"stopped before it was measured, {limit} asked"
    elif speed.form == "roofline":
        text = f"{speed.value:.0%} of the limit, at least {speed.threshold:.0%} asked"
    elif speed.form.endswith("exponent"):
        text = f"power {speed.value:.2f}, at most {speed.threshold:g} asked"
    else:
        text = f"{speed.value:.2f}×, at most {speed.threshold:g}× asked"
    return f"{text}, inconclusive" if speed.verdict == "inconclusive" else text


def _check_line(check: CheckReport, out: Console) -> Text:
    return Text(" ").join(_check_cells(check, out))


def _print_failure(check: CheckReport, report: KataReport, out: Console) -> None:
    word = {"fail": "FAIL", "error": "ERROR", "timeout": "TIME"}[check.status]
    score = points(check.points, check.max_points)
    out.print(Text.assemble((f"{word} {report.number} {safe(check.name)}", "bold red"), f"   {score}"))
    _print_details(check, out)


def _print_details(check: CheckReport, out: Console) -> None:
    if check.message:
        _print_block(check.message, out)
    if check.likely:
        out.print(Text.assemble(("  likely  ", "bold"), safe(check.likely)))
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


def _print_next_steps(check: CheckReport, report: KataReport, out: Console, again: Sequence[str]) -> None:
    target = list(again) or [report.kata]
    # What is timed gets inputs that nobody can know before, whatever the seed.
    how = ["--perf"] if check.aspect == "performance" else ["--seed", str(report.seed)]
    repeat = shlex.join(["kata", "check", *target, "-k", check.id, *how])
    out.print(Text.assemble(("  try     ", "bold"), f"kata hint {report.kata}"))
    out.print(
        Text.assemble(("  repeat  ", "bold"), safe(repeat)), no_wrap=True, overflow="ignore", crop=False
    )
