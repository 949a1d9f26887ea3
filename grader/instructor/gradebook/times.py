"""When things were handed in, when they are due, and what lateness costs; then what people decided about points.

Pure functions of times, points and a policy; where they come from is the affair of `course`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

import msgspec
from msgspec import Meta

from grader.catalogue import Catalogue
from grader.errors import UsageError
from grader.instructor.gradebook.events import Override, PointsChange
from grader.instructor.gradebook.roster import read_table
from grader.instructor.lms import times_of
from grader.instructor.lms.moodle import time_in_words
from grader.instructor.lms.person import Found
from grader.instructor.lms.system import Times
from grader.words import counted

DAY = timedelta(days=1)
_PLACES = 6


class LatePolicy(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """The table `[late]` of the course settings; as it stands here, lateness is noted and costs nothing."""

    grace_minutes: Annotated[
        float, Meta(ge=0, le=10_080, description="a number of minutes, from 0 to 10080 (a week)")
    ] = 0.0
    """So late is not late. A hand-in after that is late from the due date on."""
    percent_per_day: Annotated[float, Meta(ge=0, le=100, description="a number from 0 to 100")] = 0.0
    """Taken for each day that has started."""
    most_percent: Annotated[float, Meta(ge=0, le=100, description="a number from 0 to 100")] = 100.0
    """However late, no more than this is taken."""
    of: Literal["earned", "possible"] = "earned"
    """Percent of the points earned, or of those that could be earned."""
    refused_after_days: (
        Annotated[float, Meta(ge=0, le=3650, description="a number of days, from 0 to 3650")] | None
    ) = None
    """Later than this, nothing counts."""
    unknown: Annotated[float, Meta(ge=0, le=3650, description="a number of days, from 0 to 3650")] = 0.0
    """So many days late is what a system marks late without saying when it came in."""
    late_days: Annotated[int, Meta(ge=0, le=365, description="a whole number of days, from 0 to 365")] = 0
    """Everybody may be so many days late over the whole course, for nothing; used in the order of due times."""


class Lateness(NamedTuple):
    """How late something is, and what that costs."""

    days: float
    """Past the due date; 0 within the grace time."""
    points: float
    """Taken, from 0 to the score."""
    begun: int = 0
    """So many days are charged for, where that takes points."""
    percent: float = 0.0
    """What that takes, of the points earned or possible."""

    @property
    def words(self) -> str:
        """How late, and why that costs what it costs: `6 minutes late: 1 day begun, 10 %`."""
        minutes = max(1, round(self.days * 24 * 60))
        if minutes < 60:
            span = counted(minutes, "minute")
        elif self.days < 1:
            span = counted(round(self.days * 24, 1), "hour")
        else:
            span = counted(round(self.days, 2), "day")
        return f"{span} late" + (
            f": {counted(self.begun, 'day')} begun, {self.percent:g} %" if self.percent else ""
        )


ON_TIME = Lateness(0.0, 0.0)


def lateness(
    due: datetime | None,
    submitted: datetime | None,
    policy: LatePolicy,
    *,
    score: float,
    max_score: float,
    free_days: int = 0,
    zone: tzinfo = UTC,
) -> Lateness:
    """Return how late a submission is and what it loses.

    Without a due date, or when nobody knows when it was handed in, it is on time. A day is over at the same time of
    day on the zone's clocks, however many hours a clock change made of it.

    Args:
        due: when it was due for this learner, extensions included, with a zone.
        submitted: when it was handed in, with a zone.
        policy: the course's.
        score: points before lateness.
        max_score: points that could be earned.
        free_days: so many started days cost nothing.
        zone: the course's, whose clocks count.
    """
    if due is None or submitted is None or submitted - due <= timedelta(minutes=policy.grace_minutes):
        return ON_TIME
    # By the clock on the wall: when it changes, a day has 23 or 25 hours, and nobody should pay for that.
    days = _days_on_clock(due, submitted, zone)
    if policy.refused_after_days is not None and days > policy.refused_after_days:
        return Lateness(round(days, _PLACES), max(0.0, score))
    charged = max(0, math.ceil(days) - free_days)
    percent = min(charged * policy.percent_per_day, policy.most_percent)
    whole = score if policy.of == "earned" else max_score
    # Never more than was earned: the penalty may be a share of the maximum.
    points = min(max(0.0, score), whole * percent / 100)
    taken = round(max(0.0, points), _PLACES)
    return Lateness(round(days, _PLACES), taken, *((charged, percent) if taken else ()))


def _days_on_clock(due: datetime, submitted: datetime, zone: tzinfo) -> float:
    """Return by how many days the zone's clocks had gone on."""
    due_there, there = (at.astimezone(zone).replace(tzinfo=None) for at in (due, submitted))
    days = (there - due_there) / DAY
    # An hour that the clock repeats is over after its second run, as `due_in_utc` reads it: until then, no day begins.
    if (over := math.floor(days)) > 0 and submitted <= add_days(due, over, zone):
        return over
    return days if days > 0 else (submitted - due) / DAY


