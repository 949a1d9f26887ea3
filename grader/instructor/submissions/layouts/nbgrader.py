"""nbgrader's course folder: `submitted/LEARNER/ASSIGNMENT/`, with the time of the hand-in in `timestamp.txt`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from grader.instructor.submissions.archives import NotRead
from grader.instructor.submissions.entry import Entry, Place
from grader.instructor.submissions.layouts.folders import take
from grader.instructor.submissions.listing import File, Listing

# Everybody has a folder, so `take` is that layout's.
__all__ = ["NAME", "SUBMITTED", "handed_in", "submitted", "take", "wrote"]

NAME = "nbgrader"
SUBMITTED = "submitted"
"""The folder with everybody's work."""
STAMP = "timestamp.txt"

_BESIDE = frozenset({"nbgrader_config.py", "source", "release", "autograded", "gradebook.db"})


def submitted(children: Sequence[Entry]) -> Entry | None:
    """Return the folder with everybody's work when this is a course folder: alone, or with others of nbgrader."""
    below = [child for child in children if child.kind == "folder"]
    found = next((child for child in below if child.name == SUBMITTED), None)
    if found and (len(below) == 1 or not _BESIDE.isdisjoint(child.name for child in children)):
        return found
    return None


def handed_in(file: File, listing: Listing, place: Place) -> datetime | None:
    """Return when a file was handed in, as `timestamp.txt` has it."""
    label = place.entry.label
    assignment = file.origin.removeprefix(f"{label}/").split("/")[0]
    for other in listing.files:
        if wrote(other, place) and other.parts[0] == assignment:
            try:
                return _time(listing.read(other, 4096).decode("utf-8", "replace"))
            except NotRead:
                return None
    return None


def wrote(file: File, place: Place) -> bool:
    """Whether a file is the system's `timestamp.txt`: it lies in the assignment's folder, in no archive, no deeper."""
    assignment = file.parts[0]
    return file.parts == (assignment, STAMP) and file.origin == f"{place.entry.label}/{assignment}/{STAMP}"


def _time(text: str) -> datetime | None:
    """Read `2026-02-02 15:58:23.948203 America/Los_Angeles`; without a zone, UTC."""
    words = text.split()
    try:
        time = datetime.fromisoformat(" ".join(words[:2]))
        if time.tzinfo is not None:
            return time
        return time.replace(tzinfo=ZoneInfo(words[2]) if len(words) > 2 else UTC)
    except (ValueError, OSError, ZoneInfoNotFoundError):
        return None
