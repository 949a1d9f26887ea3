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
from grader.submissions.archives import BULK, NotRead, open_archive
from grader.submissions.choose import looks_like_one
from grader.submissions.claims import Claims
from grader.submissions.entry import ARROW, Entry, Place
from grader.submissions.layouts import SYSTEMS, Layout, System, folders, gradescope, nbgrader
from grader.submissions.learner import Clock, LearnerFolder
from grader.submissions.names import archive_stem, foreign_archive, learner_name, listed, printable
from grader.submissions.spot import Spot
from grader.workspace import PROGRESS_FILE

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
    layout: Layout = nbgrader if top.name == nbgrader.SUBMITTED else folders
    children = top.children()
    for _ in range(3):
        if _is_one_learner(children, katas):
            top = replace(top, label=top.label or name)
            learner = LearnerFolder(learner_name(name), (Place(top),))
            return Scan((learner,), "one learner", ())
        below = [child for child in children if child.kind == "folder"]
        submitted = nbgrader.submitted(children)
        if submitted is not None:
            top, layout = submitted, nbgrader
        elif len(below) == 1 and _is_wrapper(below[0], children, name):
            top = below[0]
        else:
            break
        children = top.children()
    return _taken(children, layout)


def _taken(entries: list[Entry], layout: Layout) -> Scan:
    """Let the system whose download this is take what it named, and `layout` what is left."""
    claims = Claims()
    name = layout.NAME
    system = _system(entries)
    left = entries if system is None else system.take(entries, claims)
    if system is not None and len(left) < len(entries):
        name = system.NAME
    layout.take(left, claims, rank=int(name != layout.NAME))
    learners = claims.learners(Clock(nbgrader.handed_in, nbgrader.wrote) if layout is nbgrader else None)
    return Scan(learners, name, tuple(printable(note) for note in claims.notes))


def _system(entries: list[Entry]) -> System | None:
    """Return the system that named most of what lies there, if one did.

    One system makes a download. What only some names look like, learners wrote: nobody is to be found in their names.
    """
    own = [entry for entry in entries if entry.name != gradescope.METADATA]
    made = [(_made_by(system, own), system) for system in SYSTEMS]
    count, system = max(made, key=lambda pair: pair[0], default=(0, None))
    return system if 2 * count > len(own) else None


def _made_by(system: System, entries: list[Entry]) -> int:
    return sum(
        (system.makes_folder if entry.kind == "folder" else system.makes_file)(entry.name)
        for entry in entries
    )


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
    return any(system.makes_file(name) for system in SYSTEMS)


def _is_wrapper(folder: Entry, children: list[Entry], name: str) -> bool:
    """Whether the only folder at the top is the class's, as zipping a folder or a system's export makes it."""
    if any(_of_a_learner(child.name) for child in children) or _system_folder(folder.name):
        return False
    if folder.name.casefold() in _WRAPPERS:
        return True
    if folder.members and folder.name == name:
        return True
    if gradescope.makes_wrapper(folder.name):
        return True
    below = folder.children()
    inner = [child for child in below if child.kind == "folder" and child.name.casefold() in _WRAPPERS]
    if inner and len(below) == 1 and inner[0].children():
        raise UsageError(
            f"{printable(folder.name)} is the only folder, and it holds only {printable(inner[0].name)}: it may be "
            "the class, or one learner who has given a folder this name.",
            f"If it is the class, name that folder itself: {printable(inner[0].label)}",
        )
    if any(_system_folder(child.name) or (child.name == gradescope.METADATA) for child in below):
        # A learner can name folders as systems do. Who is in the class is not theirs to say.
        raise UsageError(
            f"{printable(folder.name)} is the only folder, and it holds names such as a system makes: it may be "
            "the class, or one learner who imitates such names.",
            "If it is the class, name that folder itself (if it is in an archive, unpack that first).",
        )
    return False


def _system_folder(name: str) -> bool:
    return any(system.makes_folder(name) for system in SYSTEMS)


def _seen(scan: Scan) -> str:
    names: dict[str, None] = {}
    for learner in scan.learners[:200]:
        names.update(dict.fromkeys(learner.file_names()[:50]))
        if len(names) > 50:
            break
    return f"Seen: {listed(list(names), 8)}." if names else "Their folders are empty."
