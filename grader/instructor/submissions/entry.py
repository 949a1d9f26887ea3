"""A file or folder of a hand-in: one tree, whether it is on disk or in an archive."""

from __future__ import annotations

import io
import os
import re
import stat
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from grader.data_files import UnreadableSubmission
from grader.instructor.submissions.archives import Member, open_archive, open_file, read_file
from grader.instructor.submissions.names import ignored_file, ignored_folder, natural_key
from grader.instructor.submissions.safe_path import SafePath

ARROW = " › "
CHECKPOINTS = ".ipynb_checkpoints"
"""Where Jupyter keeps a copy of what it opens."""
MAX_NESTED = 64 << 20
"""An archive inside an archive is read into memory."""
_LONGEST_LINE = 1 << 16


@dataclass(frozen=True, eq=False)
class Entry:
    """A file or folder: on disk, or in an archive."""

    name: str
    label: str
    """Where it lies, as a person would look for it."""
    kind: str
    """`folder`, nothing for a file, or why it is not read."""
    spot: SafePath | None = None
    """Where it lies on disk; None in an archive."""
    members: tuple[Member, ...] = ()
    depth: int = 0
    size: int = 0

    @property
    def is_folder(self) -> bool:
        """Whether it is a folder, on disk or in an archive."""
        return self.kind == "folder"

    def children(self, most: int | None = None, *, checkpoints: bool = False) -> list[Entry]:
        """Return what lies in this folder, without what is ignored, in natural order.

        Args:
            most: on disk, no more entries than these are looked at.
            checkpoints: the folder with Jupyter's copies is one of them.

        Raises:
            OSError: it cannot be opened.
        """
        found = self._on_disk(self.spot, most) if self.spot is not None else self._in_archive()
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
                Entry(one.name, self._below(one.name), kind, folder / one.name, size=size)
                for one in islice(found, most)
                for kind, size in [_looked_at(one)]
            ]

    def _in_archive(self) -> list[Entry]:
        files: list[Entry] = []
        folders: dict[str, list[Member]] = defaultdict(list)
        for member in self.members:
            name = member.parts[self.depth]
            if len(member.parts) > self.depth + 1:
                folders[name].append(member)
            else:
                problem = member.problem or ""
                files.append(Entry(name, self._below(name), problem, members=(member,), size=member.size))
        below = [
            Entry(name, self._below(name), "folder", members=tuple(members), depth=self.depth + 1)
            for name, members in folders.items()
        ]
        return files + below

    def opened(self, scale: int) -> Entry:
        """Return an archive as a folder; UnreadableSubmission where it cannot be opened.

        Args:
            scale: how many times larger than a learner's archive it may be.
        """
        source = self.spot if self.spot is not None else self.read(4 * MAX_NESTED)
        members = open_archive(source, self.name, scale=scale)
        return Entry(self.name, f"{self.label}{ARROW}", "folder", members=tuple(members))

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
        if self.kind:
            raise UnreadableSubmission(self.kind)
        return read_file(self.spot, limit) if self.spot is not None else self.members[0].read(limit)

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
