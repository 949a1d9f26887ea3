"""Moodle: a folder for each learner, `Ada Lovelace_12345_assignsubmission_file_`, or files that begin like that."""

from __future__ import annotations

import re

from grader.instructor.submissions.claims import Claims
from grader.instructor.submissions.entry import Entry, Place
from grader.instructor.submissions.layouts.renaming import Renamed, claimed_by_learner

NAME = "moodle"

# Looked for at every place, so that overlapping ones are seen as well.
_MARK = re.compile(r"(?=_(?P<id>[0-9]+)_assignsubmission_[a-z]+(?P<end>_|\Z))")


def makes_file(name: str) -> bool:
    """Whether Moodle calls a file of a learner so."""
    return _parse(name) is not None


def makes_folder(name: str) -> bool:
    """Whether Moodle calls a folder of a learner so."""
    return _parse(name) is not None


def take(entries: list[Entry], claims: Claims) -> list[Entry]:
    """Claim the files and folders that Moodle named; return the rest."""
    made = {entry: _parse(entry.name) for entry in entries}
    parsed = {entry: renamed for entry, renamed in made.items() if renamed is not None}
    for claim, theirs in claimed_by_learner(NAME, parsed, claims):
        claim.places += [Place(entry, parsed[entry].original) for entry in theirs]
    return [entry for entry in entries if entry not in parsed]


def _parse(name: str) -> Renamed | None:
    """Take a folder's or file's name apart."""
    marks = [found for found in _MARK.finditer(name) if found.start()]
    if not marks:
        return None
    first = marks[0]
    original = name[first.end("end") :] or None
    return Renamed(name[: first.start()], first["id"], original, doubtful=len(marks) > 1)
