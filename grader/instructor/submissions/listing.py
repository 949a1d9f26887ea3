"""Everything one learner handed in, as a flat list of files that are read when they are needed."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from grader.data_files import UnreadableSubmission
from grader.instructor.submissions.archives import UnpackingBudget, opened
from grader.instructor.submissions.entry import CHECKPOINTS, Entry
from grader.instructor.submissions.git_time import Repositories
from grader.instructor.submissions.names import archive_stem, foreign_archive
from grader.learner.workspace import PROGRESS_FILE

MAX_FILES = 20_000
MAX_DEPTH = 64
MAX_ARCHIVES = 20
MAX_LEARNER = 128 << 20
"""Bytes that are read of one learner, all katas together."""
NESTING = 2
"""An archive may lie in an archive; no deeper."""


@dataclass
class Listing:
    """A learner's files, and the places that could not be looked into."""

    files: list[Entry] = field(default_factory=list)
    spare: list[Entry] = field(default_factory=list)
    """Files that nothing is answered with unless somebody says so: of earlier attempts, and Jupyter's copies."""
    closed: list[str] = field(default_factory=list)
    """Sentences on places that may hold anything: an archive that does not open, a folder without permission."""
    denied: list[str] = field(default_factory=list)
    """Those of them that this machine's permissions keep closed: no learner's fault."""
    places: dict[Entry, Entry] = field(default_factory=dict)
    """For every file what it was found in: the folder or file that a layout gave to the learner."""
    of_system: set[Entry] = field(default_factory=set)
    """Files that a system wrote, not the learner."""
    repositories: Repositories = field(default_factory=Repositories)
    _spaces: int = 0
    _archives: int = 0
    _entries: int = 0
    _read: dict[Entry, bytes] = field(default_factory=dict)
    _room: UnpackingBudget = field(default_factory=UnpackingBudget)

    def new_space(self) -> int:
        """Return a number for the files of one more folder or archive."""
        self._spaces += 1
        return self._spaces

    def read(self, file: Entry, limit: int) -> bytes:
        """Return the content, read once.

        Raises:
            UnreadableSubmission: it cannot be read, it is larger than `limit`, or the learner has too much together.
        """
        if file.kind:
            raise UnreadableSubmission(file.kind)
        if file not in self._read:
            left = MAX_LEARNER - sum(map(len, self._read.values()))
            if file.size > left:
                raise UnreadableSubmission(
                    f"was not read: more than {MAX_LEARNER >> 20} MB of this learner's files were read before it"
                )
            # Kept: whether it is the answer, a sheet or a file next to one is looked up one after the other.
            self._read[file] = file.read(min(limit, left))
        if len(self._read[file]) > limit:
            raise UnreadableSubmission(f"is larger than {limit >> 20} MB, which is the most that is read")
        return self._read[file]

    def add(self, entry: Entry, space: int) -> None:
        """Take in what a layout gave to the learner: a folder with all below it, or a file.

        Args:
            entry: the file or folder.
            space: the same for what one folder or archive holds.
        """
        if entry.is_folder:
            self._add_folder(entry, 0, entry.around)
        elif entry.in_place_of_folder:
            self.closed.append(f"{entry.label} {entry.kind}")
        else:
            self._add_file(replace(entry, path=(*entry.around, entry.name), space=space), 0)

    def add_spare(self, entry: Entry, space: int) -> None:
        """Take in what is left out, and may be taken by somebody's decision; what does not open matters to nobody."""
        files, closed, denied = len(self.files), len(self.closed), len(self.denied)
        self.add(entry, space)
        self.spare += self.files[files:]
        # Listed by the same code, then moved: what is spare must meet the same bounds.
        del self.files[files:], self.closed[closed:], self.denied[denied:]

    def _add_file(self, file: Entry, depth: int) -> None:
        """Take in a file, or what is in it when it is an archive; `depth` archives are around it."""
        if self._full(file.label):
            return
        if archive_stem(file.name) is None and foreign_archive(file.name) is None:
            self.files.append(file)
            return
        reason = file.kind
        if not reason and depth >= NESTING:
            reason = "is an archive inside an archive inside an archive; only one level of nesting is read"
        # Their number is bounded as well: each is opened and gone through, however little is in it.
        elif not reason and self._archives >= MAX_ARCHIVES:
            reason = f"was not opened: at most {MAX_ARCHIVES} archives of a learner are opened"
        if not reason:
            self._archives += 1
            try:
                inside = opened(file, room=self._room)
            except UnreadableSubmission as refused:
                reason = str(refused)
            else:
                self._add_folder(inside, depth + 1)
                return
        self.closed.append(f"{file.label} {reason}")

    def _add_folder(self, top: Entry, depth: int, around: tuple[str, ...] = ()) -> None:
        """Take in everything below a folder, in `depth` archives; links are named, never followed."""
        space = self.new_space()
        pending: list[tuple[tuple[str, ...], Entry]] = [(around, top)]
        while pending:
            parts, folder = pending.pop()
            try:
                entries = folder.children(MAX_FILES + 1, checkpoints=True)
            except PermissionError:
                self.add_denied(folder.label)
                continue
            except OSError as error:
                self.closed.append(f"{folder.label} cannot be opened: {error.strerror or error}")
                continue
            names = {entry.name for entry in entries}
            if "pyvenv.cfg" in names and (parts != around or depth):
                continue  # a virtual environment, whatever it is called
            for entry in entries:
                if self._entries > MAX_FILES:
                    return
                below = (*parts, entry.name)
                kind = entry.kind
                if entry.is_folder:
                    if entry.name == "backups" and PROGRESS_FILE in names:
                        continue  # `kata reset` keeps there what it replaces
                    # Deeper paths are longer than the system takes, and nobody works there.
                    if len(below) > MAX_DEPTH:
                        self.closed.append(f"{folder.label} is nested too deep and was not opened")
                        continue
                    if self._full(folder.label):
                        return
                    pending.append((below, entry))
                    # A folder called like an answer is named in the notes: somebody will look for it.
                    if not entry.name.casefold().endswith((".py", ".ipynb")):
                        continue
                    kind = "is a folder; a file was expected"
                file = replace(entry, kind=kind, path=below, space=space)
                # Jupyter's copies are older than what lies outside of them.
                if CHECKPOINTS in below:
                    self.spare.append(file)
                else:
                    self._add_file(file, depth)

    def add_denied(self, origin: str) -> None:
        """Note a place that may hold anything, and that this machine's permissions keep closed."""
        self.closed.append(f"{origin} cannot be opened: permission denied")
        self.denied.append(self.closed[-1])

    def _full(self, origin: str) -> bool:
        self._entries += 1
        if self._entries == MAX_FILES + 1:
            self.closed.append(f"{origin}: more than {MAX_FILES} files; the rest was not looked at")
        return self._entries > MAX_FILES
