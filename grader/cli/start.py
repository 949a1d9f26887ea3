"""`kata start`: put exercises into a workspace."""

from __future__ import annotations

import click

from grader import workspace as workspaces
from grader.catalogue import Catalogue
from grader.cli.context import complete_id, current_folder, json_option, note, print_json, shown


@click.command(short_help="Put a unit's or kata's files into this folder; again means resume.")
@click.argument("id_", metavar="ID", shell_complete=complete_id)
@click.option("--notebook", is_flag=True, help="Write a notebook (.ipynb) instead of a module (.py).")
@json_option
def start(id_: str, notebook: bool, as_json: bool) -> None:
    """Put a unit's or kata's files into this folder; again means resume.

    Nothing is ever overwritten. The folder becomes your workspace: `kata-progress.json` in it remembers
    what you have done.

    \b
    Example:
      kata start 9.3
      kata start masked-attention --notebook
    """
    folder = current_folder()
    catalogue = Catalogue.discover()
    katas = catalogue.resolve(id_)
    space = workspaces.workspace_to_start_in(folder, catalogue)
    new = not space.exists
    started = workspaces.start(katas, space, notebook=notebook)
    if as_json:
        print_json(
            {
                "workspace": str(space.root),
                "created": new,
                "katas": [
                    {
                        "kata": one.kata.slug,
                        "number": one.kata.number,
                        "folder": str(one.folder),
                        "file": str(one.submission),
                        "resumed": one.resumed,
                        "files": [{"path": str(file.path), "action": file.action} for file in one.files],
                    }
                    for one in started
                ],
            }
        )
        return
    note(f"{'new workspace' if new else 'workspace'}  {space.root}")
    for one in started:
        for file in one.files:
            click.echo(f"  {file.action:8} {shown(file.path, folder)}")
    first = started[0]
    again = "as you left it; go on with" if all(one.resumed for one in started) else "edit"
    click.echo(f"\n{again} {shown(first.submission, folder)}")
    click.echo(f"read  {shown(first.folder / 'README.md', folder)}, or: kata show {first.kata.slug}")
    click.echo(f"then  kata check {first.kata.slug}")
