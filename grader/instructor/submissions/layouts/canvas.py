"""Canvas: one folder of files, `lovelaceada_LATE_1234_5678_masks-1.py`: name, user, attachment, the file."""

from __future__ import annotations

import os
import re
from collections import Counter, defaultdict

from grader.catalogue import SUBMISSION_SUFFIXES
from grader.instructor.submissions.claims import Claim, Claims
from grader.instructor.submissions.entry import Entry, Place
from grader.instructor.submissions.layouts.renaming import Renamed, claimed_by_learner
from grader.instructor.submissions.names import archive_stem

NAME = "canvas"

# Identifiers never begin with 0. Canvas takes numbers between underscores out of people's names, so that the leftmost
# pair of numbers is its own, whatever the learner called the file: names with more of them are in no doubt.
_NAMED = re.compile(
    r"(?P<name>[^_].*?)(?P<late>_LATE)?_(?P<user>[1-9][0-9]*)_(?P<file>[1-9][0-9]*)_(?P<original>.+)",
    re.DOTALL,
)
_ANONYMOUS = re.compile(
    r"anon(?P<late>_LATE)?_(?P<user>[A-Za-z0-9]{5})_(?P<file>[1-9][0-9]*)_(?P<original>.+)", re.DOTALL
)

# A text entry has no attachment: `lovelaceada_1234_text.html`.
_TEXT = re.compile(r"(?P<name>[^_].*?)(?P<late>_LATE)?_(?P<user>[1-9][0-9]*)_(?P<original>text\.html)")


def makes_file(name: str) -> bool:
    """Whether Canvas calls a file of a learner so."""
    return _parse(name) is not None


def makes_folder(name: str) -> bool:
    """Canvas makes none."""
    return False


def take(entries: list[Entry], claims: Claims) -> list[Entry]:
    """Claim the files that Canvas named; return the rest."""
    parsed = _parsed([entry for entry in entries if entry.kind != "folder"])
    for claim, theirs in claimed_by_learner(NAME, parsed, claims):
        for entry in _newest(theirs, parsed, claim):
            claim.places.append(Place(entry, parsed[entry].original))
    return [entry for entry in entries if entry not in parsed]


def _parsed(files: list[Entry]) -> dict[Entry, Renamed]:
    """Take apart the files of a Canvas download, if it is one: attachments are numbered once, users have one name."""
    made = {entry: _parse(entry.name) for entry in files}
    parsed = {entry: renamed for entry, renamed in made.items() if renamed is not None}
    attachments = Counter(renamed.number for renamed in parsed.values() if renamed.number)
    names: dict[str, set[str]] = defaultdict(set)
    for renamed in parsed.values():
        names[renamed.key].add(renamed.learner)
    if any(count > 1 for count in attachments.values()) or any(len(known) > 1 for known in names.values()):
        return {}
    return parsed


def _newest(entries: list[Entry], parsed: dict[Entry, Renamed], claim: Claim) -> list[Entry]:
    newest: dict[str, Entry] = {}
    for entry in sorted(entries, key=lambda entry: parsed[entry].number):
        if not parsed[entry].number:
            claim.notes.append("a text was typed into Canvas; it is not read")
        if parsed[entry].late:
            claim.notes.append(f"Canvas marks {parsed[entry].original} as late")
        original = parsed[entry].original or entry.name
        if original in newest:
            claim.notes.append(f"{newest[original].label} was left out: {entry.label} is newer")
        newest[original] = entry
    return list(newest.values())


def _parse(name: str) -> Renamed | None:
    """Take a file's name apart."""
    found = _ANONYMOUS.fullmatch(name)
    if found:
        who = f"anon_{found['user']}"
    else:
        found = _NAMED.fullmatch(name)
        if not found:
            found = _TEXT.fullmatch(name)
            if found:
                who, late = f"{found['name']}_{found['user']}", found["late"] is not None
                return Renamed(who, found["user"], "text.html", late=late)
            return None
        who = f"{found['name']}_{found['user']}"
    original = found["original"]
    stem, suffix = os.path.splitext(original)
    if suffix.casefold() in SUBMISSION_SUFFIXES or archive_stem(original) is not None:
        # Canvas numbers a later file of the same name; other files keep what may be their own number.
        ending = original[len(archive_stem(original) or stem) :]
        original = re.sub(r"-[0-9]+\Z", "", original[: len(original) - len(ending)]) + ending
    return Renamed(who, found["user"], original, found["file"].zfill(20), late=found["late"] is not None)
