"""`kata try`: the failing call at hand."""

from __future__ import annotations

import re
from contextlib import closing
from typing import TYPE_CHECKING, Any

import click

from grader.cli.context import (
    LearnerContext,
    complete_id,
    here,
    json_option,
    note,
    print_json,
    seed_option,
    trust_option,
)
from grader.cli.learner.check import CheckRequest, consent, find_targets, no_match, with_content
from grader.engine.host.bootstrap import start_launcher
from grader.errors import KataError, UsageError
from grader.report.style import console, print_message

if TYPE_CHECKING:
    from grader.engine.host.launcher import Launcher
    from grader.engine.runner.failure_context import FailureContext, Look
    from grader.engine.runner.suite import Suite
    from grader.report.report import KataReport


@click.command(
    "try", short_help="Look at a failing call in a REPL: its inputs, your result and the expected one."
)
@click.argument("what", metavar="[CHECK|ID|PATH]", required=False, shell_complete=complete_id)
@click.option("-k", "keyword", metavar="EXPR", help="Run only checks whose name or title matches.")
@seed_option
@click.option(
    "--pdb", is_flag=True, help="Open a debugger in your own code instead, where it raised or returned."
)
@json_option
@trust_option
def try_(what: str | None, keyword: str | None, seed: int, pdb: bool, as_json: bool, trust: bool) -> int:
    """Look at a failing call in a REPL: its inputs, your result and the expected one.

    The first check that fails opens an interactive Python, in which everything that its message mentions has a name:
    the inputs, `yours`, `expected` and `difference`, and your functions, too. Nothing is recorded. With --json they are
    printed as the check saw them, and nothing of yours runs outside of the process that confines it.

    Without CHECK, it is the first failing check of the kata whose folder you are in, or else of the kata that comes
    next.

    \b
    Example:
      kata try
      kata try test_causal_values
      kata try masked-attention -k causality --pdb
    """
    if pdb and as_json:
        raise UsageError("--pdb opens a debugger, and --json prints what was seen.", "Leave out one of them.")
    request, keyword = _request_of(what, keyword, here())
    if not as_json:
        consent(request, trust)
    # Before checks are collected: workers are split off from a process without answers.
    launcher = start_launcher(preload=request.targets[0].kata.preload)
    from grader.engine.runner.failure_context import debugging, seen, talk
    from grader.engine.runner.suite import suites_of

    katas = [target.kata for target in request.targets]
    show = None if as_json else debugging() if pdb else talk
    with closing(launcher), suites_of(katas, keyword=keyword) as suites:
        looked, reports = _look(request, launcher, seed, show, suites)
    # A word that fits no check must not look like a kata in which nothing fails.
    if not reports:
        raise no_match(repr(keyword))
    if as_json:
        last, failure = reports[-1], seen(looked[0]) if looked else None
        print_json({"kata": last.kata, "status": last.status, "message": last.message, "failure": failure})
        return 0
    if looked:
        return 0
    return _print_what_there_is(reports)


def at_hand(what: str | None, keyword: str | None, content: bytes | None, trust: bool) -> dict[str, Any]:
    """Return what can be looked at of the first check that goes wrong, by name, and print its message.

    For a notebook, which is a prompt already; `content` is what it has run, None for what is saved.
    """
    if content is None:
        request, keyword = _request_of(what, keyword, here())
    else:
        request = with_content(what, here(), content)
    consent(request, trust)
    from grader.engine.host.launcher import SpawnLauncher
    from grader.engine.runner.failure_context import taking
    from grader.engine.runner.suite import suites_of

    found: dict[str, Any] = {}
    # A fresh interpreter: a notebook's process has threads, and a fork of it would not have them.
    katas = [target.kata for target in request.targets]
    with closing(SpawnLauncher()) as launcher, suites_of(katas, keyword=keyword) as suites:
        looked, reports = _look(request, launcher, 0, taking(found), suites)
    if not looked and reports:
        _print_what_there_is(reports)
    return found


def _request_of(
    what: str | None, keyword: str | None, around: LearnerContext
) -> tuple[CheckRequest, str | None]:
    """Return where to look for a check that goes wrong, the likeliest first, and which checks are meant."""
    is_check = what is not None and re.fullmatch(r"test_\w+", what) is not None
    if what is not None and not is_check:
        try:
            return find_targets(what, around), keyword
        except KataError:
            if keyword is not None or around.workspace is None or not re.fullmatch(r"\w+", what):
                raise
            is_check = True  # a word of a title
    keyword = what if is_check else keyword
    if around.workspace is None:
        return find_targets(None, around), keyword
    first = around.kata(None)
    if keyword is None:
        return find_targets(first.slug, around), None
    held = find_targets(str(around.workspace.root) + "/.", around).targets
    ordered = sorted(held, key=lambda target: target.kata is not first)
    return CheckRequest(ordered, around), keyword


def _look(
    request: CheckRequest, launcher: Launcher, seed: int, show: Look | None, suites: dict[str, Suite]
) -> tuple[list[FailureContext], list[KataReport]]:
    """Run checks until one goes wrong, and show it; without `show` nothing of it runs in this process."""
    from grader.engine.runner.failure_context import STOPPED_S
    from grader.engine.runner.suite import RunConfig

    looked: list[FailureContext] = []
    likely: dict[str, str | None] = {}

    def say_where(call: FailureContext) -> None:
        if show is not None and (where := call.where()) is not None:
            note(where)

    def look(call: FailureContext) -> None:
        call.likely = likely.get(call.id) or ""
        looked.append(call)
        if show is not None:
            show(call)

    reports = []
    for target in request.targets:
        suite = suites[target.kata.slug]
        if not len(suite):
            continue
        note(f"{target.kata.number} {target.kata.slug} …")
        # First as `kata check` does, which names the mistake: where a learner looks around there is no answer.
        config = RunConfig(seed=seed, fail_fast=True, stopped=say_where, repairs=True)
        named = suite.check(target.file, launcher, config, content=request.content)
        likely = {check.id: check.likely for check in named.checks}
        hung = any(check.status == "timeout" for check in named.checks)
        # What did not answer then is not waited for as long again: for no longer than all other checks took together.
        waited = max(STOPPED_S, named.duration_s - suite.terms.check_timeout_s) if hung else None
        # At the first failure: a prompt is open then, and nothing after it is looked at.
        config = RunConfig(seed=seed, fail_fast=True, timeout_s=waited, look=look, stopped=say_where)
        reports.append(suite.check(target.file, launcher, config, content=request.content))
        if looked or reports[-1].status in ("fail", "error"):
            break
    return looked, reports


def _print_what_there_is(reports: list[KataReport]) -> int:
    """Say why there was nothing to look at."""
    from grader.report.terminal import print_reports

    last = reports[-1]
    print_reports([last], console(), again=[last.kata])
    if last.status == "pass":
        print_message("Nothing is wrong, so there is nothing to look at.")
    return 0 if last.status == "pass" else 1
