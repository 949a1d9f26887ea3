"""The class as a list of learners: a cheap scan first, each learner's files only when they are asked for."""

from __future__ import annotations

import io
import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Literal

from grader.catalogue import SUBMISSION_SUFFIXES, Kata
from grader.errors import UsageError
from grader.submissions import metadata
from grader.submissions.archives import BULK, Member, Refused, open_archive, read_file
from grader.submissions.choose import Missing, choose, looks_like_one
from grader.submissions.listing import ARROW, File, Listing, disk_file, kind_of
from grader.submissions.model import Submission
from grader.submissions.names import (
    Renamed,
    archive_stem,
    blackboard,
    canvas,
    foreign_archive,
    ignored_file,
    ignored_folder,
    learner_name,
    moodle,
    natural,
    printable,
    short_digest,
)
from grader.workspace import PROGRESS_FILE

LAYOUTS = (
    "Expected a folder or an archive with one folder or one .zip or .tar.gz per learner, nbgrader's course folder, "
    "or a bulk download of Canvas, Moodle, Gradescope or Blackboard."
)

_METADATA = "submission_metadata.yml"
_MAX_METADATA = 256 << 20
_NBGRADER = frozenset({"nbgrader_config.py", "source", "release", "autograded", "gradebook.db"})
_KNOWN = frozenset(
    {_METADATA, "course.toml", "gradebook.sqlite", "gradebook.sqlite-wal", "gradebook.sqlite-shm"}
)