def due_in_utc(written: datetime | date, zone: tzinfo) -> datetime:
    """Return the moment that a due date means, in UTC.

    A time without a zone is the course's local one; where a clock change makes that two moments, the later. A date
    alone means until the end of that day.
    """
    if not isinstance(written, datetime):
        return due_in_utc(datetime.combine(written + DAY, time()), zone)
    if written.tzinfo is not None:
        return written.astimezone(UTC)
    # The later one: in doubt for the learner.
    return max(written.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1))


def add_days(due: datetime, days: float, zone: tzinfo) -> datetime:
    """Return a due date some days later, at the same time on the clock there."""
    local = due.astimezone(zone).replace(tzinfo=None) + timedelta(days=days)
    return due_in_utc(local, zone)


def final_score(
    graded: float, late_points: float, adjustments: Iterable[PointsChange]
) -> tuple[float, float]:
    """Return the score that counts, never below 0, and the points that lateness took from it.

    An override is the mark: it replaces what was graded, lateness and whatever people said before it. Points that
    are given or taken after it count on top. What was revoked counts nowhere.

    Args:
        graded: the newest attempt's points.
        late_points: what lateness would take from them.
        adjustments: in the order in which they were made.
    """
    score, taken = graded - late_points, late_points
    for change in adjustments:
        if change.revoked:
            continue
        if isinstance(change, Override):
            score, taken = change.points, 0.0
        else:
            score += change.points
    return max(0.0, round(score, 6)), taken


_EXAMPLE = (
    "For example: learner,kata,submitted_at and a line like ada,masks,2026-10-12T17:30:00; without a column kata, "
    "a time holds for everything in the download."
)
_NOTHING = ("", "-", "none", "null")


class HandedInAt(NamedTuple):
    """A line."""

    who: Found
    kata: str | None
    """By slug; None: everything in the download."""
    at: datetime
    line: int


_OWN = Times("submitted_at", lambda cells: Found(cells["learner"]))


def read_times(path: Path, zone: tzinfo, catalogue: Catalogue) -> Iterator[HandedInAt]:
    """Yield what the file at `path` says.

    Args:
        path: a CSV file.
        zone: of times without one.
        catalogue: where IDs of katas are looked up.

    Raises:
        UsageError: it is missing or unreadable, or a line breaks a rule: which line, and what is expected.
    """
    place, columns, rows = read_table(path, "times", "Correct --times.")
    table = times_of(columns) or (_OWN if {"learner", _OWN.column} <= set(columns) else None)
    if table is None:
        there = ", ".join(column for column in columns if column) or "none"
        raise UsageError(
            f"{path}:{place}: no columns `learner` and `submitted_at` (there are: {there}).", _EXAMPLE
        )
    for line, cells in rows:
        # Systems list those who handed in nothing, too.
        if cells[table.column].casefold() in _NOTHING:
            continue
        at = _time(cells[table.column], zone)
        if at is None:
            raise UsageError(
                f"{path}:{line}: {cells[table.column]!r} is not a time.", "Write it like 2026-10-12T17:30:00."
            )
        yield HandedInAt(table.who(cells), _kata(path, line, cells, catalogue), at, line)


def _kata(path: Path, line: int, cells: dict[str, str], catalogue: Catalogue) -> str | None:
    if not cells.get("kata"):
        return None
    try:
        return catalogue.resolve_one(cells["kata"]).slug
    except UsageError as error:
        raise UsageError(f"{path}:{line}: {error.message}", _EXAMPLE) from error


def _time(text: str, zone: tzinfo) -> datetime | None:
    """Read a time as the systems write it: ISO 8601 with or without a zone, `… UTC`, Moodle's words."""
    word = text.removesuffix(" UTC") + "+00:00" if text.endswith(" UTC") else text
    parts = word.rsplit(" ", 1)
    if len(parts) == 2 and parts[1][:1] in ("+", "-") and parts[1][1:].replace(":", "").isdigit():
        word = "".join(parts)
    try:
        written: datetime | None = datetime.fromisoformat(word)
    except ValueError:
        written = time_in_words(text)
    try:
        return due_in_utc(written, zone) if written is not None else None
    except (ValueError, OverflowError):
        return None
