"""A report as a learner reads it: what holds, the first thing that does not in full, what to type next."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from grader.report.report import UNWRITTEN, WRONG, CheckReport, KataReport, Measured
from grader.report.style import points, print_hanging, print_indented, safe_text, status_text, unbreakable
from grader.words import counted

PRINTED_LINES = 20
"""Lines of a submission's own prints that are shown with a failure."""


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
        verbose: every kata, every check and every message in full.
        quiet: one line a kata.
        again: how the check was asked for, so that the repeat line says it (a path, say).
    """
    focus = _focus(reports)
    for report in reports:
        if not quiet and (verbose or report is focus):
            _print_full(report, out, verbose=verbose, again=again)
        else:
            # Cut, not wrapped: of many katas the columns are what is read.
            out.print(line_of(report, out), no_wrap=True, overflow="ellipsis")
    if focus is None and not quiet:
        _print_where_to_begin(reports, out)
    if len(reports) > 1:
        out.print(Text(_total(reports)))


def print_findings(report: KataReport, out: Console) -> None:
    """Print all that was found about a kata, every check with its message, and no advice to the learner."""
    if report.message:
        print_block(report.message, out)
    if report.output:
        _print_output(report.output, "printed while loading", out)
    _print_every_check(report, out, named=False)  # an instructor repeats no check by its name


def line_of(report: KataReport, out: Console, *, brief: bool = False) -> Text:
    """Return a kata in one line: its status, its points, and, unless `brief`, what says most of the rest."""
    text = status_text(report.status, out).append(f"  {report.number} {report.kata}", "default not dim")
    if report.status not in UNWRITTEN:
        text.append(f"  {_points(report)}", "dim")
    if brief:
        return text
    if report.message:
        text.append(f"  {report.message.splitlines()[0]}", "dim")
    elif report.status == "in_progress" and report.todo:
        text.append(f"  to do: {', '.join(report.todo)}", "dim")
    return text


def _points(report: KataReport) -> str:
    """Return the points for being right and, where speed was asked about, those for being fast."""
    text = points(report.score, report.max_score)
    return f"{text}, speed {points(report.speed.score, report.speed.max_score)}" if report.speed else text


def _total(reports: Sequence[KataReport]) -> str:
    passed = sum(report.status == "pass" for report in reports)
    score, whole = sum(r.score for r in reports), sum(r.max_score for r in reports)
    text = f"{passed} of {len(reports)} passed, {points(score, whole)} points"
    timed = [report.speed for report in reports if report.speed]
    if timed:
        text += f", speed {points(sum(s.score for s in timed), sum(s.max_score for s in timed))}"
    return text


def _focus(reports: Sequence[KataReport]) -> KataReport | None:
    """Return the one kata to show in full: the first that went wrong, else the first that is under way."""
    if len(reports) == 1:
        return reports[0]
    touched = [report for report in reports if report.status != "pass" and report.status not in UNWRITTEN]
    wrong = [report for report in touched if report.status != "in_progress"]
    return next(iter(wrong or touched), None)


def _print_where_to_begin(reports: Sequence[KataReport], out: Console) -> None:
    """Say what to do when nothing went wrong, but something is still to be written."""
    waiting = next((report for report in reports if report.status == "not_started"), None)
    missing = next((report for report in reports if report.status == "missing"), None)
    if waiting is None and missing is not None:
        out.print()
        print_hanging(out, "next  ", f"kata start {missing.kata}")
    if waiting is not None:
        out.print()
        print_hanging(out, "next  ", f"edit {_file(waiting)}, then check again")
        _print_where_to_read(waiting, out, "")


def _print_where_to_read(report: KataReport, out: Console, indent: str) -> None:
    where = f"kata show {report.kata}      stuck?  kata hint {report.kata}"
    print_hanging(out, Text(f"{indent}read  ", "dim"), where, "dim")


def _file(report: KataReport) -> str:
    """Return the submission's path as somebody in this folder would type it."""
    path = report.file or f"the stub of {report.kata}"
    near = os.path.relpath(path) if report.file else path
    return near if len(near) < len(path) else path


