"""What every command needs: where it runs, which kata an argument names, how JSON is printed."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from grader import devices
from grader.catalogue import Catalogue, Kata, Unit
from grader.errors import UsageError
from grader.files import atomic_open
from grader.learner.workspace import (
    PROGRESS_FILE,
    KataProgress,
    Progress,
    Workspace,
    edit_progress,
    find_workspace,
    kata_around,
    load_progress,
    lost_workspace,
    now,
    require_workspace,
    unit_around,
)
from grader.report.report import WRONG
from grader.report.style import console, escape_controls, print_message
from grader.words import counted

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

SCHEMA = 1

json_option: Callable[[Any], Any] = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON document and nothing else."
)


class SeedType(click.ParamType):  # type: ignore[type-arg]  # generic in click's stubs alone
    """A whole number that a generator takes; its bounds are said to who exceeds them, and not in every help page."""

    name = "integer"

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> int:
        """Return the number."""
        return click.IntRange(0, 2**53 - 1).convert(value, parameter, context)


seed_option: Callable[[Any], Any] = click.option(
    "--seed",
    type=SeedType(),
    default=0,
    show_default=True,
    help="Seed of the random inputs.",
)
timeout_option: Callable[[Any], Any] = click.option(
    "--timeout",
    type=click.FloatRange(0.1, 3600),
    metavar="SECONDS",
    help="Time limit for each check. [default: the kata's own]",
)


trust_option: Callable[[Any], Any] = click.option(
    "--trust",
    is_flag=True,
    help="Where nothing confines them, run files that you did not begin here, with all your rights.",
)


def gathered(
    into: type[Any], *options: Callable[[Any], Any], name: str = "options"
) -> Callable[[Callable[..., Any]], Any]:
    """Give a command these options, and hand it the values as one frozen struct: its argument `options`, or `name`.

    The struct has a field for each option, of the name that click gives its value.
    """

    def give(command: Callable[..., Any]) -> Any:
        @functools.wraps(command)
        def run(**given: Any) -> Any:
            chosen = {field.name: given.pop(field.name) for field in fields(into)}
            return command(**given, **{name: into(**chosen)})

        # click lists options in the order of decorators, the lowest last.
        return functools.reduce(lambda wrapped, option: option(wrapped), reversed(options), run)

    return give


@dataclass(frozen=True)
class LearnerContext:
    """Context of a learner's command: the folder, the workspace around it, its progress."""

    catalogue: Catalogue
    folder: Path
    workspace: Workspace | None
    progress: Progress

    def require_workspace(self) -> Workspace:
        """Return the workspace.

        Raises:
            UsageError: this folder is in none.
        """
        return self.workspace or require_workspace(self.folder)

    def read_again(self) -> LearnerContext:
        """Return it with the progress as it is saved by now; packs are not read again."""
        return replace(self, progress=load_progress(self.workspace.root)) if self.workspace else self

    def entry(self, kata: Kata) -> KataProgress:
        """Return what was done with a kata."""
        return self.progress.get(kata.slug)

    def kata(self, text: str | None) -> Kata:
        """Return the one kata that a person means: by ID, by the folder they are in, or the one that comes next.

        Raises:
            UsageError: the ID is wrong or means several, or there is none, and nothing was started or all is passed.
        """
        if text is not None:
            return self.catalogue.resolve_one(text)
        around = kata_around(self.folder, self.catalogue)
        if around is not None:
            return around
        if self.current_unit() is None:
            raise UsageError("Which kata? None is in progress here.", "Name one: kata list shows them all.")
        found = self.next_kata()
        if found is None:
            raise UsageError("Which kata? Every one is passed.", "Name one: kata list shows them all.")
        return found

    def current_unit(self) -> Unit | None:
        """Return the unit the learner is in, by folder, else the one touched last; None before anything."""
        around = unit_around(self.folder, self.catalogue)
        if around is not None:
            return around
        touched: list[tuple[str, Unit]] = []
        for kata in self.catalogue.katas:
            entry = self.entry(kata)
            # A check that found no file says nothing of where the learner is.
            looked_at = entry.checked if entry.status != "missing" else None
            when = max(looked_at or "", entry.started or "")
            if when:
                touched.append((when, kata.unit))
        if not touched:
            return None
        latest = max(when for when, _ in touched)
        # Of several started in the same second, the first in the order of the numbers.
        return next(unit for when, unit in touched if when == latest)

    def next_kata(self) -> Kata | None:
        """Return the kata that comes next: the one whose folder this is, else one that is open.

        Of this unit what goes wrong now, then what is under way, as `kata check` shows them; then what never passed:
        what was started of this unit, the rest of it, others; then what broke again elsewhere. A kata that was never
        checked waits for later ones that help before it, as long as anything else is open.
        """
        around = kata_around(self.folder, self.catalogue)
        if around is not None and self.entry(around).status != "pass":
            return around
        unit = self.current_unit()
        own = unit.katas if unit is not None else ()
        # This unit first: who is in the middle of it wants to stay there.
        katas = [*own, *(kata for kata in self.catalogue.katas if kata.unit is not unit)]
        rules: tuple[tuple[Iterable[Kata], Callable[[KataProgress], bool]], ...] = (
            (own, lambda entry: entry.status in WRONG),
            (own, lambda entry: entry.status == "in_progress"),
            (
                [kata for kata in own if not self._waits(kata)],
                lambda entry: (
                    entry.passed is None and entry.started is not None and entry.status != "missing"
                ),
            ),
            ([kata for kata in katas if not self._waits(kata)], lambda entry: entry.passed is None),
            (katas, lambda entry: entry.passed is None),
            (katas, lambda entry: entry.status != "pass"),
        )
        found = (kata for among, is_open in rules for kata in among if is_open(self.entry(kata)))
        return next(found, None)

    def _waits(self, kata: Kata) -> bool:
        """Return whether a kata of a higher number helps before this one and has not passed yet."""
        helping = [
            other for other in kata.unit.pack.katas if other.slug in kata.after and other.key > kata.key
        ]
        return not self.entry(kata).attempts and any(self.entry(other).passed is None for other in helping)

    def passed_last(self) -> Kata | None:
        """Return the kata that passed for the first time most lately."""
        passed = [(self.entry(kata).passed or "", kata) for kata in self.catalogue.katas]
        when, kata = max(passed, key=lambda pair: pair[0])
        return kata if when else None


