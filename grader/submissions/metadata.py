"""What learning-management systems write beside the files: who handed in, and when."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone
from typing import IO
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

_LONGEST_LINE = 1 << 16


@dataclass
class Handin:
    """One submission in Gradescope's export."""

    submitters: list[dict[str, str]] = field(default_factory=list)
    """`name`, `email` and `sid`, as far as they are given."""
    created_at: datetime | None = None


def lines(file: IO[bytes]) -> Iterator[str]:
    """Return the lines of a file; one of over 64 KB is cut, so that its rest never passes for a line."""
    while piece := file.readline(_LONGEST_LINE):
        rest = piece
        while rest and not rest.endswith(b"\n"):
            rest = file.readline(_LONGEST_LINE)
        yield piece.decode("utf-8", "replace").rstrip("\r\n")


def gradescope(text: Iterable[str]) -> dict[str, Handin]:
    """Read `submission_metadata.yml`: for each `submission_N`, who handed it in and when.

    The file also holds what programs of learners printed, always indented further. So this reads the few lines
    at their few indentations, and nothing else.
    """
    found: dict[str, Handin] = {}
    handin: Handin | None = None
    inside = False
    for line in text:
        if line[:1] not in {"", " ", "#", "-"}:
            name = re.fullmatch(r"[\"']?(submission_\d+)[\"']?:\s*", line)
            handin = Handin() if name and name[1] not in found else None
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
                handin.created_at = _gradescope_time(_scalar(key[2]))
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


def _gradescope_time(text: str) -> datetime | None:
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


def nbgrader_time(text: str) -> datetime | None:
    """Read nbgrader's `timestamp.txt`: `2026-02-02 15:58:23.948203 America/Los_Angeles`; without a zone, UTC."""
    words = text.split()
    try:
        time = datetime.fromisoformat(" ".join(words[:2]))
        if time.tzinfo is not None:
            return time
        return time.replace(tzinfo=ZoneInfo(words[2]) if len(words) > 2 else UTC)
    except (ValueError, OSError, ZoneInfoNotFoundError):
        return None


def blackboard_time(text: str) -> datetime | None:
    """Read the time in a file's name, `2026-01-02-03-04-05`: by this machine's clock, as it names no zone."""
    try:
        return datetime.strptime(text, "%Y-%m-%d-%H-%M-%S").astimezone()
    except (ValueError, OverflowError, OSError):
        return None


def blackboard_user(text: str) -> str | None:
    """Read the user from the note that Blackboard puts beside the files: `Name: Ada Lovelace (ada_l)`."""
    found = re.match(r"\ufeff?Name:[^\r\n]*\(([^()\r\n]+)\)\s*(?:[\r\n]|$)", text)
    return found[1] if found else None
