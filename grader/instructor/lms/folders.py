"""Whose the folders of a download are, and an identity for everybody of whom it holds work."""

from __future__ import annotations

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

from grader.instructor.lms import SYSTEMS
from grader.instructor.lms.system import Download
from grader.instructor.submissions.entry import Entry
from grader.instructor.submissions.learner import LearnerFolder
from grader.instructor.submissions.names import (
    archive_stem,
    foreign_archive,
    learner_name,
    listed,
    natural_key,
    short_digest,
)
from grader.words import printable

_KNOWN = frozenset({"course.toml", "gradebook.sqlite", "gradebook.sqlite-wal", "gradebook.sqlite-shm"}).union(
    *(system.own_files for system in SYSTEMS)
)
"""Files that may be next to the learners' folders."""


def read_folders(entries: list[Entry], rank: int = 0) -> Download:
    """Say whose the folders and archives are, with a note on what belongs to nobody.

    What is next to a system's download was put there by somebody else, and its name is less sure: `rank`.
    """
    found = Download()
    named: dict[str, LearnerFolder] = {}
    loose = []
    for entry in entries:
        stem: str | None = entry.name
        # A folder's name is a learner's as it is: `ada.zip` may be a folder that somebody unpacked.
        if not entry.is_folder and not entry.in_place_of_folder:
            stem = archive_stem(entry.name) or foreign_archive(entry.name)
        if stem is not None:
            # A folder and an archive of one name are one learner's: some hand in both.
            named.setdefault(stem, LearnerFolder(stem, short_digest(stem), rank)).places.append(entry)
        elif entry.name not in _KNOWN:
            loose.append(entry.name)
    if loose:
        number = (
            f"{len(loose)} files are at the top and belong"
            if len(loose) > 1
            else "1 file is at the top and belongs"
        )
        found.notes.append(f"{number} to no learner: {listed(loose, 8)}")
    for learner in named.values():
        if len(learner.places) > 1:
            labels = " and ".join(place.label for place in learner.places)
            learner.notes.append(f"handed in more than once, read together: {labels}")
    found.learners = list(named.values())
    return found


def learners_of(found: Iterable[LearnerFolder], *, stamped: bool = False) -> tuple[LearnerFolder, ...]:
    """Return the learners of a class under their identities, in natural order.

    Args:
        found: each somebody else, as the download calls them.
        stamped: the times of hand-ins lie among the files, as nbgrader has them.
    """
    learners = [
        replace(
            learner,
            learner=identity,
            notes=[printable(note) for note in learner.notes],
            ids={key: printable(value) for key, value in learner.ids.items()},
            stamped=stamped,
        )
        for identity, learner in _named(found)
    ]
    return tuple(sorted(learners, key=lambda folder: natural_key(folder.learner)))


def _once(spelled: Sequence[LearnerFolder]) -> Sequence[LearnerFolder]:
    """Join the folders of one name that are only encoded in two ways: é is one character, or e and an accent.

    Not where both hold a file of one name, nor where a system's own number tells two people apart: somebody who calls
    themselves like another must not spoil what that person handed in.
    """
    called = {unicodedata.normalize("NFC", learner.learner) for learner in spelled}
    if len(spelled) < 2 or len(called) > 1 or any(learner.ids for learner in spelled):
        return spelled
    names = [set(learner.file_names()) for learner in spelled]
    if len(set().union(*names)) < sum(map(len, names)):
        return spelled
    first, *others = spelled
    for other in others:
        first.places += other.places
        first.closed += other.closed
        first.notes += [*other.notes, "came in under two encodings of one name, read together"]
    return [first]


def _named(every: Iterable[LearnerFolder]) -> Iterable[tuple[str, LearnerFolder]]:
    """Return every learner with an identity: unique, and the same for any class that they are in.

    Where several come to one name, the surest keeps it: what a system vouches for, then what is spelled exactly
    so. Only where two are equally sure do both get an addition.
    """
    wanted: dict[str, list[LearnerFolder]] = defaultdict(list)
    for learner in every:
        wanted[learner_name(learner.learner)].append(learner)
    named: dict[str, LearnerFolder] = {}
    doubtful: list[tuple[str, LearnerFolder]] = []
    for name, spelled in wanted.items():
        namesakes = _once(spelled)
        # A folder's name is the learner's to choose: nobody may take another's identity by it.
        sure = [(learner.rank, learner.learner != name) for learner in namesakes]
        for learner, mine in zip(namesakes, sure, strict=True):
            if mine == min(sure) and sure.count(mine) == 1:
                named[name] = learner
            else:
                doubtful.append((name, learner))
            if len(namesakes) > 1:
                # A learner of whom there is only the system's own note has no place.
                which = learner.places[0].label if learner.places else learner.suffix
                learner.notes.append(f"{len(namesakes)} learners are called {name}; this is {which}")
    for name, learner in doubtful:
        identity = f"{name} ({learner_name(learner.suffix)[:60]})"
        while identity in named:
            identity = f"{name} ({short_digest(identity)})"
        named[identity] = learner
    for learner in named.values():
        if learner_name(learner.learner) != learner.learner:
            learner.notes.append(f"the name stands for {learner.learner[:400]!r}")
    # Told, not joined: on some systems these are two people.
    folded = Counter(name.casefold() for name in named)
    for name, learner in named.items():
        if folded[name.casefold()] > 1:
            twins = [other for other in named if other != name and other.casefold() == name.casefold()]
            learner.notes.append(f"another learner's name differs in case only: {', '.join(twins[:3])}")
    return named.items()
