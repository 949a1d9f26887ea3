"""Everything one learner handed in, as a flat list of files that are read when they are needed."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import islice

from grader.submissions.archives import Member, NotRead, UnpackingBudget, open_archive, read_file
from grader.submissions.names import archive_stem, foreign_archive, ignored_file, ignored_folder
from grader.submissions.spot import Spot
from grader.workspace import PROGRESS_FILE

MAX_FILES = 20_000
MAX_DEPTH = 40
MAX_ARCHIVES = 20
MAX_NESTED = 64 << 20
"""An archive inside an archive is read into memory."""
MAX_LEARNER = 128 << 20
"""Bytes that are read of one learner, all katas together."""
NESTING = 2
"""An archive may lie in an archive; no deeper."""

ARROW = " › "


@dataclass(frozen=True, eq=False)
class File:
    """One file of a learner."""

    parts: tuple[str, ...]
    """The path within its place, under the name that it had before any system renamed it."""
    origin: str
    """Where it lies, as a person would look for it."""
    space: int
    """Files of one folder or one archive share it: only these can lie beside each other."""
    size: int
    fetch: Callable[[int], bytes]
    problem: str | None = None
    """Why it is never read, as the end of `NAME …`."""
    spot: Spot | None = None
    """Where it lies on disk, if it does so by itself."""

    @property
    def name(self) -> str:
        """The last part."""
        return self.parts[-1]

    @property
    def folder(self) -> tuple[str, ...]:
        """All parts but the last."""
        return self.parts[:-1]


@dataclass
class Listing:
    """A learner's files, and the places that could not be looked into."""

    files: list[File] = field(default_factory=list)
    closed: list[str] = field(default_factory=list)
    """Sentences on places that may hold anything: an archive that does not open, a folder without permission."""
    denied: list[str] = field(default_factory=list)
    """Those of them that this machine's permissions keep closed: no learner's fault."""
    notes: list[str] = field(default_factory=list)
    of_system: set[File] = field(default_factory=set)
    """Files that a system wrote beside the learner's."""
    _spaces: int = 0
    _archives: int = 0
    _entries: int = 0
    _read: dict[File, bytes] = field(default_factory=dict)
    _total: int = 0
    _room: UnpackingBudget = field(default_factory=UnpackingBudget)

    def new_space(self) -> int:
        """Return a number for the files of one more folder or archive."""
        self._spaces += 1
        return self._spaces

    def read(self, file: File, limit: int) -> bytes:
        """Return the content, read once.

        Raises:
            Refused: it cannot be read, it is larger than `limit`, or the learner's files are too much together.
        """
        if file.problem is not None:
            raise NotRead(file.problem)
        if file not in self._read:
            left = MAX_LEARNER - self._total
            if file.size > left:
                raise NotRead(
                    f"was not read: more than {MAX_LEARNER >> 20} MB of this learner's files were read before it"
                )
            self._read[file] = file.fetch(min(limit, left))
            self._total += len(self._read[file])
        if len(self._read[file]) > limit:
            raise NotRead(f"is larger than {limit >> 20} MB, which is the most that is read")
        return self._read[file]

    def add(self, file: File, depth: int) -> None:
        """Take in a file, or what is in it when it is an archive; `depth` archives are around it."""
        if self._full(file.origin):
            return
        stem = archive_stem(file.name)
        if stem is None and foreign_archive(file.name) is None:
            self.files.append(file)
            return
        reason = file.problem
        if reason is None and stem is None:
            reason = "is an archive of an unsupported kind: hand in a .zip or .tar.gz"
        elif reason is None and depth >= NESTING:
            reason = "is an archive inside an archive inside an archive; only one level of nesting is read"
        elif reason is None and self._archives >= MAX_ARCHIVES:
            reason = f"was not opened: at most {MAX_ARCHIVES} archives of a learner are opened"
        if reason is None:
            self._archives += 1
            try:
                source = file.spot if file.spot is not None else file.fetch(MAX_NESTED)
                members = open_archive(source, file.name, room=self._room)
            except NotRead as refused:
                reason = str(refused)
            else:
                self.add_members(members, f"{file.origin}{ARROW}", depth + 1)
                return
        self.closed.append(f"{file.origin} {reason}")

    def add_members(self, members: Iterable[Member], label: str, depth: int, strip: int = 0) -> None:
        """Take in the files of an archive, without the first `strip` parts of their names."""
        members = list(members)
        space = self.new_space()
        environments = {member.parts[:-1] for member in members if member.parts[-1] == "pyvenv.cfg"}
        for member in members:
            folders = member.parts[:-1]
            around = [folders[:length] for length in range(len(folders) + 1)]
            if any(ignored_folder(part) for part in folders) or ignored_file(member.parts[-1]):
                continue
            if any(place in environments for place in around):
                continue
            parts = member.parts[strip:]
            origin = label + "/".join(parts)
            self.add(File(parts, origin, space, member.size, member.read, member.problem), depth)

    def add_folder(self, folder: Spot, label: str) -> None:
        """Take in everything below a folder on disk; links are named, never followed."""
        space = self.new_space()
        pending: list[tuple[str, ...]] = [()]
        while pending:
            parts = pending.pop()
            spot = Spot(folder.root, (*folder.names, *parts))
            origin = "/".join((label, *parts))
            try:
                with spot.entries() as found:
                    some = sorted(islice(found, MAX_FILES + 1), key=lambda entry: entry.name)
                    entries = [_Seen(entry.name, *_looked_at(entry)) for entry in some]
            except OSError as error:
                if isinstance(error, PermissionError):
                    self.deny(origin, error)
                else:
                    self.closed.append(f"{origin} cannot be opened: {error.strerror or error}")
                continue
            names = {entry.name for entry in entries}
            if "pyvenv.cfg" in names and parts:
                continue
            for entry in entries:
                if self._entries > MAX_FILES:
                    return
                below = (*parts, entry.name)
                kind = entry.kind
                if kind == "folder":
                    # `kata reset` keeps there what it replaces.
                    backups = entry.name == "backups" and PROGRESS_FILE in names
                    if ignored_folder(entry.name) or backups:
                        continue
                    if len(below) > MAX_DEPTH:
                        self.closed.append(f"{origin} is nested too deep and was not opened")
                        continue
                    if self._full(origin):
                        return
                    pending.append(below)
                    if not entry.name.casefold().endswith((".py", ".ipynb")):
                        continue
                    kind = "is a folder; a file was expected"
                if ignored_file(entry.name):
                    continue
                self.add(_on_disk(spot / entry.name, below, origin, space, kind, entry.size), 0)

    def deny(self, origin: str, error: OSError) -> None:
        """Note a place that may hold anything, and that this machine's permissions keep closed."""
        self.closed.append(f"{origin} cannot be opened: permission denied")
        self.denied.append(self.closed[-1])

    def _full(self, origin: str) -> bool:
        self._entries += 1
        if self._entries == MAX_FILES + 1:
            self.closed.append(f"{origin}: more than {MAX_FILES} files; the rest was not looked at")
        return self._entries > MAX_FILES


