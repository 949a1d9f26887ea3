"""What Python and torch need to read, and nothing that belongs to a person or a project.

Before the first submission is graded, `refuse_exposed` and `refuse_foreign_code` check what they could read or become.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from grader.engine.sandbox.levels import Isolation
from grader.errors import EngineError, UsageError
from grader.interpreter import INSTALLED

_SYSTEM = (
    "/usr/lib",
    "/usr/lib32",
    "/usr/lib64",
    "/usr/local/lib",
    "/usr/local/lib64",
    "/lib",
    "/lib64",
    "/nix/store",
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/usr/share/zoneinfo",
    "/dev/null",
    "/dev/zero",
    "/dev/random",
    "/dev/urandom",
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/proc/stat",
    "/sys/devices/system/cpu",
    "/sys/devices/system/node",
    "/sys/kernel/mm/transparent_hugepage",
)

_LINKS = ("/lib", "/lib32", "/lib64", "/usr/lib64")

_MOST = 20_000
"""So many entries may be next to what is hidden: each of them is granted to each worker."""


@dataclass(frozen=True)
class View:
    """What a worker may read of the machine: `places` with all that lies below them, but for `hidden`."""

    places: tuple[Path, ...] = ()
    hidden: tuple[Path, ...] = ()
    """Folders below places, in the order of their depth."""

    @property
    def whole(self) -> tuple[Path, ...]:
        """The places below which nothing is hidden."""
        return tuple(place for place in self.places if place not in self._ways)

    @cached_property
    def siblings(self) -> tuple[Path, ...]:
        """What lies in the other places next to what is hidden: Landlock can only grant."""
        return tuple(entry for place in self.places if place in self._ways for entry in self._around(place))

    @property
    def listed(self) -> tuple[Path, ...]:
        """The folders on the way to what is hidden: their names are to be seen, or nothing in them can be imported."""
        return tuple(self._ways)

    def covers(self, path: Path) -> bool:
        """Return whether `path` can be read."""
        return below(path, self.places) and not below(path, self.hidden)

    @cached_property
    def _ways(self) -> frozenset[Path]:
        ways = (folder for path in self.hidden for folder in path.parents)
        return frozenset(folder for folder in ways if below(folder, self.places))

    def _around(self, folder: Path) -> Iterator[Path]:
        entries = sorted(folder.iterdir())
        if len(entries) > _MOST:
            raise EngineError(
                f"{self.hidden[0]} must not be read by submissions, but it is below {folder}, which they read.",
                "Move it elsewhere: there are too many entries in that folder to leave just one out.",
            )
        for path in entries:
            # What a link leads to is granted where it lies, or not at all.
            if path in self._ways:
                yield from self._around(path)
            elif not path.is_symlink() and not below(path, self.hidden):
                yield path


def python_view(hidden: Iterable[Path] = ()) -> View:
    """Return what every worker may read: Python, what is installed and the machine's libraries, without `hidden`."""
    places = python_read_paths()
    # Resolved as the places are: a link to a folder of answers must hide what it leads to.
    inside = {path.resolve() for path in hidden}
    folders = [path for path in inside if below(path, places) and path.is_dir()]
    return View(places, tuple(sorted(outermost(folders), key=lambda path: len(path.parts))))


def below(path: Path, folders: Iterable[Path]) -> bool:
    """Tell whether a path is one of these folders, or in one."""
    return any(path.is_relative_to(folder) for folder in folders)


def python_read_paths() -> tuple[Path, ...]:
    """List the files and folders that Python, its installed packages and the machine's libraries live in.

    Links are resolved, and a folder stands for everything below it. An entry of `sys.path` counts only where
    packages get installed: a checkout that is installed for development stays closed, so import what a worker
    needs of it before the worker is confined.
    """
    return outermost(path for path in _candidates() if _is_there(path))


def python_links() -> tuple[tuple[Path, str], ...]:
    """List the symbolic links, with what they hold, through which those places are known too: `/lib`, `lib64`, …"""
    return links_on_the_way((*_candidates(), *map(Path, _LINKS)))


