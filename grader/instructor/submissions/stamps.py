"""Times that nbgrader keeps among a learner's files: a `timestamp.txt` in each assignment's folder."""

from __future__ import annotations

from datetime import datetime

from grader.data_files import UnreadableSubmission
from grader.instructor.lms.nbgrader import STAMP, read_time
from grader.instructor.lms.system import Place
from grader.instructor.submissions.entry import Entry
from grader.instructor.submissions.listing import File, Listing


def handed_in_at(file: File, listing: Listing, place: Place[Entry]) -> datetime | None:
    """Return when a file was handed in, as `timestamp.txt` has it."""
    label = place.entry.label
    assignment = file.origin.removeprefix(f"{label}/").split("/")[0]
    for other in listing.files:
        if is_stamp(other, place) and other.parts[0] == assignment:
            try:
                return read_time(listing.read(other, 4096).decode("utf-8", "replace"))
            except UnreadableSubmission:
                return None
    return None


def is_stamp(file: File, place: Place[Entry]) -> bool:
    """Whether a file is the system's `timestamp.txt`: it lies in the assignment's folder, in no archive, no deeper."""
    assignment = file.parts[0]
    return file.parts == (assignment, STAMP) and file.origin == f"{place.entry.label}/{assignment}/{STAMP}"
