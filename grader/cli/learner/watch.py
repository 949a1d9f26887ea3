"""`kata watch`: check again whenever the file is saved; single keys do the rest."""

from __future__ import annotations

import os
import select
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click
from rich.text import Text

from grader.catalogue import SUBMISSION_SUFFIXES
from grader.cli.context import complete_id, here, note, seed_option, timeout_option
from grader.cli.learner.check import (
    CheckRequest,
    Target,
    announce,
    find_targets,
    remember,
    say_at_work,
    say_how_far,
    say_what_comes_next,
)
from grader.engine.host.bootstrap import start_launcher
from grader.errors import KataError, UsageError
from grader.learner.workspace import locate, source_folders
from grader.report.style import IN_NOTEBOOK, console, print_hanging, print_message

if TYPE_CHECKING:
    from grader.report.report import KataReport

    Examine = Callable[[Target, Callable[..., None]], KataReport]
    """Checks a target, and calls back between checks: what that raises ends it."""

Form = Literal["json", "vscode"] | None
"""For which program verdicts are printed; None: for a person."""
KEYS = ("r run again", "h hint", "v verbose", "q quit")
KEYS_AMONG_SEVERAL = ("r run again", "n next kata", "p previous", "h hint", "v verbose", "q quit")
LOOK_S, QUIET_S = 0.05, 0.01
"""How often the folders are compared with what they were, on disks that tell of no change as well; and a save is over
when they have been quiet for so long: editors write in one or two steps."""


@click.command(short_help="Check again whenever you save.")
@click.argument("what", metavar="[ID|PATH]", required=False, shell_complete=complete_id)
@seed_option
@timeout_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON report per line and nothing else.")
@click.option(
    "--format",
    "annotations",
    type=click.Choice(["vscode"]),
    help="Print what fails as lines that VS Code's tasks read, and nothing else.",
)
def watch(what: str | None, seed: int, timeout: float | None, as_json: bool, annotations: str | None) -> int:
    """Check again whenever you save.

    One kata is shown at a time; another one is shown only when you press n or p. Torch stays loaded, so a verdict
    takes a fraction of the time that `kata check` takes.

    Keys: r runs again, n and p show the next and the previous kata, h a hint, v everything in full, q quits.

    \b
    Example:
      kata watch
      kata watch masked-attention
    """
    if as_json and annotations:
        raise UsageError("--json and --format are two ways to print one result.", "Leave out one of them.")
    if os.environ.get(IN_NOTEBOOK):
        raise UsageError(
            "Watching ends with a key press in a terminal, and a notebook has none.",
            "Check when you want to: kata check",
        )
    request = find_targets(what, here())
    named = request.targets[0] if len(request.targets) == 1 else None
    form: Form = "json" if as_json else "vscode" if annotations else None
    if form is None and named is not None:
        request = _with_its_unit(request, named)
    # Before anything that takes its time: what is typed meanwhile is a key, and no text on the screen.
    with single_keys() if form is None else nullcontext() as keys, suppress(KeyboardInterrupt):
        announce(request, quiet=form is not None)
        launcher = start_launcher(preload=(named or request.targets[0]).kata.preload)
        with closing(launcher):
            # After the launcher: workers are split off from a process that has seen no answer.
            from grader.cli.progress import waiting
            from grader.engine.runner.suite import RunConfig, suites_of

            with suites_of([target.kata for target in request.targets]) as suites:

                def examine(target: Target, tell: Callable[..., None]) -> KataReport:
                    with waiting(1 if form is None else 0) as shown:
                        config = RunConfig(
                            seed=seed,
                            hurried=True,
                            timeout_s=timeout,
                            tell=tell,
                            watch=shown.check,
                            by_script=True,
                        )
                        return suites[target.kata.slug].check(target.file, launcher, config)

                WatchLoop(request, examine, keys, form, named).loop()
    return 0


def _with_its_unit(request: CheckRequest, named: Target) -> CheckRequest:
    """Return the request for what else was started of a kata's unit, too: `n` goes on to the next."""
    space = request.around.workspace
    if space is None or not space.holds(named.file):
        return request
    targets = []
    for kata in named.kata.unit.katas:
        with suppress(UsageError):  # of several files nobody knows which one is meant
            file = named.file if kata is named.kata else locate(kata, space.root)
            targets += [Target(kata, file)] if file is not None else []
    return replace(request, targets=targets)


class SavedAgain(Exception):
    """The file changed while it was being checked."""


