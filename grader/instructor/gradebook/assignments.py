"""An assignment: the katas that one hand-in covers, when it is due, when it closes, and which attempt counts."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

Attempts = Literal["newest", "best", "chosen"]


class AssignmentTable(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """`[assignments.NAME]` of the course settings, as it is written. Times are checked where the zone is known."""

    katas: Annotated[tuple[str, ...], Meta(min_length=1, description="a list of IDs")]
    title: Annotated[str, Meta(max_length=400, description="what people call it")] = ""
    due: Any = None
    closes: Any = None
    attempts: Attempts = "newest"
    late_days: Annotated[int, Meta(ge=0, le=365, description="days, from 0 to 365")] | None = None


@dataclass(frozen=True)
class Assignment:
    """One of a course's assignments, with every ID resolved to katas."""

    name: str
    katas: tuple[str, ...]
    """By slug, in the catalogue's order."""
    title: str = ""
    due: datetime | None = None
    """In UTC; None: never late."""
    closes: datetime | None = None
    """In UTC: what comes in later does not count; None: it stays open."""
    attempts: Attempts = "newest"
    late_days: int | None = None
    """At most so many of a learner's late days may be used for it; None: as many as are left."""
