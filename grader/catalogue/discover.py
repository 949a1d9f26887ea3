"""Which packs are there: the one that comes with Kata, those in KATA_PACKS, those installed next to it."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from grader.catalogue.load import PACK_FILE
from grader.errors import PackError, UsageError
from grader.interpreter import is_installed

ENTRY_POINTS = "kata.packs"
SOLUTIONS = "solutions"
"""The folder next to a pack that holds its answers."""

_METADATA = (".dist-info", ".egg-info")


def pack_folders() -> list[Path]:
    """Return the folders of all packs, each once, the built-in one first.

    Raises:
        UsageError: KATA_PACKS names a folder that is not a pack.
        PackError: an installed distribution does.
    """
    found: dict[Path, None] = {}
    builtin = builtin_folder()
    if builtin is not None:
        found[builtin.resolve()] = None
    for folder in (*named_folders(), *installed_folders()):
        found[folder.resolve()] = None
    return list(found)


def named_folders() -> list[Path]:
    """Return the folders of the packs that KATA_PACKS names.

    Raises:
        UsageError: it names a folder that is not a pack.
    """
    found = []
    for entry in filter(None, os.environ.get("KATA_PACKS", "").split(os.pathsep)):
        folder = Path(entry).expanduser()
        if not (folder / PACK_FILE).is_file():
            raise UsageError(
                f"KATA_PACKS names {entry}, which is not a pack: it has no {PACK_FILE}.",
                f"List the folders that hold a {PACK_FILE}, separated by {os.pathsep!r}.",
            )
        # Resolved, as two names of one folder would be two packs that clash.
        found.append(folder.resolve())
    return found


def answers() -> list[Path]:
    """Return the folders that no submission may read: the packs that have solutions here, and those solutions.

    Packs of whatever course that lie where installers put them count, too, named by an entry point or not.

    Raises:
        UsageError, PackError: as `pack_folders`.
    """
    named = [Path(entry) for entry in os.environ.get("KATA_SOLUTIONS", "").split(os.pathsep) if entry]
    # Without links: a worker's view is cut by real paths.
    found = {folder.resolve(): None for folder in named}
    for pack in dict.fromkeys((*pack_folders(), *_installed_packs())):
        sibling = pack.parent / SOLUTIONS
        if named or sibling.is_dir():
            found[pack.resolve()] = None
            found[sibling.resolve()] = None
    return [folder for folder in found if folder.is_dir()]


def _installed_packs() -> Iterator[Path]:
    """Yield the packs among what is installed, as `kata pack build` lays them out."""
    for place in filter(is_installed, sys.path):
        try:
            # Not `*.dist-info`, of which there are hundreds.
            packages = [entry.path for entry in os.scandir(place) if "." not in entry.name and entry.is_dir()]
        except OSError:
            continue
        for package in packages:
            for folder in (package, os.path.join(package, "katas")):
                if os.path.isfile(os.path.join(folder, PACK_FILE)):
                    yield Path(folder)


def builtin_folder() -> Path | None:
    """Return the pack of the source tree, or the copy inside the installed package."""
    package = Path(__file__).resolve().parent.parent
    for folder in (package.parent / "katas", package / "_katas"):
        if (folder / PACK_FILE).is_file():
            return folder
    return None


def installed_folders() -> Iterator[Path]:
    """Yield the pack folders that installed distributions name.

    A distribution declares `[project.entry-points."kata.packs"]` with `any-name = "package"`, or `"package.folder"`.
    """
    # Only folders that installers fill are looked at: what lies in the current folder, or in a class's, names
    # no pack. Reading the small files ourselves takes 1 ms; importing importlib.metadata takes 30.
    for place in filter(is_installed, sys.path):
        try:
            # The time is part of the cache's key: a server that runs on sees what was installed meanwhile.
            found = _declarations(place, os.stat(place).st_mtime_ns)
        except OSError:
            continue
        for path, text in found:
            yield from _named_folders(text, path)


@cache
def _declarations(place: str, changed_ns: int) -> list[tuple[Path, str]]:
    """Return the files with entry points of ours in a folder that was last changed then, and what they say.

    Raises:
        OSError: the folder cannot be read.
    """
    found = []
    for entry in os.scandir(place):
        if entry.name.endswith(_METADATA):
            path = Path(entry.path, "entry_points.txt")
            with contextlib.suppress(OSError, UnicodeDecodeError):
                text = path.read_text(encoding="utf-8")
                # Read as text first: nearly all of these files are about other programs.
                if f"[{ENTRY_POINTS}]" in text:
                    found.append((path, text))
    return found


def _named_folders(text: str, path: Path) -> Iterator[Path]:
    import configparser
    import importlib.util

    parser = configparser.ConfigParser(delimiters=("=",), interpolation=None)
    parser.read_string(text)
    for name, value in parser[ENTRY_POINTS].items():
        package, *folders = value.split(":")[0].strip().split(".")
        # It is next to its metadata, but for an editable one. Finding a top-level package imports nothing of it.
        sibling = path.parent.parent / package
        spec = None if sibling.is_dir() else importlib.util.find_spec(package)
        roots = list(spec.submodule_search_locations or ()) if spec is not None else []
        for root in (str(sibling), *roots):
            folder = Path(root, *folders)
            if (folder / PACK_FILE).is_file():
                yield folder
                break
        else:
            raise PackError(
                f"{path}: the entry point {name} = {value} of group {ENTRY_POINTS} does not lead to a folder "
                f"with a {PACK_FILE}."
            )
