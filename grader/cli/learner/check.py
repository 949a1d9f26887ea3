"""`kata check`: examine what this folder holds."""

from __future__ import annotations

import ast
import hashlib
import os
import shlex
import sys
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader.catalogue import Catalogue, Kata
from grader.catalogue.catalogue import answers
from grader.cli.context import (
    LearnerContext,
    complete_id,
    device_option,
    gathered,
    here,
    note,
    seed_option,
    timeout_option,
    trust_option,
)
from grader.cli.learner.cells import cells_of, should_judge_cells
from grader.cli.status import completed, how_far, next_step
from grader.devices import Device
from grader.engine.host.bootstrap import start_launcher
from grader.errors import KataError, UsageError
from grader.files import within
from grader.learner.workspace import (
    PROGRESS_FILE,
    Workspace,
    changed_blocks,
    edit_progress,
    katas_in,
    locate,
    record_check,
)
from grader.report import FORMATS, Format
from grader.report.style import console, escape_controls, print_message

if TYPE_CHECKING:
    from grader.engine.runner.suite import Suite
    from grader.report.report import KataReport


@dataclass(frozen=True)
class Target:
    """A kata and the file that holds its answer, or should."""

    kata: Kata
    file: Path


@dataclass(frozen=True)
class CheckRequest:
    """What to check, and how it was asked for."""

    targets: list[Target]
    around: LearnerContext
    again: list[str] = field(default_factory=list)
    content: bytes | None = None
    """What is to be judged instead of what is saved."""

    def __post_init__(self) -> None:
        """Refuse a link of the workspace that leads out of it."""
        space = self.around.workspace
        for target in self.targets:
            if space is not None and Path(os.path.abspath(target.file)).is_relative_to(space.root):
                within(target.file, space.root)


@dataclass(frozen=True)
class CheckOptions:
    """What the options of `kata check` say."""

    keyword: str | None
    fail_fast: bool
    verbose: bool
    quiet: bool
    seed: int
    timeout: float | None
    perf: bool
    device: str
    from_stdin: bool
    from_cells: bool
    as_json: bool
    annotations: Format | None
    pdb: bool
    trust: bool

    def __post_init__(self) -> None:
        """Refuse options that exclude each other."""
        if self.as_json and self.annotations:
            raise UsageError(
                "--json and --format are two ways to print one result.", "Leave out one of them."
            )
        if self.from_stdin and self.pdb:
            raise UsageError(
                "--pdb reads what you type from stdin, and --stdin reads the answer from it.",
                "Leave out one of them.",
            )

    @property
    def for_programs(self) -> bool:
        """Whether a program reads stdout: nothing but the result may be on it."""
        return self.as_json or self.annotations is not None

    @property
    def partial(self) -> bool:
        """Whether only some checks run, or without marks: the result must not become progress."""
        return bool(self.keyword or self.fail_fast or self.pdb)


