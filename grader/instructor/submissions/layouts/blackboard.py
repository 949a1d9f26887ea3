"""Blackboard: files `Homework 1_ada_attempt_2026-01-02-03-04-05_masks.py`, and a note for each attempt."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from datetime import datetime

from grader.instructor.submissions.archives import NotRead
from grader.instructor.submissions.claims import Claim, Claims
from grader.instructor.submissions.entry import Entry, Place
from grader.instructor.submissions.layouts.renaming import Renamed, claimed_by_learner
from grader.instructor.submissions.names import LONGEST

NAME = "blackboard"

# The system's note ends in the time and `.txt`. Looked for at every place, so that overlapping ones are seen as well.
_MARK = re.compile(r"(?=_attempt_(?P<time>[0-9]{4}(?:-[0-9]{2}){5})(?P<end>_(?=.)|\.txt\Z))", re.DOTALL)


def makes_file(name: str) -> bool:
    """Whether Blackboard calls a file of a learner so."""
    return _parse(name) is not None


def makes_folder(name: str) -> bool:
    """Blackboard makes none."""
    return False


def take(entries: list[Entry], claims: Claims) -> list[Entry]:
    """Claim the files that Blackboard named; return the rest."""
    files = [entry for entry in entries if entry.kind != "folder"]
    made = {entry: _parse(entry.name) for entry in files}
    parsed = {entry: renamed for entry, renamed in made.items() if renamed is not None}
    users = _users(parsed)
    parsed = {entry: replace(renamed, learner=users[renamed.key]) for entry, renamed in parsed.items()}
    for claim, theirs in claimed_by_learner(NAME, parsed, claims):
        for entry in _newest(theirs, parsed, claim):
            renamed = parsed[entry]
            if renamed.original is not None:
                claim.places.append(Place(entry, renamed.original, _time(renamed.number), "Blackboard"))
    return [entry for entry in entries if entry not in parsed]


def _newest(entries: list[Entry], parsed: dict[Entry, Renamed], claim: Claim) -> list[Entry]:
    newest = max(parsed[entry].number for entry in entries)
    older = sorted({parsed[entry].number for entry in entries} - {newest})
    if older:
        claim.notes.append(f"only the newest attempt counts ({newest}); left out: {', '.join(older)}")
    return [entry for entry in entries if parsed[entry].number == newest]


def _users(parsed: dict[Entry, Renamed]) -> dict[str, str]:
    """Return the user by what stands before the mark, `HW_9_bob_r`: both parts of it may hold a `_`.

    Only the system's own notes are believed, and each of its own learner alone. They also tell what the homework is
    called, for those of whom there is none.
    """
    noted: dict[str, str] = {}
    for entry, renamed in parsed.items():
        if renamed.original is None and not renamed.doubtful:
            try:
                user = _user(entry.read(1 << 20)[:4096].decode("utf-8", "replace"))
            except NotRead:
                continue
            if user and renamed.key.endswith(f"_{user}"):
                noted[renamed.key] = user
    homework = Counter(before[: -len(user)] for before, user in noted.items()).most_common(1)
    start = homework[0][0] if homework else ""
    users = {}
    for before in {renamed.key for renamed in parsed.values()}:
        rest = before.removeprefix(start) if start else before.rpartition("_")[2]
        users[before] = noted.get(before) or rest or before
    return users


def _user(text: str) -> str | None:
    """Read the user from the note that the system puts beside the files: `Name: Ada Lovelace (ada_l)`."""
    found = re.match(r"\ufeff?Name:[^\r\n]*\(([^()\r\n]+)\)[ \t]*(?:[\r\n]|\Z)", text)
    return found[1] if found else None


def _time(text: str) -> datetime | None:
    """Read the time in a file's name, `2026-01-02-03-04-05`; it names no zone."""
    try:
        return datetime.strptime(text, "%Y-%m-%d-%H-%M-%S")
    except ValueError:
        return None


def _parse(name: str) -> Renamed | None:
    """Take a file's name apart; who it is, is all that stands before the mark until the notes are read."""
    if len(name) > 4 * LONGEST:
        return None
    marks = [found for found in _MARK.finditer(name) if found.start()]
    if not marks:
        return None
    first = marks[0]
    before = name[: first.start()]
    original = name[first.end("end") :] if first["end"] == "_" else None
    return Renamed(before, before, original, first["time"], doubtful=len(marks) > 1)
