"""A folder or an archive for each learner, called by the learner's name."""

from __future__ import annotations

from grader.instructor.submissions.claims import Claim, Claims
from grader.instructor.submissions.entry import Entry, Place
from grader.instructor.submissions.layouts.gradescope import METADATA
from grader.instructor.submissions.names import archive_stem, foreign_archive, listed, short_digest

NAME = "folders"

_KNOWN = frozenset(
    {METADATA, "course.toml", "gradebook.sqlite", "gradebook.sqlite-wal", "gradebook.sqlite-shm"}
)
"""Files that may lie beside the learners' folders."""


def take(entries: list[Entry], claims: Claims, rank: int = 0) -> list[Entry]:
    """Claim folders and archives; return the rest, with a note on what belongs to nobody.

    What lies beside a system's download was put there by somebody else, and its name is less sure: `rank`.
    """
    named: dict[str, Claim] = {}
    left: list[Entry] = []
    for entry in entries:
        stem: str | None = entry.name
        if entry.kind != "folder" and not entry.in_place_of_folder:
            stem = archive_stem(entry.name) or foreign_archive(entry.name)
        if stem is None:
            left.append(entry)
        else:
            named[stem] = claims.of("name", stem, stem, short_digest(stem), rank)
            named[stem].places.append(Place(entry))
    loose = [entry.name for entry in left if entry.name not in _KNOWN]
    if loose:
        number = (
            f"{len(loose)} files are at the top and belong"
            if len(loose) > 1
            else "1 file is at the top and belongs"
        )
        claims.notes.append(f"{number} to no learner: {listed(loose, 8)}")
    for claim in named.values():
        if len(claim.places) > 1:
            labels = " and ".join(place.entry.label for place in claim.places)
            claim.notes.append(f"handed in more than once, read together: {labels}")
    return left