@click.command(short_help="Check what this folder holds, or one unit, kata, file or folder.")
@click.argument("what", metavar="[ID|PATH]", required=False, shell_complete=complete_id)
@gathered(
    CheckOptions,
    click.option(
        "-k",
        "keyword",
        metavar="EXPR",
        help="Run only checks whose name or title matches, e.g. -k 'mask and not shape'.",
    ),
    click.option("-x", "fail_fast", is_flag=True, help="Stop a kata at its first failing check."),
    click.option("-v", "verbose", is_flag=True, help="Show every kata and every failure in full."),
    click.option("-q", "quiet", is_flag=True, help="Print one line per kata."),
    seed_option,
    timeout_option,
    click.option(
        "--perf/--no-perf",
        "perf",
        default=False,
        help="Also check speed and memory once everything else passes; takes seconds.",
    ),
    device_option,
    click.option(
        "--stdin",
        "from_stdin",
        is_flag=True,
        help="Read one kata's answer from stdin and judge it as if it were saved.",
    ),
    click.option("--cells", "from_cells", is_flag=True, hidden=True),
    click.option("--json", "as_json", is_flag=True, help="Print one report set as JSON and nothing else."),
    click.option(
        "--format",
        "annotations",
        type=click.Choice(FORMATS),
        help="Print what fails in a format for editors and CI systems, and nothing else.",
    ),
    click.option(
        "--pdb", is_flag=True, help="Debug: stop in your own code at each failure. No marks, no progress."
    ),
    trust_option,
)
def check(what: str | None, options: CheckOptions) -> int:
    """Check what this folder holds, or one unit, kata, file or folder.

    The first failure is shown in full: what was called, where the first difference is, and how to repeat just
    that check. Exit code 0 says that everything passed, 1 that something did not.

    \b
    Example:
      kata check
      kata check masked-attention -k causality --seed 7
      kata check ~/elsewhere/masks.py --json
    """
    request = _requested(what, options)
    # Before the answer runs: a missing device is the machine's fault, and must not look like the learner's.
    Device(options.device).require()
    # Workers are forked from this process, so that it must not have imported a check or an expected value yet.
    launcher = start_launcher(device=options.device, preload=request.targets[0].kata.preload)
    from grader.cli.progress import waiting
    from grader.engine.runner.suite import RunConfig, suites_of

    look = None
    if options.pdb:
        from grader.engine.runner.failure_context import debugging

        look = debugging()
    katas = [target.kata for target in request.targets]
    with closing(launcher):  # a verdict does not wait for its workers' end
        with suites_of(katas, speed=options.perf, keyword=options.keyword) as suites:
            chosen = _chosen(request, suites, options.keyword)
            reports: list[KataReport] = []
            # A status line that is drawn anew all the time would overwrite what is typed at the debugger's prompt.
            with waiting(0 if options.pdb else len(chosen)) as shown:
                config = RunConfig(
                    seed=options.seed,
                    fail_fast=options.fail_fast,
                    hurried=True,
                    timeout_s=options.timeout,
                    device=options.device,
                    watch=shown.check,
                    look=look,
                    stopped=look,
                )
                for number, (target, suite) in enumerate(chosen, 1):
                    shown.kata(number, f"{target.kata.number} {target.kata.slug}")
                    # Only where it is read: of several katas that went wrong the first is shown in full.
                    first = all(report.status not in ("fail", "error") for report in reports)
                    searched = (first or options.verbose) and not (options.quiet or options.pdb)
                    config = replace(config, repairs=searched)
                    reports.append(suite.check(target.file, launcher, config, content=request.content))
        # First: what comes next depends on it, and a reader such as `head` may close the pipe after a few lines.
        try:
            if not options.partial:
                remember(request, reports)
        finally:
            _show(reports, request, options)
            sys.stdout.flush()  # what was found is out before anything else can fail
    # A kata passes even if a speed check fails, but the command does not.
    timed = (check for report in reports if report.speed for check in report.checks)
    slow = any(check.status in ("fail", "error", "timeout") for check in timed)
    return 0 if all(report.status == "pass" for report in reports) and not slow else 1


def _requested(what: str | None, options: CheckOptions) -> CheckRequest:
    """Return what is to be checked, after everything that may be refused and asked before torch is imported."""
    around = here()
    if options.from_cells:
        # What a notebook has run comes on stdin; judged is that, or else what is saved.
        content = _read_stdin()
        chosen, reason = should_judge_cells(_only_kata(what, around), cells_of(content))
        request = with_content(what, around, content) if chosen else find_targets(what, around)
        note(reason)
    elif options.from_stdin:
        request = with_content(what, around, _read_stdin())
    else:
        request = find_targets(what, around)
    refuse_exposed(request)
    if options.pdb:
        consent(request, options.trust)
    silent = options.quiet or options.for_programs
    announce(request, quiet=silent)
    if options.perf and not (silent or any(target.kata.speed for target in request.targets)):
        note("there are no speed checks here; --perf changes nothing")
    return request


def _only_kata(what: str | None, around: LearnerContext) -> Kata | None:
    """Return the one kata that `what` names; None where it names none or several."""
    try:
        if what is not None:
            katas = around.catalogue.resolve(what)
        else:
            katas = [kata for kata, _ in katas_in(around.folder, around.catalogue)]
    except KataError:
        return None
    return katas[0] if len(katas) == 1 else None


def _read_stdin() -> bytes:
    from grader.engine.host.source import MAX_NOTEBOOK

    content = sys.stdin.buffer.read(MAX_NOTEBOOK + 1)
    if len(content) > MAX_NOTEBOOK:
        raise UsageError(f"More than {MAX_NOTEBOOK >> 20} MB came on stdin.", "Clear the notebook's outputs.")
    return content


def with_content(what: str | None, around: LearnerContext, content: bytes) -> CheckRequest:
    """Return the request to judge `content` as one kata's answer: a notebook where it begins as one, else a module.

    It needs no workspace and no file: on a hosted notebook there is neither.

    Raises:
        UsageError: it is about several katas, or about none.
    """
    if around.workspace is None and what is not None and _is_id(what, around.catalogue):
        katas = around.catalogue.resolve(what)
        request = CheckRequest([Target(kata, around.folder / kata.answer) for kata in katas], around)
    else:
        request = find_targets(what, around)
    if len(request.targets) != 1:
        names = ", ".join(target.kata.slug for target in request.targets[:4])
        raise UsageError(
            f"One answer is for one kata, but this means several: {names} …", "Name one of them."
        )
    target = request.targets[0]
    # No module of Python begins with a brace, and no notebook with anything else.
    suffix = ".ipynb" if content.lstrip()[:1] == b"{" else ".py"
    return replace(request, targets=[replace(target, file=target.file.with_suffix(suffix))], content=content)