def links_on_the_way(paths: Iterable[Path]) -> tuple[tuple[Path, str], ...]:
    """List the symbolic links, with what they hold, that lead to `paths`."""
    found: dict[Path, str] = {}
    for path in paths:
        _follow(path, found)
    return tuple(found.items())


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    # A folder on the way may be closed to this user: a worker would not get there either.
    except PermissionError:
        return False


def _follow(path: Path, found: dict[Path, str]) -> None:
    # From the top, since any folder on the way may be a link.
    for part in (*reversed(path.parents), path):
        if part.is_symlink() and part not in found:
            # What it holds, not where it leads: in a sandbox the same chain of links is made anew.
            found[part] = os.readlink(part)
            # What a link holds may lead through further links.
            _follow(Path(os.path.normpath(part.parent / found[part])), found)


def _candidates() -> list[Path]:
    prefixes = {sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix}
    # A virtual environment has packages under its own prefix and the standard library under the base.
    libraries = [Path(prefix, name) for prefix in prefixes for name in ("lib", "lib64")]
    # Package folders outside Python's own, such as the ones of a user or of Debian.
    installed = [Path(entry) for entry in sys.path if os.path.basename(entry) in INSTALLED]
    # Torch and numpy where they really are: some installers link them from a cache.
    files = [getattr(sys.modules.get(name), "__file__", None) for name in ("torch", "numpy")]
    loaded = [Path(file).resolve().parent for file in files if file]
    return [*libraries, Path(os.__file__).parent, *installed, *loaded, *map(Path, _SYSTEM)]


def outermost(paths: Iterable[Path]) -> tuple[Path, ...]:
    """Return the paths, without links, that are not in another one of them."""
    found: list[Path] = []
    # Sorted, so that a folder comes before what is in it.
    for path in sorted({path.resolve() for path in paths}):
        if not below(path, found):
            found.append(path)
    return tuple(found)


CONSENT = "--require-isolation process"


def refuse_exposed(
    secrets: Mapping[Path, str], view: View, level: Isolation, *, agreed: bool = False
) -> None:
    """Refuse to go on where a submission could read what it must not.

    Args:
        secrets: files and folders, each with what it is, such as "the gradebook".
        view: what workers read.
        level: how far they are shut in; at `process` they read whatever the user does.
        agreed: whether somebody said that `process` is enough.

    Raises:
        UsageError: what lies where.
    """
    if level == "process":
        if not agreed:
            places = ", ".join(f"{what} ({path})" for path, what in secrets.items())
            raise UsageError(
                f"At isolation 'process' every submission can read what you can: {places}.",
                f"kata doctor says how to get more. If you trust the submissions with that, add: {CONSENT}",
            )
        return
    for path, what in secrets.items():
        # Any one of them is enough to refuse, so the first is named.
        for place in places_showing(path, view):
            raise UsageError(
                f"{path} ({what}) is below {place}, which every submission may read.",
                "Move it: nothing that belongs to you or to a learner may be in a folder of installed software.",
            )


def places_showing(secret: Path, view: View) -> list[Path]:
    """Return the places that show `secret` to workers."""
    ways = {secret.resolve(), Path(os.path.abspath(secret))}
    return [
        place for place in view.places if any(way.is_relative_to(place) and view.covers(way) for way in ways)
    ]


def refuse_foreign_code(folder: Path) -> None:
    """Refuse a class's folder in which Python looks for modules: its names are its learners'.

    Raises:
        UsageError: which entry of the search path it is.
    """
    own = folder.resolve()
    prefixes = {sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix}
    environments = [Path(prefix).resolve() for prefix in prefixes]
    for entry in sys.path:
        # Resolved: a link on the search path would lead there as well.
        place = Path(entry).resolve()
        # An environment that lies in it does not count: Python looks inside that alone.
        if place.is_relative_to(own) and not below(place, environments):
            raise UsageError(
                f"Python imports from {place}, which is in {folder}: a learner's file could run as the grader.",
                "Take it off PYTHONPATH and out of .pth files, or move the submissions.",
            )
