"""Brightspace (D2L): a folder for each hand-in, `397063-2557369 - Ada Lovelace - Sep 24, 2024 926 PM`."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from datetime import datetime

from grader.instructor.submissions.claims import Claims
from grader.instructor.submissions.entry import Entry, Place

NAME = "brightspace"
OVERVIEW = "index.html"
"""Lies beside the folders."""

# Month names are English whatever the locale of this machine; `strptime` would take the machine's.
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_NAMED = re.compile(
    r"(?P<who>[0-9]+)-[0-9]+ - (?P<name>.+) - (?P<month>[A-Z][a-z]{2})[a-z]* (?P<day>[0-9]{1,2}), (?P<year>[0-9]{4}) "
    r"(?P<hour>[0-9]{1,2}):?(?P<minute>[0-9]{2}) (?P<half>[AP]M)"
)


@dataclass(frozen=True)
class _HandIn:
    entry: Entry
    number: str
    name: str
    at: datetime


def makes_file(name: str) -> bool:
    """Brightspace makes none of a learner."""
    return False


def makes_folder(name: str) -> bool:
    """Whether Brightspace calls a folder of a learner so."""
    return _parse(name) is not None


def take(entries: list[Entry], claims: Claims) -> list[Entry]:
    """Claim the folders that Brightspace named, of each learner the newest; return the rest."""
    parsed: dict[Entry, _HandIn] = {}
    for entry in entries:
        made = _parse(entry.name) if entry.kind == "folder" else None
        if made is not None:
            parsed[entry] = _HandIn(entry, *made)
    names: dict[str, set[str]] = defaultdict(set)
    for one in parsed.values():
        names[one.number].add(one.name)
    together: dict[tuple[str, str], list[_HandIn]] = defaultdict(list)
    for one in parsed.values():
        # A number that several names share is not a learner's, and cannot tell two of one name apart.
        together[one.number if len(names[one.number]) == 1 else "", one.name].append(one)
    called = Counter(name for _, name in together)
    for (number, name), theirs in together.items():
        claim = claims.of(NAME, f"{number} {name}", name, number or name)
        claim.ids["name"] = name
        if number and called[name] == 1:
            claim.ids[NAME] = number
        newest = max(theirs, key=lambda one: one.at)
        older = sorted(one.entry.name for one in theirs if one is not newest)
        if older:
            claim.notes.append(f"only the newest hand-in counts; left out: {', '.join(older)}")
        claim.places.append(Place(newest.entry, submitted_at=newest.at, time_source="Brightspace"))
    return [entry for entry in entries if entry not in parsed and entry.name != OVERVIEW]


def _parse(name: str) -> tuple[str, str, datetime] | None:
    """Take a folder's name apart: a number, who, and when; it names no zone."""
    found = _NAMED.fullmatch(name)
    if found is None or found["month"] not in _MONTHS:
        return None
    hour = int(found["hour"]) % 12 + 12 * (found["half"] == "PM")
    try:
        at = datetime(
            int(found["year"]),
            _MONTHS.index(found["month"]) + 1,
            int(found["day"]),
            hour,
            int(found["minute"]),
        )
    except ValueError:
        return None
    return found["who"], found["name"], at