def _print_full(report: KataReport, out: Console, *, verbose: bool, again: Sequence[str]) -> None:
    out.print()
    title = Text.assemble((f"{report.number} {report.kata}", "bold"), f"   {_points(report)} points   ")
    out.print(title.append_text(status_text(report.status, out)))
    if report.message:
        out.print()
        print_block(report.message, out)
    _print_stages(report, out)
    if report.output:
        _print_output(report.output, "printed while loading", out)
    if report.status == "not_started":
        print_hanging(out, "  ", f"Nothing is written yet in {_file(report)}.")
        _print_where_to_read(report, out, "  ")
        if not verbose:
            return
    # One sentence says why nothing was checked: the checks would repeat it.
    if report.message and not verbose:
        return
    if verbose:
        _print_every_check(report, out, named=True)
    else:
        _print_checks(report, out)
    # One failure at a time: what comes after it often follows from it.
    wrong = [check for check in report.checks if check.status in WRONG]
    if wrong:
        first = next((check for check in wrong if check.id == report.first), wrong[0])
        out.print()
        if not verbose:
            _print_failure(first, report, out)
        _print_next_steps(first, report, out, again)
        if len(wrong) > 1 and not verbose:
            others = f"kata {shlex.join(['check', *(list(again) or [report.kata]), '-v'])}"
            print_hanging(
                out,
                Text("  others  ", "bold"),
                f"{others}   shows {len(wrong) - 1} more that fail{'s' if len(wrong) == 2 else ''}",
            )
    elif report.status == "in_progress" and report.todo:
        out.print()
        print_hanging(out, "next  ", f"write {report.todo[0]} in {_file(report)}, then check again")
        message = next(check.message for check in report.checks if check.status == "todo")
        print_hanging(out, "      ", message or "", "dim")
        _print_where_to_read(report, out, "")
    elif report.status == "pass" and not report.left_out:
        more = f"Our solution, and questions to think about:  kata solution {report.kata}"
        print_hanging(out, "  ", more, "dim")


def _print_stages(report: KataReport, out: Console) -> None:
    for number, stage in enumerate(report.stages or (), 1):
        parts = f"  ({', '.join(stage.parts)})"
        written = {name.partition(".")[0] for name in report.todo}.isdisjoint(stage.parts)
        mark = _head("pass" if stage.done else "fail" if written else "todo", out)
        text = Text.assemble(mark, f"stage {number} of {len(report.stages or ())}  {stage.title}")
        out.print(text.append(parts, "dim"), soft_wrap=True)


def _print_checks(report: KataReport, out: Console) -> None:
    """Print what holds in one line, so what waits for another check or a name; each of the rest in a line of its own.

    What builds on a failure is not news, and its titles would scroll the score off a small terminal.
    """
    passed = [check for check in report.checks if check.status == "pass"]
    measured = [check for check in report.checks if isinstance(check.speed, Measured)]
    # These say what their points rest on: a function of the author's, what was used.
    explained = [check for check in passed if check.message is not None and check not in measured]
    held = [check for check in passed if check not in explained]
    waiting = [check for check in report.checks if check.status == "todo"]
    skipped = [check for check in report.checks if check.status == "skipped" and check not in measured]
    after = [check for check in skipped if _waits(check)]
    # A single one is shorter by its own title.
    after = after if len(after) > 1 else []
    unfit = [check for check in skipped if not _waits(check)]
    in_a_line = [check for check in (*held, *waiting, *after, *unfit, *explained) if check not in measured]
    if held:
        print_hanging(out, _head("pass", out), _held(report, len(held)))
    _print_by_reason(explained, out)
    _print_each([check for check in report.checks if check not in in_a_line], report, out)
    _print_by_reason(unfit, out, "dim")
    if after:
        waits = f"{_counted(after)}, wait for these (-v names them)"
        print_hanging(out, _head("skipped", out), waits, "dim")
    if waiting:
        names = ", ".join(report.todo) or waiting[0].name
        count = "1 check waits" if len(waiting) == 1 else f"{len(waiting)} checks wait"
        print_hanging(out, _head("todo", out), f"{names}   ({count})", "dim")


def _head(status: str, out: Console) -> Text:
    return Text("  ").append_text(status_text(status, out)).append("  ")


def _print_by_reason(checks: Sequence[CheckReport], out: Console, style: str = "") -> None:
    """Print those of a reason in one line."""
    why = {id(check): (check.message or "").partition("\n")[0] for check in checks}
    for said in dict.fromkeys(why.values()):
        alike = [check for check in checks if why[id(check)] == said]
        print_hanging(out, _head(alike[0].look, out), f"{_counted(alike)}, {said} (-v names them)", style)


def _waits(check: CheckReport) -> bool:
    """Return whether a skipped check waits for others to hold, as its message says; else this machine is unfit."""
    return (check.message or "skipped: ").startswith(("skipped: ", "not run: "))


def _counted(checks: Sequence[CheckReport]) -> str:
    """Say how many checks these are, and what they are worth."""
    number = f"{counted(len(checks), 'check')}"
    worth = points(sum(check.max_points for check in checks))
    return f"{number}, {worth} point{'' if worth == '1' else 's'}"


def _held(report: KataReport, held: int) -> str:
    """Say how many checks hold, and of how many."""
    count, verb = len(report.checks), "holds" if held == 1 else "hold"
    if report.left_out:
        whole = count + report.left_out
        if held == count:
            return f"{'this' if held == 1 else 'these'} {held} of {whole} {verb}"
        return f"{held} of these {count} {verb} (the kata has {whole})"
    if count == 1:
        return "the check holds" if held else "the check does not hold"
    return f"{f'all {count}' if held == count else f'{held} of {count}'} checks {verb}"