class WatchLoop:
    """The loop: a kata in view, a wake-up on every save, keys in between."""

    def __init__(
        self, request: CheckRequest, examine: Examine, keys: int | None, form: Form, first: Target | None
    ) -> None:
        """Begin with `first`; None: with the first that has not passed."""
        self._request = request
        self._examine = examine
        self._keys = keys
        self._form = form
        self._out = console()
        self._verbose = False
        progress, targets = request.around.read_again().progress, enumerate(request.targets)
        is_open = (place for place, target in targets if progress.get(target.kata.slug).status != "pass")
        self._place = next(is_open, 0) if first is None else request.targets.index(first)
        self._report: KataReport | None = None
        self._folders = sorted(
            # Folders, since editors save by writing a new file and moving it over the old one.
            {
                str(folder)
                for target in request.targets
                for folder in source_folders(target.kata, target.file)
                if folder.is_dir()
            }
        )
        self._seen = _snapshot(self._folders)

    def loop(self) -> None:
        """Check, wait for a save or a key, and again, until `q` or Ctrl-C."""
        if not self._folders:
            raise UsageError("There is nothing here to watch.", "Begin a kata first: kata start ID")
        self._check()
        while True:
            if self._saved():
                self._check()
            keys = [] if self._keys is None else [self._keys]
            if select.select(keys, [], [], LOOK_S)[0] and not self._obey(os.read(keys[0], 1)):
                return

    def _saved(self) -> bool:
        """Take all that was saved since; return whether the kata in view was among it."""
        before, now = self._seen, _snapshot(self._folders)
        while now != self._seen:
            self._seen = now
            time.sleep(QUIET_S)  # an editor that saves in three steps should cause one check
            now = _snapshot(self._folders)
        wanted = source_folders(self._target.kata, self._target.file)
        return any(Path(path).parent in wanted for path, _ in now.items() ^ before.items())

    @property
    def _target(self) -> Target:
        return self._request.targets[self._place]

    def _check(self) -> None:
        def tell(*_: object) -> None:
            if self._saved():
                raise SavedAgain

        report = None
        while report is None:
            if self._form == "vscode":  # by this the editor forgets what it showed
                click.echo(f"kata: checking {self._target.file.name} …")
            with suppress(SavedAgain):
                report = self._examine(self._target, tell)
        self._report = report
        unrecorded = None
        try:  # first: what comes next depends on it
            remember(self._request, [report])
        except KataError as error:
            unrecorded = f"error: {error.message}"
        if self._form is None:
            self._show(report)
        elif self._form == "json":
            from grader.report.json_text import json_text

            click.echo(json_text(report))
        else:
            from grader.report.annotations import WRITERS

            lines = WRITERS[self._form]([report])
            # An editor knows by the last line that all has been said.
            end = f"kata: {report.score:g} of {report.max_score:g} points, waiting for a save"
            click.echo(f"{lines}\n{end}" if lines else end)
        sys.stdout.flush()
        if unrecorded:
            note(unrecorded)

    def _show(self, report: KataReport) -> None:
        from grader.report.terminal import print_reports

        if self._out.is_terminal:
            self._out.clear()
        again = self._request.again if len(self._request.targets) == 1 else []
        print_reports([report], self._out, verbose=self._verbose, again=again)
        self._out.print()
        if report.status == "pass":
            say_at_work(self._target.kata)
        say_how_far(self._request.around)
        if report.status == "pass":
            if self._place + 1 < len(self._request.targets):
                print_message(f"  Passed. Press n for {self._request.targets[self._place + 1].kata.slug}.")
            else:
                say_what_comes_next(self._request.around, self._target.kata)
        if sys.stdin.isatty():
            keys = KEYS_AMONG_SEVERAL if len(self._request.targets) > 1 else KEYS
            print_hanging(self._out, Text(""), Text("   ".join(keys), "dim"))
        self._say_where_it_stands(report)

    def _say_where_it_stands(self, report: KataReport) -> None:
        """Print the verdict and the score in the last line: what is above may have scrolled away."""
        from grader.report.terminal import line_of

        count = len(self._request.targets)
        verdict = line_of(report, self._out, brief=True)
        place = f"   kata {self._place + 1} of {count}" if count > 1 else ""
        waiting = f"   waiting for a save of {self._target.file.name}"
        # What the line has no room for is left out, the least wanted first, so that its end is never cut.
        for more in (f"   {report.duration_s:.2f} s{place}{waiting}", place + waiting, waiting):
            line = verdict.copy().append(more, "dim")
            if line.cell_len <= self._out.width:
                break
        print_hanging(self._out, Text(""), line)
        sys.stdout.flush()

    def _obey(self, key: bytes) -> bool:
        """Do what a key says; return False when it is time to go."""
        count = len(self._request.targets)
        match key.lower():
            # Ctrl-D is a key like others here, and nothing at all means that the terminal is gone.
            case b"q" | b"\x04" | b"":
                return False
            case b"n":
                self._place = (self._place + 1) % count
            case b"p":
                self._place = (self._place - 1) % count
            case b"v":
                self._verbose = not self._verbose
            case b"h":
                self._hint()
                return True
            case b"r" | b"\r" | b"\n" | b" ":
                pass
            case _:
                return True
        self._check()
        return True

    def _hint(self) -> None:
        from grader.cli.learner.reading import hint

        try:
            hint.main([self._target.kata.slug], standalone_mode=False)
        except KataError as error:
            note(f"error: {error.message}")
        if self._report is not None:
            self._say_where_it_stands(self._report)


def _snapshot(folders: list[str]) -> dict[str, object]:
    """Return what tells one version of each source file in these folders from the next."""
    found: dict[str, object] = {}
    for folder in folders:
        with suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.endswith(SUBMISSION_SUFFIXES):
                    with suppress(OSError):
                        status = entry.stat()
                        # The inode as well: an editor that moves a new file into place may keep time and
                        # size.
                        found[entry.path] = (status.st_mtime_ns, status.st_size, status.st_ino)
    return found


@contextmanager
def single_keys() -> Iterator[int | None]:
    """Let keys arrive without Enter, on a terminal; elsewhere there are none. The terminal is left as it was."""
    if not sys.stdin.isatty():
        yield None
        return
    import termios
    import tty

    descriptor, ours = sys.stdin.fileno(), os.getpid()
    before = termios.tcgetattr(descriptor)

    def leave(number: int, frame: object) -> None:
        if os.getpid() == ours:  # processes that were split off since have the handler, too
            termios.tcsetattr(descriptor, termios.TCSADRAIN, before)
        signal.signal(number, signal.SIG_DFL)
        signal.raise_signal(number)

    # Python's own end by these signals runs no `finally`: the shell would be left without an echo.
    handlers = {number: signal.signal(number, leave) for number in (signal.SIGTERM, signal.SIGHUP)}
    tty.setcbreak(descriptor)
    try:
        yield descriptor
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)
        for number, handler in handlers.items():
            signal.signal(number, handler)
