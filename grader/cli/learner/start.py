"""`kata start`: put exercises into a workspace; and `kata reset`: begin again, with a backup."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import click
from rich.text import Text

from grader import DISTRIBUTION
from grader.catalogue import Catalogue, Kata, Unit
from grader.catalogue.given import BLOCKS
from grader.cli.context import (
    complete_id,
    current_folder,
    gathered,
    here,
    json_option,
    note,
    print_json,
    shown,
)
from grader.cli.status import goal, next_step
from grader.data_files import read_bounded
from grader.errors import UsageError
from grader.learner import workspace as workspaces
from grader.learner.workspace import Started, Workspace, katas_in, load_progress, unit_around
from grader.learner.workspace.notebook import is_notebook
from grader.learner.workspace.tools import lay_actions, lay_agents, policy_of, write_vscode
from grader.report.style import console, escape_controls, print_hanging, print_message, safe_text


@dataclass(frozen=True)
class StartOptions:
    """What is written besides a kata's own files, and where."""

    notebook: bool | None
    given: bool
    own: bool
    vscode: bool
    actions: bool


@click.command(short_help="Put a unit's or kata's files into this folder; run it again to resume.")
@click.argument("id_", metavar="ID", required=False, shell_complete=complete_id)
@gathered(
    StartOptions,
    click.option(
        "--notebook/--module",
        default=None,
        help="Write a notebook (.ipynb) or a module (.py). [default: as the kata before; first a module]",
    ),
    click.option(
        "--given",
        is_flag=True,
        help=f"Write {BLOCKS} even if it answers katas that you have not passed; this is recorded.",
    ),
    click.option(
        "--here",
        "own",
        is_flag=True,
        help="Make this folder a workspace of its own, even inside another one.",
    ),
    click.option(
        "--vscode",
        is_flag=True,
        help="Also write VS Code's tasks and settings, so that checks show up as tests.",
    ),
    click.option(
        "--actions",
        is_flag=True,
        help="Also write a workflow for GitHub Actions: .github/workflows/kata.yml.",
    ),
)
@json_option
def start(id_: str | None, as_json: bool, options: StartOptions) -> None:
    """Put a unit's or kata's files into this folder; run it again to resume.

    Nothing is ever overwritten. The folder becomes your workspace: its `kata-progress.json` records what you have
    done.

    A kata that builds on earlier ones is checked with our answers to those. They are in `blocks.py`, so this file is
    written only when you start that kata by name. If it shows answers to katas that you have not passed yet, it is
    written only with --given.

    \b
    Example:
      kata start 9.3
      kata start self-attention --notebook
    """
    folder = current_folder()
    if id_ is None:
        raise UsageError("Start what?", f"Begin: {next_step(here()).command or 'kata list shows everything'}")
    catalogue = Catalogue.discover()
    katas = catalogue.resolve(id_)
    by_name = not any(isinstance(item, Unit) for item in catalogue.find(id_))
    # A unit's blocks would show most of its own answers.
    if options.given and not by_name:
        raise UsageError(
            f"--given opens the {BLOCKS} of one kata, but {id_} is a unit.",
            f"Name one: kata start {katas[-1].slug} --given",
        )
    space = workspaces.workspace_to_start_in(folder, catalogue, own=options.own)
    # Before `start` makes the folder a workspace. What is there by then may be anybody's.
    new = not space.exists
    try:
        own = new and not katas_in(space.root, catalogue)
    except UsageError:  # several files of one kata
        own = False
    # Whose answers would be shown now by starting this kata; nothing is when its blocks are there already.
    opens = by_name and katas[0].adapter is None and not os.path.lexists(space.kata_folder(katas[0]) / BLOCKS)
    closed = workspaces.unrevealed_katas(katas[0], load_progress(space.root)) if opens else []
    blocks = by_name and (not closed or options.given)
    # Nothing is ever overwritten: what is there already stays, and is listed as such.
    policy = policy_of(space.root)
    before = load_progress(space.root)
    fresh = all(before.get(kata.slug).started is None for kata in katas[0].unit.katas)
    started = workspaces.start(katas, space, notebook=options.notebook, blocks=blocks)
    if own:
        space.note_as_own()
    layers = ((write_vscode, options.vscode), (lay_actions, options.actions))
    tools = {file: _action(laid) for lay, asked in layers if asked for file, laid in lay(space.root)}
    agents = lay_agents(space.root, policy)
    tools |= {file: _action(laid) for file, laid in agents if laid or as_json}
    if as_json:
        print_json(_document(space, new, tools, started))
        return
    note(f"{'new workspace' if new else 'workspace'}  {space.root}")
    if not new and space.root != folder.absolute() and unit_around(folder, catalogue) is None:
        note(f"           for a workspace of its own in this folder: kata start {id_} --here")
    if (checkout := _checkout(space.root)) is not None:
        note(
            f"           inside Kata's own sources, {checkout}: mkdir ~/kata && cd ~/kata keeps your work apart"
        )
    _list_files(started, tools, folder)
    if older := [shown(file, folder) for begun in started for file in begun.older]:
        note(f"older than the pack's, or changed by you: {', '.join(older)}")
        note(
            f"           for the pack's, move yours away and type again: kata start {id_}; or read it: kata show {id_}"
        )
    if blocks and closed:
        note(f"Recorded as given up: {_names(closed)}. You can still pass them.")
    _tell_unopened([begun for begun in started if begun.unopened], closed, space)
    first = started[0]
    if fresh and (leads := goal(first.kata.unit)):
        print_message(f"\nat its end you have {leads}")
    again = "as you left it; continue with" if all(begun.resumed for begun in started) else "edit"
    print_message(f"\n{again} {shown(first.submission, folder)}")
    print_message(f"read  {shown(first.folder / 'README.md', folder)}, or: kata show {first.kata.slug}")
    if is_notebook(first.submission):
        print_message("then  run its last cell")
    else:
        print_message(
            f"then  kata watch {first.kata.slug}    checks at every save; once: kata check {first.kata.slug}"
        )


