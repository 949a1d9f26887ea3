"""A file or folder of a hand-in: one tree, whether it is on disk or in an archive."""

from __future__ import annotations

import io
import os
import re
import stat
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from typing import IO

from grader.data_files import READING, NotRegularError, UnreadableSubmission, regular_file
from grader.instructor.submissions.names import ignored_file, ignored_folder, natural_key
from grader.instructor.submissions.safe_path import SafePath

ARROW = " › "
CHECKPOINTS = ".ipynb_checkpoints"
"""Where Jupyter keeps a copy of what it opens."""
_LONGEST_LINE = _CHUNK = 1 << 16

Reader = Callable[[int], bytes]
"""Returns the content of a file in an archive; UnreadableSubmission when it is larger or cannot be read."""


@dataclass(frozen=True, eq=False)
class Entry:
    """A file or folder of a learner: on disk, or in an archive."""

    name: str
    """What it is called; of a learner's file, before any system renamed it."""
    label: str
    """Where it lies, as a person would look for it."""
    kind: str
    """`folder`, nothing for a file, or why it is not read, as the end of `NAME …`."""
    source: SafePath | Reader | tuple[Entry, ...] = ()
    """Where it lies on disk; in an archive what reads a file, and of a folder all files below it."""
    size: int = 0
    path: tuple[str, ...] = ()
    """Its folders and its name in its archive; of a learner's file those in what was handed in."""
    space: int = 0
    """Of a learner's file: those of one folder or one archive share it, and only these can be in one folder."""
    time: tuple[datetime | None, str | None] = (None, None)
    """When it was handed in, without a zone where the system names none, and who says so; without a time, who marks
    it late."""
    around: tuple[str, ...] = ()
    """Folders that it lies in, where what else lies in them does not count."""

    @property
    def spot(self) -> SafePath | None:
        """Where it lies on disk; None in an archive."""
        return self.source if isinstance(self.source, SafePath) else None

    @property
    def folder(self) -> tuple[str, ...]:
        """Its path without its name."""
        return self.path[:-1]

    @property
    def is_folder(self) -> bool:
        """Whether it is a folder, on disk or in an archive."""
        return self.kind == "folder"

    def handed_in(
        self,
        original: str | None = None,
        at: datetime | None = None,
        time_source: str | None = None,
        around: tuple[str, ...] = (),
    ) -> Entry:
        """Return it as a learner's work.

        Args:
            original: a file's name before a system renamed it.
            at: when it was handed in, without a zone where the system names none.
            time_source: who says so; without a time, who marks it late.
            around: folders that it lies in, where what else lies in them does not count.
        """
        return replace(self, name=original or self.name, time=(at, time_source), around=around)

    def children(self, most: int | None = None, *, checkpoints: bool = False) -> list[Entry]:
        """Return what lies in this folder, without what is ignored, in natural order.

        Args:
            most: on disk, no more entries than these are looked at.
            checkpoints: the folder with Jupyter's copies is one of them.

        Raises:
            OSError: it cannot be opened.
        """
        found = self._on_disk(self.source, most) if isinstance(self.source, SafePath) else self._in_archive()
        entries = [
            entry
            for entry in found
            if not (ignored_folder(entry.name) if entry.is_folder else ignored_file(entry.name))
            or (checkpoints and entry.name == CHECKPOINTS)
        ]
        return sorted(entries, key=lambda entry: natural_key(entry.name))

    def _on_disk(self, folder: SafePath, most: int | None) -> list[Entry]:
        with folder.entries() as found:  # what it says of an entry is asked while the folder is open
            return [
                Entry(child.name, self._below(child.name), kind, folder / child.name, size)
                for child in islice(found, most)
                for kind, size in [_looked_at(child)]
            ]

    def _in_archive(self) -> list[Entry]:
        files: list[Entry] = []
        folders: dict[str, list[Entry]] = defaultdict(list)
        depth = len(self.path)
        for file in self.source if isinstance(self.source, tuple) else ():
            name = file.path[depth]
            if len(file.path) > depth + 1:
                folders[name].append(file)
            else:
                files.append(replace(file, label=self._below(name)))
        below = [
            Entry(name, self._below(name), "folder", tuple(inside), path=(*self.path, name))
            for name, inside in folders.items()
        ]
        return files + below

    def _below(self, name: str) -> str:
        if not self.label:
            return name
        return f"{self.label}{name}" if self.label.endswith(ARROW) else f"{self.label}/{name}"

    @property
    def in_place_of_folder(self) -> bool:
        """Whether this is neither a file nor a folder, and may stand for a learner's folder: a link to one, say."""
        if not self.kind or self.is_folder:
            return False
        without_ending = re.search(r"\.[A-Za-z0-9]{1,5}$", self.name) is None
        return without_ending or (self.spot is not None and self.spot.is_folder())

    def read(self, limit: int) -> bytes:
        """Return a file's content; UnreadableSubmission when it is larger or cannot be read."""
        if self.kind or isinstance(self.source, tuple):
            raise UnreadableSubmission(self.kind)
        return read_file(self.source, limit) if isinstance(self.source, SafePath) else self.source(limit)

    def lines(self, limit: int) -> Iterator[str]:
        """Yield a file's lines, each without what is beyond 64 KB; one on disk may be of any size.

        Raises:
            UnreadableSubmission: it is in an archive and larger than `limit`, or cannot be read.
            OSError: it cannot be read.
        """
        with io.BytesIO(self.read(limit)) if self.spot is None or self.kind else open_file(self.spot) as file:
            while piece := file.readline(_LONGEST_LINE):
                rest = piece
                while rest and not rest.endswith(b"\n"):  # else the rest would pass for a line
                    rest = file.readline(_LONGEST_LINE)
                yield piece.decode("utf-8", "replace").rstrip("\r\n")


