"""The class as a list of learners: a cheap scan first, each learner's files only when they are asked for.

This opens what was handed in, finds the folder that holds the class, and lets the layouts say who is there.
"""

from __future__ import annotations

import os
import re
import shlex
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from grader.catalogue import SUBMISSION_SUFFIXES, Kata
from grader.data_files import UnreadableSubmission
from grader.errors import UsageError
from grader.instructor.lms import SYSTEMS
from grader.instructor.lms.folders import learners_of, read_folders
from grader.instructor.lms.system import Download, System, inside
from grader.instructor.lms.teams import SUBMITTED as SUBMITTED_IN_TEAMS
from grader.instructor.submissions import nbgrader
from grader.instructor.submissions.archives import BULK, MAX_NESTED, opened
from grader.instructor.submissions.entry import ARROW, Entry
from grader.instructor.submissions.file_selection import matches_a_module
from grader.instructor.submissions.learner import LearnerFolder
from grader.instructor.submissions.names import (
    archive_stem,
    foreign_archive,
    learner_name,
    listed,
    module_rank,
)
from grader.instructor.submissions.safe_path import SafePath
from grader.learner.workspace import PROGRESS_FILE
from grader.words import printable

LAYOUTS = (
    "Expected a folder or an archive with one folder or one .zip or .tar.gz per learner, nbgrader's course folder, "
    "or a bulk download of Canvas, Moodle, Gradescope, Brightspace, Blackboard, Sakai, ILIAS, OpenOLAT, Microsoft "
    "Teams or Google Classroom."
)


_WRAPPERS = frozenset({"submissions", "handins"})
"""What people call the folder that holds everybody's."""
_AROUND = 6
"""So many folders and archives may be around a class."""
_LOOKED_AT = 8
"""Of several folders so many are looked into, to see whether they are classes."""


@dataclass(frozen=True, eq=False)
class Scan:
    """What a class handed in: every learner, in natural order, and what belongs to nobody."""

    learners: tuple[LearnerFolder, ...]
    layout: str
    """`folders`, `nbgrader`, `one learner`, or the name of a system in `lms`."""
    notes: tuple[str, ...] = ()
    """What the instructor should know before grading starts: files at the top that belong to no learner."""


@dataclass(frozen=True)
class _Class:
    """What is asked about a class before it is known who is in it."""

    root: Path
    katas: Sequence[Kata]
    whom: Collection[str]
    """Learners that were named."""
    known: Callable[[str], bool] | None
    """Whether somebody in the roster is called so; None without a roster."""

    def is_learner(self, name: str) -> bool:
        """Whether it is certain that a folder of this name is a learner's."""
        return name in self.whom or (self.known is not None and self.known(name))

    def path(self, entry: Entry) -> str:
        """Return how somebody types where an entry lies, in archives as well."""
        within = entry.label.replace(ARROW, "/")
        return printable(shlex.quote(str((self.root if self.root.is_dir() else self.root.parent) / within)))


def find_learners(
    root: Path, katas: Sequence[Kata], whom: Collection[str] = (), known: Callable[[str], bool] | None = None
) -> Scan:
    """Return the learners in `root`: a folder in one of the known layouts, or an archive of one.

    Args:
        root: the folder or archive, or a folder in an archive.
        katas: what is graded.
        whom: learners that it is about.
        known: whether somebody in the roster is called so; without a roster there is none.

    Raises:
        UsageError: nothing there, no archive, empty, no file in it is named like one of `katas`, or a folder may be the
            class as well as a learner's. If one of the learners is `whom` it is about, that is their result instead.
    """
    top, name, root = _top(root)
    try:
        # Looked through without being unpacked: files that no kata needs are never read.
        scan = _scan(top, name, _Class(root, katas, whom, known))
    except OSError as error:
        raise UsageError(f"{root}: cannot be opened ({error.strerror or error}).", LAYOUTS) from error
    if not scan.learners:
        loose = f" ({scan.notes[0]})" if scan.notes else ""
        raise UsageError(f"{root}: it holds no learner's work{loose}.", LAYOUTS)
    # Who asks about one learner wants to hear what is wrong with that one, not with the class.
    named = any(learner.learner in whom for learner in scan.learners)
    if not named and not any(learner.has_any(katas) for learner in scan.learners):
        expected = listed(list(dict.fromkeys(str(kata.answer) for kata in katas)), 12)
        raise UsageError(
            f"{root}: none of its {len(scan.learners)} learners has a file of the katas that are graded. {_seen(scan)}",
            f"Expected files are called {expected}, or the same with .ipynb.",
        )
    return scan


