"""A submission as data: the files of one learner for one kata, or the reason why there are none."""

from __future__ import annotations

import hashlib
from datetime import datetime
from functools import cached_property
from typing import Literal

import msgspec


class Bundle(msgspec.Struct, frozen=True, dict=True):
    """One module and what is next to it: everything a grader anywhere needs to load it."""

    main: str
    """The module's path among `files`: `masks.py`, or `masks.ipynb`."""
    files: dict[str, bytes]
    """Relative POSIX path to content, `main` included. Never absolute, never with `..`."""

    @cached_property
    def digest(self) -> str:
        """SHA-256 over names and contents: equal content, equal digest, whatever the times and folders."""
        total = hashlib.sha256(self.main.encode())
        for name in sorted(self.files):
            for part in (name.encode(), self.files[name]):
                total.update(len(part).to_bytes(8, "big"))
                total.update(part)
        return total.hexdigest()


class Proposal(msgspec.Struct, frozen=True, kw_only=True):
    """A file that may be meant though its name is wrong; nobody takes it before somebody says so."""

    file: str
    """Its path among the learner's, for `kata gradebook take`."""
    reason: str
    origin: str | None = None
    """Where it lies; None where the gradebook keeps only that it came in."""

    @property
    def note(self) -> str:
        """The same in a sentence."""
        return f"{self.file} may be the answer: {self.reason}"


class HandedInSheet(msgspec.Struct, frozen=True, kw_only=True):
    """Written answers that came in with a submission, or alone."""

    bundle: Bundle
    """The one file."""
    number: str
    """The kata's."""
    origin: str | None = None
    submitted_at: datetime | None = None
    time_source: str | None = None


class Submission(msgspec.Struct, frozen=True, kw_only=True):
    """What one learner handed in for one kata."""

    learner: str
    """The learner's identity in the gradebook, unique and stable from run to run."""
    kata: str
    """The kata's slug."""
    bundle: Bundle | None = None
    status: Literal["found", "missing", "error"] = "found"
    """`missing`: no such file; `error`: there is something, and it cannot be read; without a bundle, both."""
    message: str | None = None
    """Why it is missing or unreadable, for the learner and the instructor."""
    stored: bool = False
    """It comes from the gradebook: nobody handed it in again."""
    proposal: Proposal | None = None
    """Where it is missing: what may be meant instead."""
    taken: str | None = None
    """The file's name, where it is the answer only because somebody decided so."""
    denied: str | None = None
    """What this machine did not let us read, though it is there: then nothing is known of what was handed in."""
    origin: str | None = None
    """Where it was found, as a person would look for it: `ada/week 2.zip › masks.py`."""
    submitted_at: datetime | None = None
    """When it was handed in, with a time zone, where anybody tells."""
    time_source: str | None = None
    """Who tells: a system's name, `git`, a file of times. Without a time, the system that marks it late."""
    answers: HandedInSheet | None = None
    """Written answers; nothing that grades code looks at them."""
    notes: tuple[str, ...] = ()
    """What the instructor should know though it was read: a second file that was left out, and the like."""
