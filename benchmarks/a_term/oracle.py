"""What every mark of a term must be, computed from its script alone.

Written apart from Kata, from what docs/instructors.md promises: it imports nothing of it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cmp_to_key

from benchmarks.a_term.script import (
    CLOSES_AFTER_DAYS,
    GRACE,
    LATE_DAYS,
    MOST_PERCENT,
    PERCENT_PER_DAY,
    ZONE,
    Decision,
    Download,
    HandIn,
    Mend,
    Script,
    Step,
    Together,
    due,
    mode,
)

POINTS = 5.0
# Of the toy kata: in order 2, empty 1, equal 1 (after "in order"), and a hidden one, 1.
EARNED = {"right": 5.0, "drops": 3.0, "descending": 1.0, "stub": 0.0, "broken": 0.0}
EARNED_BEFORE_MENDING = {**EARNED, "right": 4.0, "drops": 4.0}
"""The check on equal numbers asked for each number once."""
STATUS = {"right": "pass", "drops": "fail", "descending": "fail", "stub": "not_started", "broken": "error"}
STATUS_BEFORE_MENDING = {**STATUS, "right": "fail"}


@dataclass(frozen=True)
class Mark:
    """What counts of one learner in one week."""

    status: str
    score: float
    days_late: float = 0.0
    late_points: float = 0.0
    attempts: int = 0
    passed_over: bool = False
    """Something newer came in, after closing, and does not count."""


@dataclass
class _Attempt:
    text: str
    at: datetime | None
    kind: str
    arrived: int
    """In which step of the script."""


@dataclass
class _Known:
    """What has happened to one learner in one week."""

    attempts: list[_Attempt] = field(default_factory=list)
    unreadable: bool = False
    taken: bool = False
    chosen: datetime | None = None
    days: int = 0
    changes: list[Decision] = field(default_factory=list)


def marks(script: Script, steps: Sequence[Step]) -> dict[tuple[str, int], Mark]:
    """Return what counts after these steps, by login and week; for every learner and every week until then."""
    known: dict[tuple[str, int], _Known] = {}
    weeks: set[int] = set()
    mended: set[int] = set()
    for number, step in enumerate(steps):
        if isinstance(step, Download):
            weeks.add(step.week)
            _download(known, step, number)
        elif isinstance(step, Decision):
            _decide(known.setdefault((step.login, step.week), _Known()), step)
        elif isinstance(step, Together):
            for one in step.decisions:
                _decide(known.setdefault((one.login, one.week), _Known()), one)
        elif isinstance(step, Mend):
            mended.add(step.week)
    people = [one.login for one in script.learners]
    if any(login == script.visitor for login, _ in known):
        people.append(script.visitor)
    found: dict[tuple[str, int], Mark] = {}
    for login in people:
        left = LATE_DAYS
        for week in sorted(weeks):
            wrong = week == script.mended and week not in mended
            mark, used = _mark(week, known.get((login, week), _Known()), left, wrong=wrong)
            left -= used
            found[login, week] = mark
    return found


def _download(known: dict[tuple[str, int], _Known], step: Download, number: int) -> None:
    for one in step.hand_ins:
        at = one.at if step.timed else None
        for login in one.whose:
            mine = known.setdefault((login, one.week), _Known())
            if one.form == "unreadable":
                mine.unreadable = True
            elif one.form == "plain" or mine.taken:
                _came_in(mine, one, at, number)


def _came_in(mine: _Known, one: HandIn, at: datetime | None, number: int) -> None:
    for before in mine.attempts:
        # A download that is read again brings nothing new, but perhaps a time.
        if before.text == one.text and (before.at is None or at is None or before.at == at):
            before.at = before.at or at
            return
    mine.attempts.append(_Attempt(one.text, at, one.kind, number))


def _decide(mine: _Known, one: Decision) -> None:
    if one.kind == "take":
        mine.taken = True
    elif one.kind == "choose":
        mine.chosen = one.at
    elif one.kind == "extend":
        mine.days = one.days
    elif one.kind == "revoke":
        mine.changes.pop()
    elif one.kind in ("adjust", "override"):
        mine.changes.append(one)


def changed(steps: Iterable[Step]) -> set[tuple[str, int]]:
    """Return, by login and week, whose points somebody gave or took, and has not taken back."""
    known: dict[tuple[str, int], _Known] = {}
    for step in steps:
        for one in step.decisions if isinstance(step, Together) else (step,):
            if isinstance(one, Decision):
                _decide(known.setdefault((one.login, one.week), _Known()), one)
    return {key for key, mine in known.items() if mine.changes}


def written(script: Script) -> dict[str, bool]:
    """Return who has handed in written answers, and whether in time."""
    given = [one for step in script.steps if isinstance(step, Download) for one in step.hand_ins]
    return {login: one.at <= due(one.week) for one in given if one.answered for login in one.whose}


def _moved(moment: datetime, days: int) -> datetime:
    """Return a moment some days later, at the same time of the course's clock."""
    return (_clock(moment) + timedelta(days=days)).replace(tzinfo=ZONE).astimezone(UTC)


