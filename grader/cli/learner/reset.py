"""`kata reset`: begin again, with a backup."""

from __future__ import annotations

from pathlib import Path

import click

from grader.cli.context import complete_id, here, json_option, print_json, shown
from grader.errors import UsageError
from grader.learner import workspace as workspaces
from grader.report.style import print_message


@click.command(short_help="Put back the files you started from; yours are backed up first.")
@click.argument("id_", metavar="ID", shell_complete=complete_id)
@json_option
def reset(id_: str, as_json: bool) -> None:
    """Put back the files you started from; yours are backed up first.

    For a unit, it resets the katas that were started. The best score, the pass and the hints stay recorded.

    \b
    Example:
      kata reset masked-attention
    """
    place = here()
    katas = place.catalogue.resolve(id_)
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
            _print(restored, place.folder)
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


def _print(restored: workspaces.Reset, folder: Path) -> None:
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