def _top(root: Path) -> tuple[Entry, str, Path]:
    """Return the folder or archive as one entry, the name that a single learner in it would have, and where it lies."""
    shown = printable(str(root))
    if root.is_dir():
        return Entry(root.name, "", "folder", SafePath(os.fspath(root))), root.resolve().name, root
    # `class.zip/week1` names a folder in an archive: what exists of it is the archive.
    around = next((path for path in (root, *root.parents) if os.path.lexists(path)), root)
    if not around.is_file():
        raise UsageError(f"{shown}: there is no such file or folder.", LAYOUTS)
    file = Entry(around.name, around.name, "", SafePath(os.fspath(around.resolve())))
    stem = archive_stem(around.name) or foreign_archive(around.name)
    if stem is None and around.suffix in SUBMISSION_SUFFIXES:
        raise UsageError(f"{shown} is one file, not a class.", f"To check it by itself: kata check {shown}")
    try:
        top = opened(file, 4 * MAX_NESTED, scale=BULK)
    except UnreadableSubmission as refused:
        raise UsageError(f"{shown} {refused}.", LAYOUTS) from None
    for name in root.parts[len(around.parts) :]:  # somebody named a folder in an archive
        found = next((child for child in top.children() if child.name == name), None)
        if found is None:
            raise UsageError(f"{shown}: there is no {printable(name)} in {printable(around.name)}.", LAYOUTS)
        top, stem = _opened(found) or found, found.name
    return top, stem or around.stem, around


def _opened(entry: Entry) -> Entry | None:
    """Return a folder, or an archive as one; None where it is neither, or does not open."""
    if entry.is_folder:
        return entry
    if entry.kind or (archive_stem(entry.name) or foreign_archive(entry.name)) is None:
        return None
    try:
        return opened(entry, 4 * MAX_NESTED, scale=BULK)
    except UnreadableSubmission:
        return None


def _scan(top: Entry, name: str, of: _Class) -> Scan:
    stamped = top.name == nbgrader.SUBMITTED
    children = [top] if top.name.casefold() == SUBMITTED_IN_TEAMS else top.children()
    notes: list[str] = []
    for _ in range(_AROUND):
        # Before anything is opened as a class: units and katas would be taken for learners.
        if _is_one_learner(children, of.katas):
            _refuse_nameless(children, name, of)
            top = replace(top, label=top.label or name)
            learner = LearnerFolder(learner_name(name), places=[top])
            return Scan((learner,), "one learner", tuple(notes))
        # The folder with everybody's work in a course folder of nbgrader: alone, or with others of it.
        below = [child for child in children if child.is_folder]
        others = nbgrader.OWN_FILES.isdisjoint(child.name for child in children)
        submitted = next((child for child in below if child.name == nbgrader.SUBMITTED), None)
        if len(below) > 1 and others:
            submitted = None
        inner = submitted or (None if stamped else _wrapped(children, name, of, notes))
        if inner is None:
            break
        stamped = stamped or submitted is not None
        top, children = inner, inner.children()
    else:
        raise UsageError(
            f"{of.root}: there are {_AROUND} folders around the class.", "Name the innermost one."
        )
    scan = _taken(children, stamped=stamped)
    # A system's own names leave no doubt who they are.
    if scan.layout == "folders":
        _refuse_several(children, of)
    return replace(scan, notes=(*notes, *scan.notes))