def _checkout(root: Path) -> Path | None:
    """Return the folder of Kata's own sources that a folder is in."""
    ours = f'name = "{DISTRIBUTION}"'.encode()
    for place in (root.absolute(), *root.absolute().parents):
        with suppress(OSError, ValueError):
            if ours in read_bounded(place / "pyproject.toml", 1 << 20):
                return place
    return None


def _list_files(started: Sequence[Started], tools: dict[Path, str], folder: Path) -> None:
    """Print what was written and what was there, a line for each folder."""
    files = [(file.path, file.action) for begun in started for file in begun.files]
    names: dict[tuple[Path, str], list[str]] = {}
    for path, action in (*files, *tools.items()):
        names.setdefault((path.parent, action), []).append(path.name)
    for (place, action), found in names.items():
        where = "" if place == folder.absolute() else f"{shown(place, folder)}/  "
        # A label first, two blanks after it: what is wider than the terminal goes on below its own beginning.
        print_message(f"{action:8} {where}{escape_controls(', '.join(found))}")


def _document(
    space: Workspace, new: bool, tools: dict[Path, str], started: Sequence[Started]
) -> dict[str, object]:
    return {
        "workspace": str(space.root),
        "created": new,
        "tools": [{"path": str(file), "action": action} for file, action in tools.items()],
        "katas": [
            {
                "kata": begun.kata.slug,
                "number": begun.kata.number,
                "folder": str(begun.folder),
                "file": str(begun.submission),
                "resumed": begun.resumed,
                "files": [{"path": str(file.path), "action": file.action} for file in begun.files],
                "unopened": [BLOCKS] if begun.unopened else [],
            }
            for begun in started
        ],
    }


def _action(laid: bool) -> str:
    return "written" if laid else "kept"


def _tell_unopened(unopened: Sequence[Started], closed: Sequence[Kata], space: Workspace) -> None:
    if not unopened:
        return
    names = _names([begun.kata for begun in unopened])
    first = unopened[0].kata
    whose = f"{_names(closed)}, not passed yet" if closed else "earlier katas"
    if workspaces.unrevealed_katas(first, load_progress(space.root)):
        how = f"To read it, which records what has not passed as given up: kata start {first.slug} --given"
    else:
        how = f"To get it: kata start {first.slug}"
    click.echo()
    out, head = console(), "not written  "
    print_hanging(out, Text(head), safe_text(f"{BLOCKS} of {names}: it answers {whose}"))
    print_hanging(out, Text(" " * len(head)), safe_text(f"Your exercise needs nothing more. {how}"))
    shown = unopened[0].unopened.shows if unopened[0].unopened is not None else ()
    passed = [kata for kata in shown if kata not in closed]
    if closed and passed:
        one = f"One part, whose kata has passed: kata solution {passed[-1].slug} --block"
        print_hanging(out, Text(" " * len(head)), safe_text(one))


def _names(katas: Sequence[Kata]) -> str:
    return ", ".join(kata.slug for kata in katas)


@click.command(short_help="Put back the files you started from; yours are backed up first.")
@click.argument("id_", metavar="[ID]", required=False, shell_complete=complete_id)
@json_option
def reset(id_: str | None, as_json: bool) -> None:
    """Put back the files you started from; yours are backed up first.

    Without ID, it is the kata whose folder you are in, or else the one that comes next. For a unit, it resets the katas
    that were started. The best score, the pass and the hints stay recorded.

    \b
    Example:
      kata reset masked-attention
    """
    place = here()
    katas = place.catalogue.resolve(id_) if id_ is not None else [place.kata(None)]
    space = place.require_workspace()
    # Of a unit, only what was started: the rest has nothing to reset.
    if len(katas) > 1:
        katas = [kata for kata in katas if space.kata_folder(kata).is_dir()]
        if not katas:
            raise UsageError(f"Nothing of {id_} was started in {space.root}.", f"Start it: kata start {id_}")
    done = []
    for kata in katas:
        restored = workspaces.reset(kata, space)
        done.append(restored)
        # At once, not at the end: if the next one fails, you know what was reset.
        if not as_json:
            _print_reset(restored, place.folder)
    if as_json:
        print_json(
            {
                "katas": [
                    {
                        "kata": restored.kata.slug,
                        "number": restored.kata.number,
                        "backup": str(restored.backup) if restored.backup else None,
                        "files": [{"path": str(file.path), "action": file.action} for file in restored.files],
                    }
                    for restored in done
                ]
            }
        )


def _print_reset(restored: workspaces.Reset, folder: Path) -> None:
    touched = [file for file in restored.files if file.action != "unchanged"]
    if not touched:
        print_message(
            f"{restored.kata.number} {restored.kata.slug}: nothing to reset, the files are as they were written"
        )
        return
    print_message(f"{restored.kata.number} {restored.kata.slug}: reset")
    for file in touched:
        print_message(f"  {file.action:8} {shown(file.path, folder)}")
    if restored.backup is not None:
        print_message(f"  what you had is in {shown(restored.backup, folder)}")
