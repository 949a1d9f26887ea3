"""nbgrader's course folder: `submitted/LEARNER/ASSIGNMENT/`, with the time of the hand-in in `timestamp.txt`."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

NAME = "nbgrader"
SUBMITTED = "submitted"
"""The folder with everybody's work."""
STAMP = "timestamp.txt"
OWN_FILES = frozenset({"nbgrader_config.py", "source", "release", "autograded", "gradebook.db"})
"""What else lies in a course folder."""


def read_time(text: str) -> datetime | None:
    """Read `2026-02-02 15:58:23.948203 America/Los_Angeles`; without a zone, UTC."""
    words = text.split()
    try:
        time = datetime.fromisoformat(" ".join(words[:2]))
        if time.tzinfo is not None:
            return time
        return time.replace(tzinfo=ZoneInfo(words[2]) if len(words) > 2 else UTC)
    except (ValueError, OSError, ZoneInfoNotFoundError):
        return None
