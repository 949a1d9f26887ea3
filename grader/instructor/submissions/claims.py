"""Whose the folders of a download are, and an identity for everybody of whom it holds work."""

from __future__ import annotations

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from grader.instructor.lms import SYSTEMS
from grader.instructor.lms.system import Claim, Download
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


def read_folders(entries: list[Entry], rank: int = 0) -> Download[Entry]:
    """Say whose the folders and archives are, with a note on what belongs to nobody.

    What is next to a system's download was put there by somebody else, and its name is less sure: `rank`.
    """
    found: Download[Entry] = Download()
    named: dict[str, Claim[Entry]] = {}
    loose = []
    for entry in entries:
        stem: str | None = entry.name
        # A folder's name is a learner's as it is: `ada.zip` may be a folder that somebody unpacked.
        if not entry.is_folder and not entry.in_place_of_folder:
            stem = archive_stem(entry.name) or foreign_archive(entry.name)
        if stem is not None:
            # A folder and an archive of one name are one learner's: some hand in both.
            claim = named.setdefault(stem, Claim(stem, short_digest(stem), rank))
            claim.places.append(entry)
        elif entry.name not in _KNOWN:
            loose.append(entry.name)
    if loose:
        number = (
            f"{len(loose)} files are at the top and belong"
            if len(loose) > 1
            else "1 file is at the top and belongs"
        )
        found.notes.append(f"{number} to no learner: {listed(loose, 8)}")
    for claim in named.values():
        if len(claim.places) > 1:
            labels = " and ".join(place.label for place in claim.places)
            claim.notes.append(f"handed in more than once, read together: {labels}")
    found.claims = list(named.values())
    return found


def learners_of(claims: Iterable[Claim[Entry]], *, stamped: bool = False) -> tuple[LearnerFolder, ...]:
    """Return the learners, in natural order.

    Args:
        claims: each somebody else's.
        stamped: the times of hand-ins lie among the files, as nbgrader has them.
    """
    learners = [
        LearnerFolder(
            learner,
            tuple(claim.places),
            tuple(printable(note) for note in claim.notes),
            {key: printable(value) for key, value in claim.ids.items()},
            stamped,
            tuple(claim.closed),
            tuple(claim.earlier),
        )
        for learner, claim in _named(claims)
    ]
    return tuple(sorted(learners, key=lambda folder: natural_key(folder.learner)))


def _once(claims: Sequence[Claim[Entry]]) -> Sequence[Claim[Entry]]:
    """Join the folders of one name that are only encoded in two ways: é is one character, or e and an accent.

    Not where both hold a file of one name, nor where a system's own number tells two people apart: somebody who calls
    themselves like another must not spoil what that person handed in.
    """
    spelled = {unicodedata.normalize("NFC", claim.name) for claim in claims}
    if len(claims) < 2 or len(spelled) > 1 or any(claim.ids for claim in claims):
        return claims
    names = [set(LearnerFolder("", tuple(claim.places)).file_names()) for claim in claims]
    if len(set().union(*names)) < sum(map(len, names)):
        return claims
    first, *others = claims
    for other in others:
        first.places += other.places
        first.closed += other.closed
        first.notes += [*other.notes, "came in under two encodings of one name, read together"]
    return [first]


def _named(every: Iterable[Claim[Entry]]) -> Iterable[tuple[str, Claim[Entry]]]:
    """Return every claim with its identity: unique, and the same for any class that it is in.

    Where several come to one name, the surest keeps it: what a system vouches for, then what is spelled exactly
    so. Only where two are equally sure do both get an addition.
    """
    wanted: dict[str, list[Claim[Entry]]] = defaultdict(list)
    for claim in every:
        wanted[learner_name(claim.name)].append(claim)
    named: dict[str, Claim[Entry]] = {}
    doubtful: list[tuple[str, Claim[Entry]]] = []
    for name, spelled in wanted.items():
        claims = _once(spelled)
        # A folder's name is the learner's to choose: nobody may take another's identity by it.
        sure = [(claim.rank, claim.name != name) for claim in claims]
        for claim, mine in zip(claims, sure, strict=True):
            if mine == min(sure) and sure.count(mine) == 1:
                named[name] = claim
            else:
                doubtful.append((name, claim))
            if len(claims) > 1:
                # A learner of whom there is only the system's own note has no place.
                which = claim.places[0].label if claim.places else claim.suffix
                claim.notes.append(f"{len(claims)} learners are called {name}; this is {which}")
    for name, claim in doubtful:
        identity = f"{name} ({learner_name(claim.suffix)[:60]})"
        while identity in named:
            identity = f"{name} ({short_digest(identity)})"
        named[identity] = claim
    for claim in named.values():
        if learner_name(claim.name) != claim.name:
            claim.notes.append(f"the name stands for {claim.name[:400]!r}")
    # Told, not joined: on some systems these are two people.
    folded = Counter(name.casefold() for name in named)
    for name, claim in named.items():
        if folded[name.casefold()] > 1:
            twins = [other for other in named if other != name and other.casefold() == name.casefold()]
            claim.notes.append(f"another learner's name differs in case only: {', '.join(twins[:3])}")
    return named.items()
