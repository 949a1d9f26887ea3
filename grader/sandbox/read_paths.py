"""What Python and torch need to read, and nothing that belongs to a person or a project."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path

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

_INSTALLED = ("site-packages", "dist-packages")


def python_read_paths() -> tuple[Path, ...]:
    """List the files and folders that Python, its installed packages and the machine's libraries live in.

    Links are resolved, and a folder stands for everything below it. An entry of `sys.path` counts only where
    packages get installed: a checkout that is installed for development stays closed, so import what a worker
    needs of it before the worker is confined.
    """
    return _outermost(path for path in _candidates() if _is_there(path))


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
    except PermissionError:
        return False


def _follow(path: Path, found: dict[Path, str]) -> None:
    for part in (*reversed(path.parents), path):
        if part.is_symlink() and part not in found:
            found[part] = os.readlink(part)
            # What a link holds may lead through further links.
            _follow(Path(os.path.normpath(part.parent / found[part])), found)


def _candidates() -> list[Path]:
    return [*_libraries(), *_installed_packages(), *_loaded_packages(), *map(Path, _SYSTEM)]


def _libraries() -> list[Path]:
    prefixes = {sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix}
    folders = [Path(prefix, name) for prefix in prefixes for name in ("lib", "lib64")]
    return [*folders, Path(os.__file__).parent]


def _installed_packages() -> list[Path]:
    """Find the package folders outside Python's own, such as the ones of a user or of Debian."""
    return [Path(entry) for entry in sys.path if os.path.basename(entry) in _INSTALLED]


def _loaded_packages() -> list[Path]:
    """Find torch and numpy where they really are: some installers link them from a cache."""
    files = [getattr(sys.modules.get(name), "__file__", None) for name in ("torch", "numpy")]
    return [Path(file).resolve().parent for file in files if file]


def _outermost(paths: Iterable[Path]) -> tuple[Path, ...]:
    resolved = sorted({path.resolve() for path in paths})
    kept: list[Path] = []
    for path in resolved:
        if not any(path.is_relative_to(folder) for folder in kept):
            kept.append(path)
    return tuple(kept)