def _looked_at(entry: os.DirEntry[str]) -> tuple[str, int]:
    """Return the kind of an entry on disk, as `Entry` has it, and its size."""
    try:
        # Never through a link: it could lead to a file of the instructor's, which would then be graded and
        # shown.
        seen = entry.stat(follow_symlinks=False)
    except OSError as error:
        return f"cannot be read: {error.strerror or error}", 0
    if stat.S_ISDIR(seen.st_mode):
        return "folder", seen.st_size
    if stat.S_ISLNK(seen.st_mode):
        return "is a symbolic link; links are not followed", seen.st_size
    return "" if stat.S_ISREG(seen.st_mode) else "is not a regular file", seen.st_size


def open_file(spot: SafePath) -> IO[bytes]:
    """Return an ordinary file, opened; UnreadableSubmission when it is none."""
    try:
        return regular_file(spot.open(READING | os.O_NOFOLLOW))  # a link must not lead out of the class
    except (NotRegularError, IsADirectoryError):
        raise UnreadableSubmission("is not a regular file") from None


def read_file(spot: SafePath, limit: int) -> bytes:
    """Return the content of an ordinary file, never through a link.

    Raises:
        UnreadableSubmission: larger than `limit`, or it cannot be read.
    """
    try:
        with open_file(spot) as file:
            # Of the open file; and read with a bound all the same, since it may grow.
            size = os.fstat(file.fileno()).st_size
            if size > limit:
                raise too_large(size, limit)
            return bounded(file, limit)
    except PermissionError:
        raise UnreadableSubmission("cannot be read: permission denied") from None
    except OSError as error:
        raise UnreadableSubmission(f"cannot be read: {error.strerror or error}") from None


def bounded(file: IO[bytes], limit: int) -> bytes:
    """Return what is in an open file; UnreadableSubmission when it is more than `limit`."""
    data = bytearray()
    while chunk := file.read(_CHUNK):
        data += chunk
        if len(data) > limit:
            raise UnreadableSubmission(f"is larger than {megabytes(limit)}, which is the most that is read")
    return bytes(data)


def too_large(size: int, limit: int) -> UnreadableSubmission:
    """Return the reason for not reading a file of `size` bytes."""
    return UnreadableSubmission(f"is {megabytes(size)}; at most {megabytes(limit)} are read")


def megabytes(size: int) -> str:
    """Return a size for a sentence."""
    return f"{size / 2**30:.1f} GB" if size >= 2**30 else f"{size / 2**20:.1f} MB"