def _taken(entries: list[Entry], *, stamped: bool) -> Scan:
    """Let the system whose download this is take what it named; the rest are folders and archives of learners."""
    layout = nbgrader.NAME if stamped else "folders"
    system = _system(entries)
    found = system.read(entries) if system is not None else Download()
    left = [entry for entry in entries if entry not in found.taken]
    mixed = len(left) < len(entries)
    if system is not None and mixed:
        layout = system.name
    rest = read_folders(left, rank=int(mixed))
    learners = learners_of([*found.learners, *rest.learners], stamped=stamped)
    return Scan(learners, layout, tuple(printable(note) for note in (*found.notes, *rest.notes)))


def _system(entries: list[Entry]) -> System | None:
    """Return the system that named most of what lies there, if one did."""
    # Without the files that systems put there themselves: in a small class they would be the majority.
    own = [entry for entry in entries if not any(entry.name in system.own_files for system in SYSTEMS)]
    made = [(sum(system.made(entry) is not None for entry in own), system) for system in SYSTEMS]
    count, system = max(made, key=lambda pair: pair[0])
    # One system makes a download, and more than half of its names. What only some look like, learners wrote: one
    # file's name must not decide how all are read.
    return system if 2 * count > len(own) else None


def _is_one_learner(children: list[Entry], katas: Sequence[Kata]) -> bool:
    """Whether the top holds one learner's work: a workspace, folders of units and katas, or modules alone."""
    if any(child.name == PROGRESS_FILE and not child.kind for child in children):
        return True
    below = [child for child in children if child.is_folder]
    files = [child for child in children if not child.is_folder]
    # Archives and names that a system made are several people's.
    if any(_of_a_learner(file.name) for file in files):
        return False
    if below:
        known = _folders_of(katas)
        return all(folder.name.casefold() in known for folder in below)
    modules = [kata.answer.stem for some in katas for kata in some.unit.pack.katas]
    return any(matches_a_module(file.name, modules) for file in files)


def _folders_of(katas: Sequence[Kata]) -> set[str]:
    """Return what a learner's folders of units and katas are called."""
    every = {other.slug: other for kata in katas for other in kata.unit.pack.katas}.values()
    return {
        name.casefold() for kata in every for name in (kata.slug, kata.unit.folder.name, kata.unit.number)
    }


def _of_a_learner(name: str) -> bool:
    if archive_stem(name) or foreign_archive(name):
        return True
    return any(system.file(name) for system in SYSTEMS)


def _wrapped(children: list[Entry], name: str, of: _Class, notes: list[str]) -> Entry | None:
    """Return the only folder or archive at the top if it is around the class, and not a learner's.

    A learner can name folders as systems do, and who is in the class is not theirs to say. So it is asked about unless
    the roster knows nobody of that name, or the name or a system tells that it is the class.

    Raises:
        UsageError: it may be the class, or a learner's.
    """
    around = [child for child in children if child.is_folder or _of_a_learner(child.name)]
    # A name that a system made is a learner's, also when it is the only one.
    if len(around) != 1 or any(system.made(child) for child in children for system in SYSTEMS):
        return None
    folder, called = around[0], archive_stem(around[0].name) or around[0].name
    inner = _opened(folder)
    if inner is None or of.is_learner(called):
        return None
    # Names that nobody has: `submissions`, or what a system calls its download.
    if called.casefold() in _WRAPPERS or any(system.is_wrapper(called) for system in SYSTEMS):
        return inner
    if _bare(called) == _bare(name):  # as zipping a folder makes it
        return inner
    found = _looks_like_class(inner, of)
    if found is None:
        return None
    inside_it, why, sure = found
    if sure or of.known is not None:
        notes.append(f"{folder.label} was taken for the folder around the class: it holds {why}")
        return inner
    raise UsageError(
        f"{printable(called)} is the only folder, and it holds {printable(why)}: it may be the class, or one learner "
        "who imitates one.",
        f"If it is the class, name that folder itself: {of.path(inside_it)}. If it is a learner: --only "
        f"{shlex.quote(printable(called))}",
    )


def _looks_like_class(folder: Entry, of: _Class) -> tuple[Entry, str, bool] | None:
    """Return the folder below that looks like a class, why, and whether its system puts a folder around it."""
    for _ in range(_AROUND):
        below = inside(folder)
        system = _system(below)
        if system is not None:
            return folder, f"names such as {system.title} makes", system.wraps
        if why := _why_class(below, of):
            return folder, why, False
        further = [child for child in below if child.is_folder or _of_a_learner(child.name)]
        inner = _opened(further[0]) if len(further) == 1 else None
        if inner is None:
            return None
        if inner.name.casefold() in _WRAPPERS and inside(inner):
            return inner, f"only {inner.name}", False
        folder = inner
    return None