def disk_file(spot: Spot, parts: tuple[str, ...], folder: str, space: int, problem: str = "") -> File:
    """Return a file on disk, seen in `folder`; it is opened when it is read."""
    try:
        size = os.lstat(os.path.join(spot.root, *spot.names)).st_size
    except OSError as error:
        size, problem = 0, problem or f"cannot be read: {error.strerror or error}"
    return _on_disk(spot, parts, folder, space, problem, size)


def _on_disk(spot: Spot, parts: tuple[str, ...], folder: str, space: int, problem: str, size: int) -> File:
    origin = f"{folder}/{parts[-1]}" if folder else parts[-1]
    return File(parts, origin, space, size, lambda limit: read_file(spot, limit), problem or None, spot)


@dataclass(frozen=True, slots=True)
class _Seen:
    """What a folder holds, as it was while the folder was open."""

    name: str
    kind: str
    size: int


def _looked_at(entry: os.DirEntry[str]) -> tuple[str, int]:
    kind = entry_kind(entry)
    try:
        return kind, entry.stat(follow_symlinks=False).st_size
    except OSError:
        return kind, 0


def entry_kind(entry: os.DirEntry[str]) -> str:
    """Return `folder`, nothing for a file, or why it is not read."""
    try:
        mode = entry.stat(follow_symlinks=False).st_mode
    except OSError as error:
        return f"cannot be read: {error.strerror or error}"
    if stat.S_ISDIR(mode):
        return "folder"
    if stat.S_ISLNK(mode):
        return "is a symbolic link; links are not followed"
    return "" if stat.S_ISREG(mode) else "is not a regular file"