def refuse_exposed(request: CheckRequest) -> None:
    """Refuse to check a file next to answers or marks: a submission may read its whole folder.

    Raises:
        UsageError: they do.
    """
    references = answers()
    for target in request.targets:
        folder = target.kata.root_of(target.file).resolve()
        records = [folder / name for name in ("gradebook.sqlite", "course.toml")]
        secrets = [*references, *(path for path in records if path.exists())]
        # An author may check a reference: it is in the solutions folder itself.
        shown = [path for path in secrets if path.is_relative_to(folder) and path != folder]
        if shown:
            raise UsageError(
                f"{target.file.name} may read all of its folder, and that holds {shown[0]}, which it must not read.",
                "Put the file into a folder of its own, then check it there.",
            )


def consent(request: CheckRequest, agreed: bool) -> None:
    """Ask before files that may be a stranger's run in this process, where nothing confines them.

    Raises:
        UsageError: nobody agreed, or nobody is there to ask.
    """
    # What a notebook has run had all rights already.
    if request.content is None:
        consent_to([target.file for target in request.targets], request.around.workspace, agreed)


def consent_to(files: Sequence[Path], space: Workspace | None, agreed: bool) -> None:
    """Ask before files run unconfined, unless they are in a workspace that this user began here or agreed to before.

    Raises:
        UsageError: nobody agreed, or nobody is there to ask.
    """
    outside = [file for file in files if space is None or not space.holds(file)]
    if outside:
        whose = f"{outside[0]} is not in your workspace"
    elif files and space is not None and not space.is_own:
        whose = f"{space.root} was not begun here, or held answers before: they may be anybody's"
    else:
        return
    why = f"{whose}. {(outside or files)[0].name} would run unconfined: it could do whatever you can do."
    if not agreed and not (
        sys.stdin.isatty() and click.confirm(f"{escape_controls(why)}\nDo you trust it?", err=True)
    ):
        from grader.engine.sandbox import offered

        confined = "" if offered() == "process" else " kata check confines it."
        raise UsageError(why, f"If you trust it, say so: --trust.{confined}")
    if space is not None and not outside:
        space.note_as_own()  # asked once


def find_targets(what: str | None, around: LearnerContext) -> CheckRequest:
    """Return what is to be checked.

    Raises:
        UsageError: no such ID or file, or nothing here to check.
    """
    if what is None:
        return _held_by(around.folder, around, [])
    path = Path(what).expanduser()
    looks_like_a_path = os.sep in what or path.suffix in (".py", ".ipynb") or what in (".", "..")
    # An ID goes before a folder of the same name: in a workspace each kata has such a folder.
    if looks_like_a_path or (path.exists() and not _is_id(what, around.catalogue)):
        return _held_by(path, around, [what])
    katas = around.catalogue.resolve(what)
    base = around.workspace.root if around.workspace is not None else around.folder
    found = [(kata, locate(kata, base)) for kata in katas]
    if around.workspace is None and not any(file for _, file in found):
        around.require_workspace()
    space = Workspace(base)
    targets = [Target(kata, file or space.answer(kata)) for kata, file in found]
    return CheckRequest(targets, around)


def announce(request: CheckRequest, *, quiet: bool) -> None:
    """Say at once what is about to happen: importing torch takes a second."""
    if quiet:
        return
    names = ", ".join(target.kata.slug for target in request.targets[:4])
    more = f" and {len(request.targets) - 4} more" if len(request.targets) > 4 else ""
    note(f"checking {names}{more} …")
    for target in request.targets:
        changed = changed_blocks(target.kata, target.file.parent)
        if changed is not None:
            note(f"{changed} has been changed; {target.kata.slug} is checked with the original")


def _chosen(
    request: CheckRequest, suites: dict[str, Suite], keyword: str | None
) -> list[tuple[Target, Suite]]:
    """Return the targets that have checks of this name, each with its suite."""
    found = [(target, suites[target.kata.slug]) for target in request.targets]
    if keyword and not any(len(suite) for _, suite in found):
        raise no_match(f"-k {keyword!r}")
    return [(target, suite) for target, suite in found if not keyword or len(suite)]


def no_match(wanted: str) -> UsageError:
    """Return the error that no check has this name or title."""
    return UsageError(
        f"No check matches {wanted}.", "kata check -v lists them, each with its title and its name."
    )


