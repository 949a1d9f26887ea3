"""The class as a list of learners: a cheap scan first, each learner's files only when they are asked for.

This opens what was handed in, finds the folder that holds the class, and lets the layouts say who is there.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from grader.catalogue import SUBMISSION_SUFFIXES, Kata
from grader.errors import UsageError
from grader.files import NotRead
from grader.instructor.lms import SYSTEMS, nbgrader
from grader.instructor.lms.system import Claim, Place, System
from grader.instructor.submissions import folders
from grader.instructor.submissions.archives import BULK, open_archive
from grader.instructor.submissions.choose import looks_like_one
from grader.instructor.submissions.claims import learners_of
from grader.instructor.submissions.entry import ARROW, Entry
from grader.instructor.submissions.learner import LearnerFolder
from grader.instructor.submissions.names import (
    archive_stem,
    foreign_archive,
    learner_name,
    listed,
    printable,
    short_digest,
)
from grader.instructor.submissions.spot import Spot
from grader.learner.workspace import PROGRESS_FILE

__all__ = ["LAYOUTS", "LearnerFolder", "Scan", "find_learners"]

LAYOUTS = (
    "Expected a folder or an archive with one folder or one .zip or .tar.gz per learner, nbgrader's course folder, "
    "or a bulk download of Canvas, Moodle, Gradescope, Brightspace or Blackboard."
)


_WRAPPERS = frozenset({"submissions", "handins", "submitted files"})
"""What people and Teams call the folder that holds everybody's."""


@dataclass(frozen=True, eq=False)
class Scan:
    """What a class handed in: every learner, in natural order, and what belongs to nobody."""

    learners: tuple[LearnerFolder, ...]
    layout: str
    """`folders`, `nbgrader`, `canvas`, `moodle`, `gradescope`, `brightspace`, `blackboard` or `one learner`."""
    notes: tuple[str, ...] = ()
    """What the instructor should know before grading starts: files at the top that belong to no learner."""


def find_learners(root: Path, katas: Sequence[Kata], whom: Collection[str] = ()) -> Scan:
    """Return the learners in `root`: a folder in one of the known layouts, or an archive of one.

    Raises:
        UsageError: nothing there, no archive, empty, or no file in it is named like one of `katas`. If one of the
            learners is `whom` it is about, that is their result instead.
    """
    top, name = _top(root)
    try:
        scan = _scan(top, name, katas)
    except OSError as error:
        raise UsageError(f"{root}: cannot be opened ({error.strerror or error}).", LAYOUTS) from error
    if not scan.learners:
        loose = f" ({scan.notes[0]})" if scan.notes else ""
        raise UsageError(f"{root}: it holds no learner's work{loose}.", LAYOUTS)
    named = any(learner.learner in whom for learner in scan.learners)
    if not named and not any(learner.holds_any(katas) for learner in scan.learners):
        expected = listed([f"{kata.module}.py" for kata in katas], 12)
        raise UsageError(
            f"{root}: none of its {len(scan.learners)} learners has a file of the katas that are graded. {_seen(scan)}",
            f"Expected files are called {expected}, or the same with .ipynb.",
        )
    return scan


def _top(root: Path) -> tuple[Entry, str]:
    """Return the folder or archive as one entry, and the name that a single learner in it would have."""
    shown = printable(str(root))
    if not os.path.lexists(root):
        raise UsageError(f"{shown}: there is no such file or folder.", LAYOUTS)
    if root.is_dir():
        return Entry(root.name, "", "folder", Spot(os.fspath(root))), root.resolve().name
    stem = archive_stem(root.name)
    if stem is None:
        if root.suffix in SUBMISSION_SUFFIXES:
            raise UsageError(
                f"{shown} is one file, not a class.", f"To check it by itself: kata check {shown}"
            )
        kind = (
            "an archive of an unsupported kind"
            if foreign_archive(root.name)
            else "neither a folder nor an archive"
        )
        raise UsageError(f"{shown} is {kind}.", LAYOUTS)
    try:
        members = open_archive(Spot(os.fspath(root.resolve())), root.name, scale=BULK)
    except NotRead as refused:
        raise UsageError(f"{shown} {refused}.", LAYOUTS) from None
    return Entry(root.name, f"{root.name}{ARROW}", "folder", members=tuple(members)), stem


def _scan(top: Entry, name: str, katas: Sequence[Kata]) -> Scan:
    stamped = top.name == nbgrader.SUBMITTED
    children = top.children()
    for _ in range(3):
        if _is_one_learner(children, katas):
            top = replace(top, label=top.label or name)
            learner = LearnerFolder(learner_name(name), (Place(top),))
            return Scan((learner,), "one learner", ())
        below = [child for child in children if child.kind == "folder"]
        submitted = _submitted(children, below)
        if submitted is not None:
            top, stamped = submitted, True
        elif len(below) == 1 and _is_wrapper(below[0], children, name):
            top = below[0]
        else:
            break
        children = top.children()
    return _taken(children, stamped=stamped)


