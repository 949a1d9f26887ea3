"""Gradescope: folders `submission_N`, and beside them a file that says whose each is and when it was handed in."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone
from typing import IO

from grader.instructor.submissions.archives import NotRead, open_file
from grader.instructor.submissions.claims import Claim, Claims
from grader.instructor.submissions.entry import Entry, Place
from grader.instructor.submissions.spot import Spot

NAME = "gradescope"
METADATA = "submission_metadata.yml"

_MAX_METADATA = 256 << 20
_LONGEST_LINE = 1 << 16


def makes_file(name: str) -> bool:
    """Gradescope makes none of a learner."""
    return False


def makes_folder(name: str) -> bool:
    """Whether Gradescope calls a folder of a learner so."""
    return re.fullmatch(r"submission_[0-9]+", name) is not None


def makes_wrapper(name: str) -> bool:
    """Whether Gradescope calls the folder around a whole export so."""
    return re.fullmatch(r"assignment_[0-9]+_export", name) is not None


def take(entries: list[Entry], claims: Claims) -> list[Entry]:
    """Claim the folders, named by the metadata beside them; return the rest."""
    folders = [e for e in entries if e.kind == "folder" and makes_folder(e.name)]
    described = next((entry for entry in entries if entry.name == METADATA), None)
    if not folders or (described is None and len(folders) < len(entries)):
        return entries
    known: dict[str, _Handin] = {}
    if described is None:
        claims.notes.append(f"{METADATA} is missing, so learners are named by their submission numbers")
    else:
        try:
            known = _read(_lines(described))
        except (NotRead, OSError) as error:
            claims.notes.append(
                f"{METADATA} cannot be read ({error}), so learners are named by their submission numbers"
            )
    shared: dict[int, tuple[Claim, list[Place]]] = {}
    for entry in folders:
        handin = known.get(entry.name, _Handin())
        who = [person for person in handin.submitters if person]
        for person in who or [{}]:
            # What a learner may choose must not stand for what somebody else is known by: an e-mail address as a name.
            rank, identity = (
                next((rank, person[by]) for rank, by in enumerate(("email", "sid", "name")) if person.get(by))
                if person
                else (3, entry.name)
            )
            claim = claims.of(NAME, f"{rank} {identity}", identity, entry.name, rank)
            place = Place(entry, submitted_at=handin.created_at, time_source="Gradescope")
            (claim.places if len(who) < 2 else shared.setdefault(id(claim), (claim, []))[1]).append(place)
            claim.ids.update({**person, NAME: entry.name})
            others = [other.get("name") or other.get("email", "?") for other in who if other is not person]
            if others:
                claim.notes.append(f"handed in together with {', '.join(others)}")
            if not person and known:
                claim.notes.append(f"{METADATA} does not say who handed in {entry.name}")
            if len(claim.places) > 1:
                claim.notes.append(f"handed in more than once, read together: {entry.name} is one")
    for claim, places in shared.values():
        # Whoever hands in for a group says who is in it. That must not stand against what somebody handed in alone.
        if claim.places:
            names = ", ".join(place.entry.name for place in places)
            claim.notes.append(f"named as a member of a group in {names}, which was left out")
        else:
            claim.places += places
    taken = {*folders, described}
    return [entry for entry in entries if entry not in taken]


@dataclass
class _Handin:
    """One submission in the metadata."""

    submitters: list[dict[str, str]] = field(default_factory=list)
    """`name`, `email` and `sid`, as far as they are given."""
    created_at: datetime | None = None


def _lines(entry: Entry) -> Iterable[str]:
    if entry.spot is None or entry.kind:
        return _decoded(io.BytesIO(entry.read(_MAX_METADATA)))
    return _lines_of(entry.spot)


def _lines_of(spot: Spot) -> Iterable[str]:
    with open_file(spot) as file:
        yield from _decoded(file)


def _decoded(file: IO[bytes]) -> Iterator[str]:
    """Return the lines of a file; one of over 64 KB is cut, so that its rest never passes for a line."""
    while piece := file.readline(_LONGEST_LINE):
        rest = piece
        while rest and not rest.endswith(b"\n"):
            rest = file.readline(_LONGEST_LINE)
        yield piece.decode("utf-8", "replace").rstrip("\r\n")


def _read(text: Iterable[str]) -> dict[str, _Handin]:
    """Read `submission_metadata.yml`: for each `submission_N`, who handed it in and when.

    The file also holds what programs of learners printed, always indented further. So this reads the few lines
    at their few indentations, and nothing else.
    """
    found: dict[str, _Handin] = {}
    handin: _Handin | None = None
    inside = False
    for line in text:
        if line[:1] not in {"", " ", "#", "-"}:
            name = re.fullmatch(r"[\"']?(submission_\d+)[\"']?:\s*", line)
            handin = _Handin() if name and name[1] not in found else None
            if name and handin is not None:
                found[name[1]] = handin
            inside = False
            continue
        if handin is None:
            continue
        key = re.fullmatch(r"  :(\w+): ?(.*)", line)
        if key:
            inside = key[1] == "submitters" and not handin.submitters
            if key[1] == "created_at" and handin.created_at is None:
                handin.created_at = _time(_scalar(key[2]))
            continue
        entry = re.fullmatch(r"(?:  |    )(- |  ):(name|email|sid): ?(.*)", line) if inside else None
        if entry:
            if entry[1] == "- " or not handin.submitters:
                handin.submitters.append({})
            value = _scalar(entry[3])
            if value:
                handin.submitters[-1].setdefault(entry[2], value)
    return found


def _scalar(text: str) -> str:
    text = text.strip()
    if len(text) > 1 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    if len(text) > 1 and text[0] == text[-1] == '"':
        try:
            value = json.loads(re.sub(r"\\x([0-9A-Fa-f]{2})", r"\\u00\1", text))
        except ValueError:
            return text[1:-1]
        return str(value)
    return "" if text in {"null", "~"} else text


def _time(text: str) -> datetime | None:
    found = re.fullmatch(
        r"(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(?:\.\d+)?\s*(?:Z|UTC|([+-])(\d\d):?(\d\d))?", text.strip()
    )
    if not found:
        return None
    shift = timedelta(hours=int(found[4] or 0), minutes=int(found[5] or 0))
    zone = timezone(-shift if found[3] == "-" else shift) if shift < timedelta(hours=24) else UTC
    try:
        return datetime.fromisoformat(f"{found[1]} {found[2]}").replace(tzinfo=zone)
    except ValueError:
        return None
