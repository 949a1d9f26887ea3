"""What lies at the top of a hand-in: files and folders, on disk or in the archive of a whole class."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime

from grader.submissions.archives import Member, NotRead, read_file
from grader.submissions.listing import ARROW, File, Listing, disk_file, entry_kind
from grader.submissions.names import ignored_file, ignored_folder, natural_key
from grader.submissions.spot import Spot


@dataclass(frozen=True, eq=False)
class Entry:
    """A file or folder at the top of what was handed in: on disk, or in the archive of a whole class."""

    name: str
    label: str
    """Where it lies, for people."""
    kind: str
    """`folder`, nothing for a file, or why it is not read."""
    spot: Spot | None = None
    """Where it lies on disk; None in an archive."""
    members: tuple[Member, ...] = ()
    depth: int = 0

    def children(self) -> list[Entry]:
        """Return what lies in this folder, without what is ignored, in natural order.

        Raises:
            OSError: it cannot be opened.
        """
        found = self._on_disk(self.spot) if self.spot is not None else self._in_archive()
        kept = [
            entry
            for entry in found
            if not (ignored_folder(entry.name) if entry.kind == "folder" else ignored_file(entry.name))
        ]
        return sorted(kept, key=lambda entry: natural_key(entry.name))

    def _on_disk(self, folder: Spot) -> list[Entry]:
        with folder.entries() as found:
            return [Entry(e.name, self._below(e.name), entry_kind(e), folder / e.name) for e in found]

    def _in_archive(self) -> list[Entry]:
        files: list[Entry] = []
        folders: dict[str, list[Member]] = defaultdict(list)
        for member in self.members:
            name = member.parts[self.depth]
            if len(member.parts) > self.depth + 1:
                folders[name].append(member)
            else:
                files.append(Entry(name, self._below(name), member.problem or "", members=(member,)))
        below = [
            Entry(name, self._below(name), "folder", members=tuple(members), depth=self.depth + 1)
            for name, members in folders.items()
        ]
        return files + below

    def _below(self, name: str) -> str:
        if not self.label:
            return name
        return f"{self.label}{name}" if self.label.endswith(ARROW) else f"{self.label}/{name}"

    @property
    def in_place_of_folder(self) -> bool:
        """Whether this is no file and no folder, and a learner's folder may be meant: a link to one, say."""
        if not self.kind or self.kind == "folder":
            return False
        without_ending = re.search(r"\.[A-Za-z0-9]{1,5}$", self.name) is None
        return without_ending or (self.spot is not None and self.spot.is_folder())

    def read(self, limit: int) -> bytes:
        """Return a file's content; Refused when it is larger or cannot be read."""
        if self.kind:
            raise NotRead(self.kind)
        return read_file(self.spot, limit) if self.spot is not None else self.members[0].read(limit)

    def collect(self, listing: Listing, name: str, space: int) -> None:
        """Put the learner's files into the listing; a file is called `name` there."""
        if self.kind == "folder" and self.spot is not None:
            listing.add_folder(self.spot, self.label)
        elif self.kind == "folder":
            listing.add_members(self.members, self._below(""), 0, self.depth)
        elif self.in_place_of_folder:
            listing.closed.append(f"{self.label} {self.kind}")
        elif self.spot is not None:
            file = disk_file(self.spot, (name,), "", space, self.kind)
            listing.add(
                File(file.parts, self.label, space, file.size, file.fetch, file.problem, file.spot), 0
            )
        else:
            member = self.members[0]
            listing.add(File((name,), self.label, space, member.size, member.read, member.problem), 0)


@dataclass(frozen=True, eq=False)
class Place:
    """Where work of a learner lies."""

    entry: Entry
    original: str | None = None
    """A file's name before a system renamed it."""
    submitted_at: datetime | None = None
    """Without a zone where the system names none."""
    time_source: str | None = None
    """Who says so."""
