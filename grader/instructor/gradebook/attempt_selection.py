"""Which of a learner's hand-ins counts, and how late it is: pure functions of what came in, the course and rulings."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from msgspec.structs import replace

from grader.instructor.gradebook.course import Attempts, Course
from grader.instructor.gradebook.events import Choose, Decision, Take
from grader.instructor.gradebook.records import NEWER, PASSED_OVER, HandIn, Mark, Newer
from grader.instructor.gradebook.times import Lateness, add_days
from grader.words import counted


def in_order(given: Iterable[HandIn]) -> list[HandIn]:
    """Return hand-ins, the oldest first: as they arrived, but those whose times are known by these among themselves.

    Comparing pairs gives no order: where an unknown time is between two known ones that arrived the other way round,
    each of the three is newer than one of the others.
    """
    arrived = sorted(given, key=lambda one: one.arrived)
    timed = [one for one in arrived if one.submitted_at is not None]
    by_time = iter(sorted(timed, key=lambda one: one.submitted_at or one.arrived_at))
    return [one if one.submitted_at is None else next(by_time) for one in arrived]


@dataclass(frozen=True)
class _Group:
    """Katas that are handed in, and late, together."""

    katas: tuple[str, ...]
    late_days: int | None
    due: datetime | None


@dataclass(frozen=True)
class Deadlines:
    """What the course's times mean for one learner."""

    course: Course
    learner: str
    rulings: Collection[Decision]
    """What people decided about this learner."""

    def due(self, kata: str) -> datetime | None:
        """Return when a kata is due; None when it never is."""
        return self.course.due_for(self.learner, kata, self.rulings)

    def late(self, kata: str, one: HandIn, free: int) -> Lateness:
        """Return how late a hand-in is if so many days are free."""
        at, due = one.submitted_at, self.due(kata)
        # Late without a time: the course says how many days that is.
        if at is None and one.late_by and due is not None:
            at = add_days(due, self.course.late.unknown, self.course.timezone)
        return self.course.lateness(
            self.learner,
            kata,
            at,
            one.result.score,
            one.result.max_score,
            rulings=self.rulings,
            free_days=free,
        )

    def is_closed(self, kata: str, one: HandIn) -> bool:
        """Whether a hand-in came in after its assignment was closed."""
        closes = self.course.closes_for(self.learner, kata, self.rulings)
        return closes is not None and one.submitted_at is not None and one.submitted_at > closes

    def shut(self, kata: str, one: HandIn) -> bool:
        """Whether a hand-in came in too late to count at all."""
        after = self.course.late.refused_after_days
        return self.is_closed(kata, one) or (after is not None and self.late(kata, one, 0).days > after)

    def mode(self, kata: str) -> Attempts:
        """Return which attempt counts by the rules of the course."""
        assignment = self.course.assignment_of(kata)
        return assignment.attempts if assignment is not None else "newest"

    def choice(self, kata: str) -> Choose | None:
        """Return the last word about which attempt counts."""
        chosen = [one for one in self.rulings if isinstance(one, Choose) and one.kata == kata]
        return chosen[-1] if chosen else None


def select_attempts(
    course: Course,
    learner: str,
    handed_in: Mapping[str, Sequence[HandIn]],
    rulings: Collection[Decision] = (),
) -> dict[str, Mark]:
    """Return, by kata, the mark of which hand-in of a learner counts.

    Late days are spent in the order of due times, as many as what counts is late. Of an assignment where the best
    counts, attempts are compared as if they could all have the days that are left.

    Args:
        course: whose rules hold.
        learner: whose they are.
        handed_in: by kata's slug; of all katas, where the course has late days.
        rulings: what people decided about this learner.
    """
    times = Deadlines(course, learner, rulings)
    found: dict[str, Mark] = {}
    valid = {kata: _valid(kata, given, rulings) for kata, given in handed_in.items()}
    left = course.late.late_days
    # In the order of due times, or a later assignment could take the days that an earlier one needs.
    first_due = sorted(
        _groups(times, valid), key=lambda group: (group.due or datetime.max.replace(tzinfo=UTC), group.katas)
    )
    for group in first_due:
        free = left if group.late_days is None else min(left, group.late_days)
        picked = {kata: _pick(times, kata, valid[kata], free) for kata in group.katas}
        needed = [_days_needed(times, kata, one) for kata, one in picked.items()]
        # A day serves all katas of an assignment: the latest of them says how many it takes.
        used = min(free, max(needed, default=0))
        left -= used
        for kata, one in picked.items():
            mark = _counted(times, kata, one, valid[kata], used)
            every = handed_in[kata]
            contents = {other.digest for other in every if other.digest}
            last = max(every, key=lambda other: other.arrived)
            # Next to the hand-in that counts, and what was seen since.
            named = (each.proposal for each in ((one,) if last is one else (one, last)))
            proposals = tuple(proposal for proposal in named if proposal is not None)
            found[kata] = replace(mark, attempts=len(contents), proposals=proposals)
    return found