def remember(request: CheckRequest, reports: list[KataReport]) -> None:
    """Note in the workspace's progress what was found there."""
    space = request.around.workspace
    if space is None:
        _say_unrecorded(request)
        return
    inside = [target.kata.slug for target in request.targets if space.holds(target.file)]
    ours = [report for report in reports if report.kata in inside]
    if not ours:
        return
    files = {target.kata.slug: target.file for target in request.targets}
    code = {report.kata: _code(files[report.kata], request.content) for report in ours}
    with edit_progress(space.root) as progress:
        for report in ours:
            record_check(progress, report, code[report.kata])


def _say_unrecorded(request: CheckRequest) -> None:
    """Say that there is nothing to record in, and where files are as `kata start` laid them, how to have it."""
    if request.content is not None:
        return
    for target in request.targets:
        folder = target.file.absolute().parent
        if (folder.parent.name, folder.name) == (target.kata.unit.folder.name, target.kata.slug):
            note(
                f"not recorded: there is no {PROGRESS_FILE} here or above; kata start {target.kata.slug} makes one, "
                "in the folder that holds the unit's"
            )
            return
    note("not recorded: this is not in the workspace that kata start made")


def _code(file: Path, content: bytes | None) -> dict[str, str]:
    """Return a digest of each function and class; what is only laid out or commented otherwise has the same."""
    from grader.engine.host.source import MAX_CODE, UNPARSED, Unreadable, body_of, read_source, source_of

    try:
        source = read_source(file) if content is None else source_of(file.absolute(), content)
        body = body_of(source) if len(source.data) <= MAX_CODE else []
        made = [node for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
        return {node.name: hashlib.sha256(ast.dump(node).encode()).hexdigest()[:8] for node in made}
    except (Unreadable, *UNPARSED):
        return {}


def _show(reports: list[KataReport], request: CheckRequest, options: CheckOptions) -> None:
    if options.from_cells:  # which reads the remarks when it has the document
        _say_how_to_go_on(reports, request, options)
    if options.annotations is not None:
        from grader.report.annotations import WRITERS

        click.echo(WRITERS[options.annotations](reports))
    elif options.as_json:
        from grader.report.json_text import json_text
        from grader.report.report import ReportSet

        score, whole = sum(r.score for r in reports), sum(r.max_score for r in reports)
        click.echo(json_text(ReportSet(score=score, max_score=whole, katas=reports)))
    else:
        from grader.report.terminal import print_reports

        print_reports(reports, console(), verbose=options.verbose, quiet=options.quiet, again=request.again)
    if not options.for_programs:
        _say_how_to_go_on(reports, request, options)


def _say_how_to_go_on(reports: list[KataReport], request: CheckRequest, options: CheckOptions) -> None:
    """Say what a pass has brought and what to type next, and how far that is; in a notebook as remarks, on stderr."""
    aside = options.from_cells
    if options.partial or options.quiet:
        return
    passed = all(report.status == "pass" for report in reports)
    timed = [target.kata.slug for target in request.targets if target.kata.speed]
    if passed and timed and not options.perf:
        which = shlex.join(request.again or timed[:1])
        print_message(f"  Is it fast, too?  kata check {which} --perf", stderr=aside)
    if passed and len(reports) == 1:
        say_at_work(request.targets[0].kata, aside=aside)
    say_how_far(request.around, aside=aside)
    if passed:
        say_what_comes_next(request.around, request.targets[-1].kata, aside=aside)


def say_at_work(kata: Kata, *, aside: bool = False) -> None:
    """Say how to see what a kata that passed is good for; `aside`: on stderr, as a remark."""
    if (kata.folder / "demo.py").is_file():
        print_message(f"  See it at work:  kata demo {kata.slug}", stderr=aside)


def say_what_comes_next(around: LearnerContext, passed: Kata, *, aside: bool = False) -> None:
    """Say what to type after a pass, which is in the progress by now, and what its unit has come to."""
    if around.workspace is not None:
        place = around.read_again()
        if done := completed(place, passed.unit):
            print_message(f"  {done}", stderr=aside)
        step = next_step(place)
        words = f"  Next:  {step.command}    {step.why}" if step.command else f"  {step.why}"
        print_message(words, stderr=aside)


def say_how_far(around: LearnerContext, *, aside: bool = False) -> None:
    """Say how much of everything has passed."""
    if around.workspace is not None:
        print_message(f"  {how_far(around.read_again())}", stderr=aside)


def _held_by(folder: Path, around: LearnerContext, again: list[str]) -> CheckRequest:
    held = katas_in(folder, around.catalogue)
    if not held:
        around.require_workspace()
        raise UsageError(f"{folder} holds no kata.", "Begin one: kata start ID (kata list shows them all)")
    return CheckRequest([Target(kata, file) for kata, file in held], around, again)


def _is_id(text: str, catalogue: Catalogue) -> bool:
    try:
        return bool(catalogue.resolve(text))
    except KataError:
        return False