@dataclass(frozen=True, eq=False)
class Entry:
    """A file or folder at the top of what was handed in: on disk, or in the archive of a whole class."""

    name: str
    label: str
    """Where it lies, for people."""
    kind: str
    """`folder`, nothing for a file, or why it is not read."""
    path: str | None = None
    """As text: a `Path` would keep its parts as well, for every learner of the class."""
    members: tuple[Member, ...] = ()
    depth: int = 0

    def children(self) -> list[Entry]:
        """Return what lies in this folder, without what is ignored, in natural order.

        Raises:
            OSError: it cannot be opened.
        """
        found = self._on_disk(self.path) if self.path is not None else self._in_archive()
        kept = [
            entry
            for entry in found
            if not (ignored_folder(entry.name) if entry.kind == "folder" else ignored_file(entry.name))
        ]
        return sorted(kept, key=lambda entry: natural(entry.name))

    def _on_disk(self, folder: str) -> list[Entry]:
        with os.scandir(folder) as found:
            return [Entry(e.name, self._below(e.name), kind_of(e), e.path) for e in found]

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
        return without_ending or (self.path is not None and os.path.isdir(self.path))

    def read(self, limit: int) -> bytes:
        """Return a file's content; Refused when it is larger or cannot be read."""
        if self.kind:
            raise Refused(self.kind)
        return read_file(Path(self.path), limit) if self.path is not None else self.members[0].read(limit)

    def collect(self, listing: Listing, name: str, space: int) -> None:
        """Put the learner's files into the listing; a file is called `name` there."""
        if self.kind == "folder" and self.path is not None:
            listing.add_folder(Path(self.path), self.label)
        elif self.kind == "folder":
            listing.add_members(self.members, self._below(""), 0, self.depth)
        elif self.in_place_of_folder:
            listing.closed.append(f"{self.label} {self.kind}")
        elif self.path is not None:
            file = disk_file(Path(self.path), (name,), "", space, self.kind)
            listing.add(
                File(file.parts, self.label, space, file.size, file.fetch, file.problem, file.path), 0
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


@dataclass(frozen=True, eq=False)
class LearnerFolder:
    """One learner and the places where their work lies; nothing is opened before `submissions`."""

    learner: str
    """The identity in the gradebook: unique in its class, printable, one line, no slashes, at most 140 characters."""
    places: tuple[Place, ...] = ()
    notes: tuple[str, ...] = ()
    """What the instructor should know of this learner; every submission carries it too."""
    ids: dict[str, str] = field(default_factory=dict)
    """What the layout tells beyond the identity, for exports: `canvas`, `moodle`, `blackboard`, `gradescope` (their
    own numbers and names), `name`, `email`, `sid`."""
    nbgrader: bool = False
    """Whether `timestamp.txt` is the system's word."""

    def submissions(self, katas: Sequence[Kata]) -> list[Submission]:
        """Return one submission for each of `katas`, in their order: found, missing or error. Never raises."""
        listing, owners = self._listing()
        return [self._submission(kata, listing, owners) for kata in katas]

    def holds_any(self, katas: Sequence[Kata]) -> bool:
        """Whether a file is named like one of `katas`, or something there cannot be looked into."""
        listing, _ = self._listing()
        modules = [kata.module for kata in katas]
        return bool(listing.closed) or any(looks_like_one(file.name, modules) for file in listing.files)

    def file_names(self) -> list[str]:
        """Return the names of the files there."""
        return [file.name for file in self._listing()[0].files]

    def _listing(self) -> tuple[Listing, dict[File, Place]]:
        listing = Listing()
        owners: dict[File, Place] = {}
        space = listing.new_space()  # files that a system laid flat belong beside each other again
        for place in self.places:
            known = len(listing.files)
            try:
                place.entry.collect(listing, place.original or place.entry.name, space)
            except Exception as error:
                listing.closed.append(f"{place.entry.label} cannot be looked into ({type(error).__name__})")
            owners.update(dict.fromkeys(listing.files[known:], place))
        return listing, owners

    def _submission(self, kata: Kata, listing: Listing, owners: dict[File, Place]) -> Submission:
        try:
            chosen = choose(kata, listing)
        except Missing as missing:
            if not listing.closed:
                return self._without(kata, "missing", str(missing))
            return self._without(kata, "error", f"{missing}; {'; '.join(listing.closed[:3])}")
        except Refused as refused:
            return self._without(kata, "error", str(refused))
        except Exception as error:
            # One learner's files never end a class's grading; what it was is named for whoever looks.
            return self._without(kata, "error", f"{kata.module} cannot be read ({type(error).__name__}).")
        notes = dict.fromkeys((*self.notes, *chosen.notes, *listing.closed[:5]))
        return Submission(
            learner=self.learner,
            kata=kata.slug,
            bundle=chosen.bundle,
            origin=printable(chosen.file.origin),
            submitted_at=self._time(chosen.file, listing, owners[chosen.file]),
            notes=tuple(printable(note) for note in notes),
        )

    def _without(self, kata: Kata, status: Literal["missing", "error"], message: str) -> Submission:
        sentence = printable(message if message.endswith(("?", ".")) else f"{message}.")
        return Submission(
            learner=self.learner,
            kata=kata.slug,
            status=status,
            message=f"T{sentence[1:]}" if sentence.startswith("there is no") else sentence,
            notes=tuple(printable(note) for note in self.notes),
        )

    def _time(self, file: File, listing: Listing, place: Place) -> datetime | None:
        if not self.nbgrader:
            return place.submitted_at
        # The system's own lies in the assignment's folder; one in an archive or deeper is the learner's.
        label = place.entry.label
        assignment = file.origin.removeprefix(f"{label}/").split("/")[0]
        for other in listing.files:
            if (
                other.parts == (assignment, "timestamp.txt")
                and other.origin == f"{label}/{assignment}/timestamp.txt"
            ):
                try:
                    return metadata.nbgrader_time(listing.read(other, 4096).decode("utf-8", "replace"))
                except Refused:
                    return None
        return None


@dataclass(frozen=True, eq=False)
class Scan:
    """What a class handed in: every learner, in natural order, and what belongs to nobody."""

    learners: tuple[LearnerFolder, ...]
    layout: str
    """`folders`, `nbgrader`, `canvas`, `moodle`, `gradescope`, `blackboard` or `one learner`."""
    notes: tuple[str, ...] = ()
    """What the instructor should know before grading starts: files at the top that belong to no learner."""


def find_learners(root: Path, katas: Sequence[Kata]) -> Scan:
    """Return the learners in `root`: a folder in one of the known layouts, or an archive of one.

    Raises:
        UsageError: nothing there, no archive, empty, or no file in it is named like one of `katas`.
    """
    top, name = _top(root)
    try:
        scan = _scan(top, name, katas)
    except OSError as error:
        raise UsageError(f"{root}: cannot be opened ({error.strerror or error}).", LAYOUTS) from error
    if not scan.learners:
        loose = f" ({scan.notes[0]})" if scan.notes else ""
        raise UsageError(f"{root}: no learner's work is in there{loose}.", LAYOUTS)
    if not any(learner.holds_any(katas) for learner in scan.learners):
        raise UsageError(
            f"{root}: none of its {len(scan.learners)} learners has a file of the katas that are graded. {_seen(scan)}",
            f"Expected files are called {_some([kata.module + '.py' for kata in katas], 12)}, or the same with .ipynb.",
        )
    return scan


def _top(root: Path) -> tuple[Entry, str]:
    """Return the folder or archive as one entry, and the name that a single learner in it would have."""
    shown = printable(str(root))
    if not os.path.lexists(root):
        raise UsageError(f"{shown}: there is no such file or folder.", LAYOUTS)
    if root.is_dir():
        return Entry(root.name, "", "folder", os.fspath(root)), root.resolve().name
    stem = archive_stem(root.name)
    if stem is None:
        if root.suffix in SUBMISSION_SUFFIXES:
            raise UsageError(
                f"{shown} is one file, not a class.", f"To check it by itself: kata check {shown}"
            )
        kind = (
            "an archive of a kind that is not read"
            if foreign_archive(root.name)
            else "no folder and no archive"
        )
        raise UsageError(f"{shown} is {kind}.", LAYOUTS)
    try:
        members = open_archive(root.resolve(), root.name, scale=BULK)
    except Refused as refused:
        raise UsageError(f"{shown} {refused}.", LAYOUTS) from None
    return Entry(root.name, f"{root.name}{ARROW}", "folder", members=tuple(members)), stem


def _scan(top: Entry, name: str, katas: Sequence[Kata]) -> Scan:
    nbgrader = top.name == "submitted"
    children = top.children()
    for _ in range(3):
        if _is_one_learner(children, katas):
            top = replace(top, label=top.label or name)
            learner = LearnerFolder(learner_name(name), (Place(top),))
            return Scan((learner,), "one learner", ())
        folders = [child for child in children if child.kind == "folder"]
        submitted = next((child for child in folders if child.name == "submitted"), None)
        if submitted and (len(folders) == 1 or not _NBGRADER.isdisjoint(child.name for child in children)):
            top, nbgrader = submitted, True
        elif len(folders) == 1 and _is_wrapper(folders[0], children, name):
            top = folders[0]
        else:
            break
        children = top.children()
    return _Class(children, nbgrader).scan()


def _is_one_learner(children: list[Entry], katas: Sequence[Kata]) -> bool:
    """Whether the top holds one learner's work: a workspace, folders of units and katas, or modules alone."""
    if any(child.name == PROGRESS_FILE for child in children):
        return True
    every = {other.slug: other for kata in katas for other in kata.unit.pack.katas}.values()
    known = {
        name.casefold() for kata in every for name in (kata.slug, kata.unit.folder.name, kata.unit.number)
    }
    folders = [child for child in children if child.kind == "folder"]
    files = [child for child in children if child.kind != "folder"]
    if any(_of_a_learner(file.name) for file in files):
        return False
    if folders:
        return all(folder.name.casefold() in known for folder in folders)
    return any(looks_like_one(file.name, [kata.module for kata in every]) for file in files)


def _of_a_learner(name: str) -> bool:
    return any((moodle(name), blackboard(name), canvas(name), archive_stem(name), foreign_archive(name)))


def _is_wrapper(folder: Entry, children: list[Entry], name: str) -> bool:
    """Whether the only folder at the top is the class's, as zipping a folder or a system's export makes it."""
    if any(_of_a_learner(child.name) for child in children) or _system_folder(folder.name):
        return False
    if folder.name.casefold() in {"submissions", "handins"}:
        return True
    if folder.members and folder.name == name:
        return True
    below = folder.children()
    return any(child.name == _METADATA for child in below) or any(
        _system_folder(child.name) for child in below
    )


def _system_folder(name: str) -> bool:
    return moodle(name) is not None or re.fullmatch(r"submission_\d+", name) is not None


@dataclass
class _Claim:
    """Somebody's work: who, and where."""

    name: str
    suffix: str
    """What tells them from others of the same name."""
    places: list[Place] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    ids: dict[str, str] = field(default_factory=dict)


class _Class:
    """Sorts what lies at the top by learner."""

    def __init__(self, children: list[Entry], nbgrader: bool) -> None:
        self._children = children
        self._nbgrader = nbgrader
        self._claims: dict[tuple[str, str], _Claim] = {}
        self._notes: list[str] = []
        self._layout = "nbgrader" if nbgrader else "folders"

    def scan(self) -> Scan:
        """Return the learners."""
        left = self._renamed(self._gradescope(self._children))
        loose: list[Entry] = []
        for entry in left:
            stem: str | None = entry.name
            if entry.kind != "folder" and not entry.in_place_of_folder:
                stem = archive_stem(entry.name) or foreign_archive(entry.name)
            if stem is not None:
                self._claim("name", stem, stem, short_digest(stem)).places.append(Place(entry))
            elif entry.name not in _KNOWN:
                loose.append(entry)
        if loose:
            number = f"{len(loose)} files lie" if len(loose) > 1 else "1 file lies"
            names = _some([entry.name for entry in loose], 8)
            self._notes.append(f"{number} at the top and belong to no learner: {names}")
        for (kind, _), claim in self._claims.items():
            if kind == "name" and len(claim.places) > 1:
                labels = " and ".join(place.entry.label for place in claim.places)
                claim.notes.append(f"handed in more than once, read together: {labels}")
        learners = [
            LearnerFolder(
                learner,
                tuple(claim.places),
                tuple(printable(note) for note in claim.notes),
                {key: printable(value) for key, value in claim.ids.items()},
                self._nbgrader,
            )
            for learner, claim in self._named()
        ]
        learners.sort(key=lambda folder: natural(folder.learner))
        return Scan(tuple(learners), self._layout, tuple(printable(note) for note in self._notes))

    def _claim(self, kind: str, key: str, name: str, suffix: str) -> _Claim:
        return self._claims.setdefault((kind, key), _Claim(name, suffix))

    def _gradescope(self, children: list[Entry]) -> list[Entry]:
        """Take `submission_N` folders, named by the metadata beside them; return the rest."""
        folders = [e for e in children if e.kind == "folder" and re.fullmatch(r"submission_\d+", e.name)]
        described = next((child for child in children if child.name == _METADATA), None)
        if not folders or (described is None and len(folders) < len(children)):
            return children
        self._layout = "gradescope"
        known: dict[str, metadata.Handin] = {}
        if described is None:
            self._notes.append(
                f"{_METADATA} is not there: the learners are called by their submissions' numbers"
            )
        else:
            try:
                known = metadata.gradescope(_lines(described))
            except (Refused, OSError) as error:
                self._notes.append(
                    f"{_METADATA} cannot be read ({error}): learners are called by submission numbers"
                )
        for entry in folders:
            handin = known.get(entry.name, metadata.Handin())
            who = [person for person in handin.submitters if person]
            for person in who or [{}]:
                identity = person.get("email") or person.get("sid") or person.get("name") or entry.name
                claim = self._claim("gradescope", identity, identity, entry.name)
                claim.places.append(Place(entry, submitted_at=handin.created_at))
                claim.ids.update({**person, "gradescope": entry.name})
                others = [
                    other.get("name") or other.get("email", "?") for other in who if other is not person
                ]
                if others:
                    claim.notes.append(f"handed in together with {', '.join(others)}")
                if not person and known:
                    claim.notes.append(f"{_METADATA} does not say who handed in {entry.name}")
                if len(claim.places) > 1:
                    claim.notes.append(f"handed in more than once, read together: {entry.name} is one")
        taken = {*folders, described}
        return [entry for entry in children if entry not in taken]

    def _renamed(self, children: list[Entry]) -> list[Entry]:
        """Take what Moodle, Blackboard and Canvas named; return the rest."""
        files = [entry for entry in children if entry.kind != "folder"]
        users = _blackboard_users(files)
        parsed: dict[Entry, Renamed] = {}
        for entry in children:
            made = moodle(entry.name)
            if made is None and entry.kind != "folder":
                made = blackboard(entry.name, users)
            if made is not None:
                parsed[entry] = made
        parsed.update(_canvas([entry for entry in files if entry not in parsed]))
        together: dict[tuple[str, str], list[Entry]] = defaultdict(list)
        for entry, made in parsed.items():
            self._layout = made.system
            together[made.system, made.key].append(entry)
        for (system, key), entries in together.items():
            who = parsed[entries[0]]
            claim = self._claim(system, key, who.learner, key)
            claim.ids[system] = key
            if system == "blackboard":
                entries = _newest_attempt(entries, parsed, claim)
            elif system == "canvas":
                entries = _newest_files(entries, parsed, claim)
            for entry in entries:
                made = parsed[entry]
                time = metadata.blackboard_time(made.number) if system == "blackboard" else None
                if made.original is not None or entry.kind == "folder" or system != "blackboard":
                    claim.places.append(Place(entry, made.original, time))
        return [entry for entry in children if entry not in parsed]

    def _named(self) -> Iterable[tuple[str, _Claim]]:
        """Return every claim with its identity: unique, and the same whoever else is in the class if that can be."""
        wanted: dict[str, list[_Claim]] = defaultdict(list)
        for claim in self._claims.values():
            wanted[learner_name(claim.name)].append(claim)
        named: dict[str, _Claim] = {}
        doubtful: list[tuple[str, _Claim]] = []
        for name, claims in wanted.items():
            plain = [claim for claim in claims if claim.name == name]
            for claim in claims:
                if len(claims) == 1 or (len(plain) == 1 and claim is plain[0]):
                    named[name] = claim
                else:
                    doubtful.append((name, claim))
                if len(claims) > 1:
                    claim.notes.append(
                        f"{len(claims)} learners are called {name}; this is {claim.places[0].entry.label}"
                    )
        for name, claim in doubtful:
            identity = f"{name} ({learner_name(claim.suffix)[:60]})"
            while identity in named:
                identity = f"{name} ({short_digest(identity)})"
            named[identity] = claim
        for claim in named.values():
            if learner_name(claim.name) != claim.name:
                claim.notes.append(f"the name stands for {claim.name[:400]!r}")
        folded = Counter(name.casefold() for name in named)
        for name, claim in named.items():
            if folded[name.casefold()] > 1:
                twins = [other for other in named if other != name and other.casefold() == name.casefold()]
                claim.notes.append(f"another learner's name differs in case only: {', '.join(twins[:3])}")
        return named.items()


def _canvas(files: list[Entry]) -> dict[Entry, Renamed]:
    """Take apart the files of a Canvas download, if it is one: attachments are numbered once, users have one name."""
    made = {entry: canvas(entry.name) for entry in files}
    parsed = {entry: renamed for entry, renamed in made.items() if renamed is not None}
    attachments = Counter(renamed.number for renamed in parsed.values())
    names: dict[str, set[str]] = defaultdict(set)
    for renamed in parsed.values():
        names[renamed.key].add(renamed.learner)
    if any(count > 1 for count in attachments.values()) or any(len(known) > 1 for known in names.values()):
        return {}
    return parsed


def _newest_files(entries: list[Entry], parsed: dict[Entry, Renamed], claim: _Claim) -> list[Entry]:
    newest: dict[str, Entry] = {}
    for entry in sorted(entries, key=lambda entry: parsed[entry].number):
        if parsed[entry].late:
            claim.notes.append(f"Canvas marks {parsed[entry].original} as late")
        original = parsed[entry].original or entry.name
        if original in newest:
            claim.notes.append(f"{newest[original].label} was left out: {entry.label} is newer")
        newest[original] = entry
    return list(newest.values())


def _newest_attempt(entries: list[Entry], parsed: dict[Entry, Renamed], claim: _Claim) -> list[Entry]:
    newest = max(parsed[entry].number for entry in entries)
    older = sorted({parsed[entry].number for entry in entries} - {newest})
    if older:
        claim.notes.append(f"only the newest attempt counts ({newest}); left out: {', '.join(older)}")
    return [entry for entry in entries if parsed[entry].number == newest]


def _blackboard_users(files: list[Entry]) -> set[str]:
    users = set()
    for entry in files:
        if entry.name.endswith(".txt") and blackboard(entry.name):
            try:
                user = metadata.blackboard_user(entry.read(1 << 20)[:4096].decode("utf-8", "replace"))
            except Refused:
                continue
            if user:
                users.add(user)
    return users


def _lines(entry: Entry) -> Iterable[str]:
    if entry.path is None or entry.kind:
        return metadata.lines(io.BytesIO(entry.read(_MAX_METADATA)))
    return _lines_of(Path(entry.path))


def _lines_of(path: Path) -> Iterable[str]:
    with path.open("rb") as file:
        yield from metadata.lines(file)


def _seen(scan: Scan) -> str:
    names: dict[str, None] = {}
    for learner in scan.learners[:200]:
        names.update(dict.fromkeys(learner.file_names()[:50]))
        if len(names) > 50:
            break
    return f"Seen: {_some(list(names), 8)}." if names else "Their folders are empty."


def _some(names: Sequence[str], count: int) -> str:
    shown = ", ".join(printable(name[:80]) for name in names[:count])
    return shown if len(names) <= count else f"{shown} and {len(names) - count} more"