def here() -> LearnerContext:
    """Look around: catalogue, folder, workspace and progress.

    Raises:
        PackError: a pack is broken.
        UsageError: the progress file is damaged, or the folder is gone.
    """
    folder, catalogue = current_folder(), Catalogue.discover()
    space = find_workspace(folder) or _begun_again(folder, catalogue)
    return LearnerContext(catalogue, folder, space, Progress()).read_again()


def _begun_again(folder: Path, catalogue: Catalogue) -> Workspace | None:
    """Give a workspace that has lost its progress a new one, of the katas that are there; None where that is not so."""
    space = lost_workspace(folder)
    if space is None:
        return None
    katas = [kata for kata in catalogue.katas if space.kata_folder(kata).is_dir()]
    if not katas:
        return None
    with edit_progress(space.root) as progress:
        for kata in katas:
            progress.of(kata.slug).started = now()
    note(
        f"{space.root / PROGRESS_FILE} is gone, and with it what was recorded; made again with "
        f"{counted(len(katas), 'kata')}. kata check records what passes"
    )
    return space


def current_folder() -> Path:
    """Return the folder this runs in.

    Raises:
        UsageError: it has been deleted.
    """
    try:
        return Path.cwd()
    except OSError as error:
        raise UsageError("The folder you are in no longer exists.", "Go somewhere else: cd ~") from error


def shown(path: Path, folder: Path) -> str:
    """Return `path` as a person in `folder` would type it."""
    relative = os.path.relpath(path, folder)
    return escape_controls(relative if len(relative) <= len(str(path)) else str(path))


def print_json(document: Any) -> None:
    """Print one JSON document on stdout: a dict, or anything that msgspec turns into one; values may be structs."""
    import msgspec

    from grader.report.json_text import json_text

    entries = document if isinstance(document, dict) else msgspec.to_builtins(document, enc_hook=os.fspath)
    click.echo(json_text({"schema": SCHEMA, **entries}, indent=2))


def write_pieces(output: str, pieces: Iterable[bytes]) -> None:
    """Write a file bit by bit, whole or not at all; `-` is stdout.

    Raises:
        EngineError: the file system refused.
    """
    if output == "-":
        # As bytes: UTF-8, whatever the terminal is set to, which must not obey what is in them.
        for piece in pieces:
            click.echo(escape_controls(piece.decode()).encode() if sys.stdout.isatty() else piece, nl=False)
        return
    with atomic_open(Path(output)) as file:
        file.writelines(pieces)


def rendered_markdown(text: str) -> str:
    """Return a text of a pack as it is printed: rendered on a terminal, as it is elsewhere."""
    out = console()
    if not out.is_terminal:
        return escape_controls(text).rstrip("\n") + "\n"
    from rich.markdown import Markdown
    from rich.theme import Theme

    # The terminal's own colours: a black box on a white terminal is hard to read. A link is shown as text: where
    # it leads should be readable before it is followed.
    with out.use_theme(Theme({"markdown.code": "bold cyan"})), out.capture() as shown:
        out.print(Markdown(escape_controls(text), code_theme="ansi_dark", hyperlinks=False))
    return shown.get()


def rendered_python(source: str) -> str:
    """Return Python code as it is printed: coloured on a terminal, as it is elsewhere."""
    out = console()
    if not out.is_terminal:
        return escape_controls(source).rstrip("\n") + "\n"
    from rich.syntax import Syntax

    code = Syntax("", "python", theme="ansi_dark", background_color="default").highlight(
        escape_controls(source)
    )
    code.rstrip()
    # Its lines are Python's: neither broken nor cut, the terminal itself may fold what is too long for it.
    with out.capture() as shown:
        out.print(code, no_wrap=True, overflow="ignore", crop=False)
    return shown.get()


def print_rendered(*parts: str, paged: bool = False) -> None:
    """Print what was rendered, with a line between two parts.

    `paged`: what is longer than the terminal is high goes through a pager (`PAGER`), when somebody can turn pages.
    """
    out, text = console(), "\n".join(parts)
    if paged and out.is_terminal and sys.stdin.isatty() and text.count("\n") >= out.height:
        click.echo_via_pager(text)  # with colours where the pager shows them: click asks LESS for that
    else:
        click.echo(text, nl=False)


def note(text: str) -> None:
    """Print a remark on stderr: stdout is for results."""
    print_message(text, stderr=True)


device_option = click.option(
    "--device",
    callback=lambda context, parameter, value: devices.named(value).name,
    default="cpu",
    show_default=True,
    help="Device that submissions compute on: cpu, cuda, cuda:1 or another accelerator of torch's.",
)


def complete_id(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer numbers and slugs to the shell."""
    from click.shell_completion import CompletionItem

    catalogue = Catalogue.discover()
    items: list[Unit | Kata] = [*catalogue.units, *catalogue.katas]
    names = [(name, item.title) for item in items for name in (item.number, item.slug)]
    return [CompletionItem(name, help=title) for name, title in names if name.startswith(incomplete)]
