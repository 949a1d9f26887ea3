"""A folder or an archive for each learner, called by the learner's name."""

from __future__ import annotations

from grader.instructor.lms import SYSTEMS
from grader.instructor.lms.system import Claim, Download, Place
from grader.instructor.submissions.entry import Entry
from grader.instructor.submissions.names import archive_stem, foreign_archive, listed, short_digest

_KNOWN = frozenset({"course.toml", "gradebook.sqlite", "gradebook.sqlite-wal", "gradebook.sqlite-shm"}).union(
    *(system.own_files for system in SYSTEMS)
)
"""Files that may be next to the learners' folders."""


def read(entries: list[Entry], rank: int = 0) -> Download[Entry]:
    """Say whose the folders and archives are, with a note on what belongs to nobody.

    What is next to a system's download was put there by somebody else, and its name is less sure: `rank`.
    """
    found: Download[Entry] = Download()
    named: dict[str, Claim[Entry]] = {}
    loose = []
    for entry in entries:
        stem: str | None = entry.name
        # A folder's name is a learner's as it is: `ada.zip` may be a folder that somebody unpacked.
        if entry.kind != "folder" and not entry.in_place_of_folder:
            stem = archive_stem(entry.name) or foreign_archive(entry.name)
        if stem is not None:
            # A folder and an archive of one name are one learner's: some hand in both.
            claim = named.setdefault(stem, Claim(stem, short_digest(stem), rank))
            claim.places.append(Place(entry))
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
            labels = " and ".join(place.entry.label for place in claim.places)
            claim.notes.append(f"handed in more than once, read together: {labels}")
    found.claims = list(named.values())
    return found
