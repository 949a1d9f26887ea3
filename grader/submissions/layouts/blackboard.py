"""Blackboard: files `Homework 1_ada_attempt_2026-01-02-03-04-05_masks.py`, and a note for each attempt."""

from __future__ import annotations

import re
from collections.abc import Collection
from datetime import datetime

from grader.submissions.archives import Refused
from grader.submissions.claims import Claim, Claims
from grader.submissions.entry import Entry, Place
from grader.submissions.layouts.renaming import Renamed, by_learner
from grader.submissions.names import LONGEST

NAME = "blackboard"

# The system's note ends in the time and `.txt`.
_NAMED = re.compile(r"^(?P<before>.+)_attempt_(?P<time>\d{4}(?:-\d\d){5})(?:_(?P<original>.+)|\.txt)$")


def makes_file(name: str) -> bool:
    """Whether Blackboard calls a file of a learner so."""
    return _parse(name) is not None


def makes_folder(name: str) -> bool:
    """Blackboard makes none."""
    return False


def take(entries: list[Entry], claims: Claims) -> list[Entry]:
    """Claim the files that Blackboard named; return the rest."""
    files = [entry for entry in entries if entry.kind != "folder"]
    users = _users(files)
    made = {entry: _parse(entry.name, users) for entry in files}
    parsed = {entry: renamed for entry, renamed in made.items() if renamed is not None}
    for claim, theirs in by_learner(NAME, parsed, claims):
        for entry in _newest(theirs, parsed, claim):
            renamed = parsed[entry]
            if renamed.original is not None:
                claim.places.append(Place(entry, renamed.original, _time(renamed.number)))
    return [entry for entry in entries if entry not in parsed]


def _newest(entries: list[Entry], parsed: dict[Entry, Renamed], claim: Claim) -> list[Entry]:
    newest = max(parsed[entry].number for entry in entries)
    older = sorted({parsed[entry].number for entry in entries} - {newest})
    if older:
        claim.notes.append(f"only the newest attempt counts ({newest}); left out: {', '.join(older)}")
    return [entry for entry in entries if parsed[entry].number == newest]


def _users(files: list[Entry]) -> set[str]:
    users = set()
    for entry in files:
        if entry.name.endswith(".txt") and _parse(entry.name):
            try:
                user = _user(entry.read(1 << 20)[:4096].decode("utf-8", "replace"))
            except Refused:
                continue
            if user:
                users.add(user)
    return users


def _user(text: str) -> str | None:
    """Read the user from the note that the system puts beside the files: `Name: Ada Lovelace (ada_l)`."""
    found = re.match(r"\ufeff?Name:[^\r\n]*\(([^()\r\n]+)\)\s*(?:[\r\n]|$)", text)
    return found[1] if found else None


def _time(text: str) -> datetime | None:
    """Read the time in a file's name, `2026-01-02-03-04-05`: by this machine's clock, as it names no zone."""
    try:
        return datetime.strptime(text, "%Y-%m-%d-%H-%M-%S").astimezone()
    except (ValueError, OverflowError, OSError):
        return None


def _parse(name: str, users: Collection[str] = ()) -> Renamed | None:
    """Take a file's name apart; `users` are names known from its notes, which may hold a `_`."""
    found = _NAMED.match(name)
    if not found or len(name) > 4 * LONGEST:
        return None
    before = found["before"]
    ends = [before[place + 1 :] for place, char in enumerate(before) if char == "_"] or [before]
    user = next((end for end in ends if end in users), ends[-1])
    return Renamed(user, user, found["original"], found["time"])