def _print_every_check(report: KataReport, out: Console, *, named: bool) -> None:
    if report.message and report.checks and all(check.status == "skipped" for check in report.checks):
        number = len(report.checks)
        out.print(Text(f"  {number} check{' was' if number == 1 else 's were'} not run", style="dim"))
        return
    for check in report.checks:
        _print_each([check], report, out, named=named)
        _print_details(check, out, indent="    ")


def _print_each(
    checks: Sequence[CheckReport], report: KataReport, out: Console, *, named: bool = False
) -> None:
    """Print checks in a line each: status, points and title in columns that are the same for all of a kata.

    `named`: with the name, too, that `-k` finds it by.
    """
    cells = [
        (status_text(check.look, out), points(check.points, check.max_points)) for check in report.checks
    ]
    words = max((status.cell_len for status, _ in cells), default=0)
    numbers = max((len(score) for _, score in cells), default=0)
    for check in checks:
        status = status_text(check.look, out)
        status.append(" " * (words - status.cell_len))
        score = points(check.points, check.max_points).rjust(numbers)
        hidden = " (hidden)" if check.hidden else ""
        title = safe_text(check.name + hidden)
        if check.points and check.status in WRONG:
            title.append("   (one slip is charged once)", "dim")
        if named:
            title.append(f"   {check.id}", "dim")
        if isinstance(check.speed, Measured):
            marked = check.status != "skipped" or check.speed.verdict == "inconclusive"
            title.append(f"   {_measured(check.speed)}{'' if marked else ', not marked here'}", "dim")
        print_hanging(out, Text.assemble("  ", status, " ", (score, "dim"), " "), title)


def _measured(speed: Measured) -> str:
    """Say what was measured and the threshold, in the threshold's unit."""
    if speed.value is None:
        limit = f"{speed.threshold:.0%}" if speed.form == "roofline" else f"{speed.threshold:g}"
        text = f"stopped before it was measured; the threshold is {limit}"
    elif speed.form == "roofline":
        text = f"{speed.value:.0%} of the limit, at least {speed.threshold:.0%} required"
    elif speed.form.endswith("exponent"):
        text = f"grows with the size to the power of {speed.value:.2f}, at most {speed.threshold:g} allowed"
    else:
        of = {"ratio": "the baseline's time", "growth": "the time of the smallest size"}
        what = of.get(speed.form, "the memory of what goes in and out")
        text = f"{speed.value:.2f} times {what}, at most {speed.threshold:g} times allowed"
    return f"{text}, inconclusive" if speed.verdict == "inconclusive" else text


def _print_failure(check: CheckReport, report: KataReport, out: Console) -> None:
    word = {"fail": "FAIL", "error": "ERROR", "timeout": "TIME"}[check.status]
    title = safe_text(f"{report.number} {check.name}", "bold red")
    title.append(f"   {points(check.points, check.max_points)}", "not bold default")
    print_hanging(out, Text(f"{word} ", "bold red"), title)
    _print_details(check, out)


def _print_details(check: CheckReport, out: Console, indent: str = "") -> None:
    if check.message:
        print_block(check.message, out, indent)
    if check.likely:
        print_hanging(out, Text(f"{indent}  likely  ", "bold"), check.likely)
    if check.output:
        _print_output(check.output, "printed", out, indent)


def print_block(text: str, out: Console, outer: str = "") -> None:
    """Print a message further in, as it is laid out."""
    print_indented(text, out, f"{outer}  ")


def _print_output(output: str, title: str, out: Console, indent: str = "") -> None:
    lines = output.rstrip("\n").splitlines()
    cut = len(lines) - PRINTED_LINES
    which = f" (the last {PRINTED_LINES} of {len(lines)} lines)" if cut > 0 else ""
    out.print(Text(f"{indent}  {title}{which}", "dim"))
    for line in lines[-PRINTED_LINES:]:
        print_hanging(out, Text(f"{indent}    | ", "dim"), line[:200])


def _print_next_steps(check: CheckReport, report: KataReport, out: Console, again: Sequence[str]) -> None:
    target = list(again) or [report.kata]
    # What is timed gets inputs that nobody can know before, whatever the seed.
    how = ["--perf"] if check.aspect == "performance" else ["--seed", str(report.seed)]
    repeat = shlex.join(["check", *target, "-k", check.id, *how])
    steps = [("hint", f"hint {report.kata}"), ("repeat", repeat)]
    if check.aspect != "performance":
        seed = ["--seed", str(report.seed)] if report.seed else []
        steps.insert(1, ("look", shlex.join(["try", *target, "-k", check.id, *seed])))
    for word, command in steps:
        # Unbroken, whatever the width: it is there to be copied.
        print_hanging(out, Text(f"  {word:6}  ", "bold"), unbreakable(f"kata {command}"))