def _valid(kata: str, given: Sequence[HandIn], rulings: Iterable[Decision]) -> Sequence[HandIn]:
    """Leave out files that were taken for the answer by a decision that does not stand any more."""
    # By the file's name alone: the next download may have it in another folder.
    files = {
        ruling.file.rpartition("/")[2]
        for ruling in rulings
        if isinstance(ruling, Take) and ruling.kata == kata
    }
    return [one for one in given if one.taken is None or one.taken in files] or given


def _groups(times: Deadlines, handed_in: Iterable[str]) -> Iterable[_Group]:
    rest = set(handed_in)
    for assignment in times.course.assignments.values():
        own = tuple(kata for kata in assignment.katas if kata in rest)
        rest -= set(own)
        if own:
            yield _Group(own, assignment.late_days, times.due(own[0]))
    for kata in sorted(rest):
        yield _Group((kata,), None, times.due(kata))


def _pick(times: Deadlines, kata: str, given: Sequence[HandIn], free: int) -> HandIn:
    choice = times.choice(kata)
    for one in given:
        if choice is not None and one.id == choice.hand_in:
            return one
    read = [one for one in given if one.digest]
    # What the machine could not grade says nothing, so an earlier one counts until it is graded.
    read = [one for one in read if one.graded] or read
    if not read:  # "missing" is only said of what was never handed in
        return in_order(given)[-1]
    # A later one that came in after closing must not take the place of one in time.
    open_ = in_order([one for one in read if not times.shut(kata, one)] or read)
    if times.mode(kata) != "best":
        return open_[-1]
    # On a tie the earliest, which `max` returns: it cost the fewest late days.
    return max(open_, key=lambda one: one.result.score - times.late(kata, one, free).points)


def _days_needed(times: Deadlines, kata: str, one: HandIn) -> int:
    # What earns nothing should not use up late days.
    if not one.digest or times.shut(kata, one):
        return 0
    return math.ceil(times.late(kata, one, 0).days)


def _counted(times: Deadlines, kata: str, one: HandIn, given: Sequence[HandIn], free: int) -> Mark:
    late = times.late(kata, one, free)
    closed = times.is_closed(kata, one) and times.choice(kata) is None  # else somebody said that it counts
    if closed:
        late = Lateness(late.days, max(0.0, one.result.score))
    # As many as it is late and no more: what is shown is what was spent on this kata.
    free = min(free, math.ceil(late.days)) if one.digest and not closed else 0
    newer = tuple(dict.fromkeys(_newer(times, kata, one, given)))
    passed_over = (f"{NEWER[why]}; this is an earlier one" for why in newer if why in PASSED_OVER)
    remarks = (*_remarks(times, kata, one, given, closed), *passed_over)
    return Mark(
        learner=times.learner,
        kata=kata,
        hand_in=one,
        result=one.result,
        graded_at=one.graded_at,
        lateness=late,
        late_days_used=free,
        closed=closed,
        remarks=remarks,
        newer=newer,
    )


def _newer(times: Deadlines, kata: str, one: HandIn, given: Sequence[HandIn]) -> Iterator[Newer]:
    """Yield why each hand-in that is newer than the one that counts does not count."""
    for other in given if one.digest else ():
        if other.digest == one.digest or not other.is_newer(one):
            continue
        if times.choice(kata) is not None:
            yield "chosen"
        elif not other.digest:
            if other.result.status == "error":  # else nothing was handed in
                yield "unread"
        elif one.graded and not other.graded:
            yield "ungraded"
        elif times.shut(kata, other):
            yield "closed"
        else:
            yield "worse" if times.mode(kata) == "best" else "unsure"


def _remarks(
    times: Deadlines, kata: str, one: HandIn, given: Sequence[HandIn], closed: bool
) -> Iterable[str]:
    others = [other for other in given if other.digest and other.digest != one.digest]
    if choice := times.choice(kata):
        yield f"chosen by {choice.made.author}: {choice.made.comment}"
    elif others and times.mode(kata) == "best":
        yield f"the best of {len({other.digest for other in others}) + 1} attempts"
    elif others and times.mode(kata) == "chosen":
        yield "nobody has chosen an attempt yet: the newest counts"
    if closed:
        yield "it came in after the assignment was closed and earns nothing"
    if one.digest and one.submitted_at is None and (one.late_by or times.due(kata) is not None):
        days = times.late(kata, one, 0).days
        marked = f"{one.late_by} marks it late, and " if one.late_by else ""
        counts = f"{counted(days, 'day')} late" if days else "on time"
        yield f"{marked}when it was handed in is not known, so it counts as {counts}"