def _clock(moment: datetime) -> datetime:
    return moment.astimezone(ZONE).replace(tzinfo=None)


def _mark(week: int, mine: _Known, left: int, *, wrong: bool) -> tuple[Mark, int]:
    """Return the mark, and how many late days it uses."""
    points = EARNED_BEFORE_MENDING if wrong else EARNED
    words = STATUS_BEFORE_MENDING if wrong else STATUS
    if not mine.attempts:
        score = _changed(0.0, mine.changes)
        return Mark("error" if mine.unreadable else "missing", score), 0
    until = _moved(due(week), mine.days)
    closes = _moved(_moved(due(week), CLOSES_AFTER_DAYS), mine.days)

    def days(one: _Attempt) -> float:
        late = one.at is not None and one.at - until > GRACE
        # On the clock of the course: a day over a change of the clocks has 23 or 25 hours.
        return (_clock(one.at) - _clock(until)) / timedelta(days=1) if late and one.at is not None else 0.0

    def taken(one: _Attempt, free: int) -> float:
        charged = max(0, math.ceil(days(one)) - free)
        return points[one.kind] * min(charged * PERCENT_PER_DAY, MOST_PERCENT) / 100

    def shut(one: _Attempt) -> bool:
        return one.at is not None and one.at > closes

    order = cmp_to_key(_compared)
    chosen = _chosen(mine)
    in_time = [one for one in mine.attempts if not shut(one)] or mine.attempts
    if chosen is not None:
        counts = chosen
    elif mode(week) == "best":
        counts = min(in_time, key=lambda one: (taken(one, left) - points[one.kind], order(one)))
    else:
        counts = max(in_time, key=order)
    over = chosen is None and any(shut(one) and order(one) > order(counts) for one in mine.attempts)
    closed = shut(counts)
    used = 0 if closed else min(left, math.ceil(days(counts)))
    earned = points[counts.kind]
    lost = earned if closed and chosen is None else taken(counts, used)
    score = _changed(earned - lost, mine.changes)
    told = 0.0 if any(one.kind == "override" for one in mine.changes) else lost
    texts = {one.text for one in mine.attempts}
    return Mark(words[counts.kind], score, days(counts), told, len(texts), over and not closed), used


def _compared(one: _Attempt, other: _Attempt) -> float:
    """Return what is above 0 if one is newer than another: by their times, or by arrival where one is unknown."""
    if one.at is None or other.at is None or one.at == other.at:
        return one.arrived - other.arrived
    return (one.at - other.at).total_seconds()


def _chosen(mine: _Known) -> _Attempt | None:
    """Return what somebody chose; where no time is known, the first that came in."""
    if mine.chosen is None:
        return None
    exact = [one for one in mine.attempts if one.at == mine.chosen]
    return (exact or sorted(mine.attempts, key=lambda one: one.arrived))[0]


def _changed(score: float, changes: Iterable[Decision]) -> float:
    for one in changes:
        score = one.points if one.kind == "override" else score + one.points
    return max(0.0, score)