def _submitted(children: list[Entry], below: list[Entry]) -> Entry | None:
    """Return the folder with everybody's work in a course folder of nbgrader: alone, or with others of it."""
    found = next((child for child in below if child.name == nbgrader.SUBMITTED), None)
    others = nbgrader.BESIDE.isdisjoint(child.name for child in children)
    return found if len(below) == 1 or not others else None


def _taken(entries: list[Entry], *, stamped: bool) -> Scan:
    """Let the system whose download this is take what it named; the rest are folders and archives of learners."""
    layout = nbgrader.NAME if stamped else "folders"
    claims: list[Claim[Entry]] = []
    notes: list[str] = []
    left, system = entries, _system(entries)
    if system is not None:
        found = system.read(entries)
        for name, why in found.doubtful.items():
            # A row of its own, under the whole name, which takes from nobody.
            claims.append(Claim(name, short_digest(name), rank=9, closed=[f"{name} {why}"]))
            notes.append(f"{name} {why}, so it goes to nobody")
        claims += found.claims
        notes += found.notes
        left = [entry for entry in entries if entry not in found.taken]
    beside = len(left) < len(entries)
    if system is not None and beside:
        layout = system.name
    rest = folders.read(left, rank=int(beside))
    learners = learners_of([*claims, *rest.claims], stamped=stamped)
    return Scan(learners, layout, tuple(printable(note) for note in (*notes, *rest.notes)))


def _system(entries: list[Entry]) -> System | None:
    """Return the system that named most of what lies there, if one did.

    One system makes a download. What only some names look like, learners wrote: nobody is to be found in their names.
    """
    own = [entry for entry in entries if not _lies_beside(entry.name)]
    made = [(sum(system.made(entry) is not None for entry in own), system) for system in SYSTEMS]
    count, system = max(made, key=lambda pair: pair[0])
    return system if 2 * count > len(own) else None


def _lies_beside(name: str) -> bool:
    return any(name in system.beside for system in SYSTEMS)


def _is_one_learner(children: list[Entry], katas: Sequence[Kata]) -> bool:
    """Whether the top holds one learner's work: a workspace, folders of units and katas, or modules alone."""
    if any(child.name == PROGRESS_FILE and not child.kind for child in children):
        return True
    every = {other.slug: other for kata in katas for other in kata.unit.pack.katas}.values()
    known = {
        name.casefold() for kata in every for name in (kata.slug, kata.unit.folder.name, kata.unit.number)
    }
    below = [child for child in children if child.kind == "folder"]
    files = [child for child in children if child.kind != "folder"]
    if any(_of_a_learner(file.name) for file in files):
        return False
    if below:
        return all(folder.name.casefold() in known for folder in below)
    return any(looks_like_one(file.name, [kata.module for kata in every]) for file in files)


def _of_a_learner(name: str) -> bool:
    if archive_stem(name) or foreign_archive(name):
        return True
    return any(system.file(name) for system in SYSTEMS)


def _is_wrapper(folder: Entry, children: list[Entry], name: str) -> bool:
    """Whether the only folder at the top is the class's, as zipping a folder or a system's export makes it."""
    if any(_of_a_learner(child.name) for child in children) or _system_folder(folder.name):
        return False
    if folder.name.casefold() in _WRAPPERS:
        return True
    if folder.members and folder.name == name:
        return True
    if any(system.is_wrapper(folder.name) for system in SYSTEMS):
        return True
    below = folder.children()
    inner = [child for child in below if child.kind == "folder" and child.name.casefold() in _WRAPPERS]
    if inner and len(below) == 1 and inner[0].children():
        raise UsageError(
            f"{printable(folder.name)} is the only folder, and it holds only {printable(inner[0].name)}: it may be "
            "the class, or one learner who has given a folder this name.",
            f"If it is the class, name that folder itself: {printable(inner[0].label)}",
        )
    if any(_system_folder(child.name) or _lies_beside(child.name) for child in below):
        # A learner can name folders as systems do. Who is in the class is not theirs to say.
        raise UsageError(
            f"{printable(folder.name)} is the only folder, and it holds names such as a system makes: it may be "
            "the class, or one learner who imitates such names.",
            "If it is the class, name that folder itself (if it is in an archive, unpack that first).",
        )
    return False


def _system_folder(name: str) -> bool:
    return any(system.folder(name) for system in SYSTEMS)


def _seen(scan: Scan) -> str:
    names: dict[str, None] = {}
    for learner in scan.learners[:200]:
        names.update(dict.fromkeys(learner.file_names()[:50]))
        if len(names) > 50:
            break
    return f"Seen: {listed(list(names), 8)}." if names else "Their folders are empty."
