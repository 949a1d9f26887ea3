"""From what was graded to what counts: lateness, then what people decided.

Pure functions of times, points and a policy; where they come from is `course`'s affair.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Annotated, Literal, NamedTuple

import msgspec
from msgspec import Meta

from grader.instructor.gradebook.events import Override, PointsChange

DAY = timedelta(days=1)
_PLACES = 6


class LatePolicy(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """The table `[late]` of the course settings; as it stands here, lateness is noted and costs nothing."""

    grace_minutes: Annotated[
        float, Meta(ge=0, le=10_080, description="minutes, from 0 to 10080 (a week)")
    ] = 0.0
    """So late is not late. A hand-in after that is late from the due date on."""
    percent_per_day: Annotated[float, Meta(ge=0, le=100, description="a percentage, from 0 to 100")] = 0.0
    """Taken for each day that has started."""
    most_percent: Annotated[float, Meta(ge=0, le=100, description="a percentage, from 0 to 100")] = 100.0
    """However late, no more than this is taken."""
    of: Literal["earned", "possible"] = "earned"
    """Percent of the points earned, or of those that could be earned."""
    refused_after_days: Annotated[float, Meta(ge=0, le=3650, description="days, from 0 to 3650")] | None = (
        None
    )
    """Later than this, nothing counts."""
    unknown: Annotated[float, Meta(ge=0, le=3650, description="days, from 0 to 3650")] = 0.0
    """So many days late is what a system marks late without saying when it came in."""
    late_days: Annotated[int, Meta(ge=0, le=365, description="days, from 0 to 365")] = 0
    """Everybody may be so many days late over the whole course, for nothing; used in the order of due times."""


class Lateness(NamedTuple):
    """How late something is, and what that costs."""

    days: float
    """Past the due date; 0 within the grace time."""
    points: float
    """Taken, from 0 to the score."""


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
    return Lateness(round(days, _PLACES), round(max(0.0, points), _PLACES))


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
    for one in adjustments:
        if one.revoked:
            continue
        if isinstance(one, Override):
            score, taken = one.points, 0.0
        else:
            score += one.points
    return max(0.0, round(score, 6)), taken