def _why_class(entries: list[Entry], of: _Class) -> str:
    """Say why what lies in a folder may be learners'; nothing where it may not."""
    modules, own = [kata.answer.stem for kata in of.katas], _folders_of(of.katas)
    if any(matches_a_module(entry.name, modules) or entry.name.casefold() in own for entry in entries):
        return ""
    # The first ones are enough to tell, and opening all archives of a class takes long.
    boxes = [entry for entry in entries[:50] if entry.is_folder or _of_a_learner(entry.name)]
    if of.known is not None and any(of.known(archive_stem(box.name) or box.name) for box in boxes):
        return "somebody who is in the roster"
    # Two folders that have one module each are two learners', or one learner's copies.
    count: Counter[str] = Counter()
    for box in boxes:
        # One at a time, and no further than the answer.
        count.update(LearnerFolder("", places=[box]).modules(of.katas))
        found = next((module for module, times in count.items() if times > 1), None)
        if found is not None:
            return f"several folders with a {found}.py of their own"
    return ""


def _refuse_several(entries: list[Entry], of: _Class) -> None:
    """Refuse folders of which most look like classes: nobody is a learner because their group has a folder."""
    several = {
        archive_stem(entry.name) or entry.name: entry for entry in entries if _opened(entry) is not None
    }
    looked_at = list(several.items())[:_LOOKED_AT]
    if len(several) < 2 or any(of.is_learner(name) for name, _ in looked_at):
        return
    below = [(entry, inside(_opened(entry) or entry)) for _, entry in looked_at]
    people: list[set[str]] = []
    for _, there in below:
        system = _system(there)
        made = [] if system is None else [system.made(entry) for entry in there]
        people.append({named.learner for named in made if named is not None})
    # One name is a file that a learner called so; several people's in one folder no learner has.
    downloads = any(len(names) > 1 for names in people)
    classes = [
        entry
        for (entry, there), names in zip(below, people, strict=True)
        if (downloads and names) or _why_class(there, of)
    ]
    if 2 * len(classes) > len(looked_at):
        names = " and ".join(printable(entry.name) for entry in classes[:2])
        raise UsageError(
            f"{of.root}: {names} hold folders as a class does: they may be classes, or learners.",
            f"If they are classes, name one of them: {of.path(classes[0])}. If not, list the learners in a roster.",
        )


def _refuse_nameless(entries: list[Entry], name: str, of: _Class) -> None:
    """Refuse several files of one name, numbered: they are those of several people, and nothing says whose each is."""
    if name in of.whom or any(child.is_folder or child.name == PROGRESS_FILE for child in entries):
        return
    for kata in of.katas:
        ranks = [rank for child in entries if (rank := module_rank(child.name, kata.answer.stem)) is not None]
        # Only where one is renamed as a copy: `.py` and `.ipynb` of one name are one learner's.
        if len(ranks) > 1 and max(ranks) == 2:
            raise UsageError(
                f"{printable(str(of.root))}: {len(ranks)} files are called {kata.answer.stem} but for a number, and "
                "nothing says whose each is.",
                "Put each learner's files into a folder with the learner's name. If all of them are one learner's: "
                f"--only {shlex.quote(printable(name))}",
            )


def _bare(name: str) -> str:
    """Return what `week01` and `Week 1` share."""
    return re.sub(r"(?<![0-9])0+(?=[0-9])", "", re.sub(r"[\W_]+", "", name.casefold()))


def _seen(scan: Scan) -> str:
    names: dict[str, None] = {}
    # Enough to see what is wrong, in time that does not grow with the class.
    for learner in scan.learners[:200]:
        names.update(dict.fromkeys(learner.file_names()[:50]))
        if len(names) > 50:
            break
    return f"Seen: {listed(list(names), 8)}." if names else "Their folders are empty."
