"""Which of a learner's hand-ins counts, and how late it is: pure functions of what came in, the course and rulings."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from grader.gradebook.lateness import Lateness
from grader.gradebook.records import Ruling
from grader.words import counted

if TYPE_CHECKING:
    from grader.gradebook.course import Course


class HandIn(NamedTuple):
    """Something that was handed in, with what its newest grading gave."""

    id: int
    digest: str
    """Of its content; empty when there was none to read."""
    submitted_at: datetime | None
    seen_at: datetime
    """When a run saw it last: the only order there is where nobody knows the time."""
    seen: int
    status: str
    score: float
    max_score: float
    graded: bool
    """False where the machine failed, so that its points say nothing."""

    @property
    def order(self) -> tuple[datetime, int]:
        """What sorts the older before the newer."""
        return self.submitted_at or self.seen_at, self.seen


class Counted(NamedTuple):
    """The hand-in that counts."""

    id: int
    late: Lateness
    free_days: int
    """Late days that were used for it."""
    closed: bool
    """It came in after closing, and nothing else did: it earns nothing."""
    remarks: tuple[str, ...]


@dataclass(frozen=True)
class _Group:
    """Katas that are handed in, and late, together."""

    katas: tuple[str, ...]
    late_days: int | None
    due: datetime | None


def count(
    course: Course, learner: str, handed_in: Mapping[str, Sequence[HandIn]], rulings: Collection[Ruling] = ()
) -> dict[str, Counted]:
    """Return, by kata, which hand-in of a learner counts.

    Late days are spent in the order of due times, as many as what counts is late. Of an assignment where the best
    counts, attempts are compared as if they could all have the days that are left.

    Args:
        course: whose rules hold.
        learner: whose they are.
        handed_in: by kata's slug; of all katas, where the course has late days.
        rulings: what people decided about this learner.
    """
    found: dict[str, Counted] = {}
    left = course.late.late_days
    for group in sorted(_groups(course, learner, handed_in, rulings), key=_first_due):
        free = left if group.late_days is None else min(left, group.late_days)
        picked = {kata: _pick(course, learner, kata, handed_in[kata], rulings, free) for kata in group.katas}
        needed = [_days_needed(course, learner, kata, one, rulings) for kata, one in picked.items()]
        used = min(free, max(needed, default=0))
        left -= used
        for kata, one in picked.items():
            found[kata] = _counted(course, learner, kata, one, handed_in[kata], rulings, used)
    return found


def _groups(
    course: Course, learner: str, handed_in: Iterable[str], rulings: Collection[Ruling]
) -> Iterable[_Group]:
    rest = set(handed_in)
    for assignment in course.assignments.values():
        own = tuple(kata for kata in assignment.katas if kata in rest)
        rest -= set(own)
        if own:
            yield _Group(own, assignment.late_days, course.due_for(learner, own[0], rulings))
    for kata in sorted(rest):
        yield _Group((kata,), None, course.due_for(learner, kata, rulings))


def _first_due(group: _Group) -> tuple[datetime, tuple[str, ...]]:
    return group.due or datetime.max.replace(tzinfo=UTC), group.katas


def _pick(
    course: Course,
    learner: str,
    kata: str,
    given: Sequence[HandIn],
    rulings: Collection[Ruling],
    free: int,
) -> HandIn:
    chosen = next(
        (one.value for one in reversed(list(rulings)) if one.kind == "choose" and one.kata == kata), None
    )
    for one in given:
        if one.id == chosen:
            return one
    read = [one for one in given if one.digest]
    read = [one for one in read if one.graded] or read
    if not read:  # "missing" is only said of what was never handed in
        return max(given, key=lambda one: one.order)
    open_ = [one for one in read if not _shut(course, learner, kata, one, rulings)] or read
    assignment = course.assignment_of(kata)
    if assignment is None or assignment.attempts != "best":
        return max(open_, key=lambda one: one.order)

    def worth(one: HandIn) -> tuple[float, float, int]:
        late = _late(course, learner, kata, one, rulings, free)
        return one.score - late.points, -one.order[0].timestamp(), -one.seen

    return max(open_, key=worth)


def _shut(course: Course, learner: str, kata: str, one: HandIn, rulings: Collection[Ruling]) -> bool:
    """Whether a hand-in came in too late to count at all."""
    if one.submitted_at is None:
        return False
    closes = course.closes_for(learner, kata, rulings)
    if closes is not None and one.submitted_at > closes:
        return True
    after = course.late.refused_after_days
    late = _late(course, learner, kata, one, rulings, 0)
    return after is not None and late.days > after


def _late(
    course: Course, learner: str, kata: str, one: HandIn, rulings: Collection[Ruling], free: int
) -> Lateness:
    return course.lateness(
        learner, kata, one.submitted_at, one.score, one.max_score, rulings=rulings, free_days=free
    )


def _days_needed(course: Course, learner: str, kata: str, one: HandIn, rulings: Collection[Ruling]) -> int:
    if not one.digest or _shut(course, learner, kata, one, rulings):
        return 0
    return math.ceil(_late(course, learner, kata, one, rulings, 0).days)


def _counted(
    course: Course,
    learner: str,
    kata: str,
    one: HandIn,
    given: Sequence[HandIn],
    rulings: Collection[Ruling],
    free: int,
) -> Counted:
    late = _late(course, learner, kata, one, rulings, free)
    closes = course.closes_for(learner, kata, rulings)
    closed = closes is not None and one.submitted_at is not None and one.submitted_at > closes
    chosen = any(ruling.kind == "choose" and ruling.kata == kata for ruling in rulings)
    if closed and chosen:  # somebody said that it counts
        closed = False
    if closed:
        late = Lateness(late.days, max(0.0, one.score))
    free = min(free, math.ceil(late.days)) if one.digest and not closed else 0
    return Counted(
        one.id, late, free, closed, tuple(_remarks(course, learner, kata, one, given, rulings, closed))
    )


def _remarks(
    course: Course,
    learner: str,
    kata: str,
    one: HandIn,
    given: Sequence[HandIn],
    rulings: Collection[Ruling],
    closed: bool,
) -> Iterable[str]:
    assignment = course.assignment_of(kata)
    mode = assignment.attempts if assignment is not None else "newest"
    others = [other for other in given if other.digest and other.digest != one.digest]
    decided = [ruling for ruling in rulings if ruling.kind == "choose" and ruling.kata == kata]
    if decided:
        yield f"chosen by {decided[-1].author}: {decided[-1].comment}"
    elif others and mode == "best":
        yield f"the best of {len({other.digest for other in others}) + 1} attempts"
    elif others and mode == "chosen":
        yield "nobody has chosen an attempt yet: the newest counts"
    late = [
        other for other in others if other.order > one.order and _shut(course, learner, kata, other, rulings)
    ]
    if late:
        yield f"{counted(len(late), 'later attempt')} came in after the assignment was closed and did not count"
    if closed:
        yield "it came in after the assignment was closed and earns nothing"
    if one.digest and any(
        other.status == "error" and not other.digest and other.order > one.order for other in given
    ):
        yield "a newer hand-in was there but could not be read; this is the one before it"
    if one.graded and any(other.digest and not other.graded and other.order > one.order for other in given):
        yield "a newer hand-in is there, but the machine could not grade it yet; this is the one before it"
    if one.digest and one.submitted_at is None and course.due_for(learner, kata, rulings) is not None:
        yield "when it was handed in is not known, so it counts as on time"
