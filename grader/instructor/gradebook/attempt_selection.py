"""Which of a learner's hand-ins counts, and how late it is: pure functions of what came in, the course and rulings."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from msgspec.structs import replace

from grader.instructor.gradebook.course import Course
from grader.instructor.gradebook.course_file import Attempts
from grader.instructor.gradebook.events import Choose, Decision, Take
from grader.instructor.gradebook.row_types import NEWER, PASSED_OVER, HandIn, Mark, Newer
from grader.instructor.gradebook.times import Lateness, add_days, lateness
from grader.words import counted


def in_order(given: Iterable[HandIn]) -> list[HandIn]:
    """Return hand-ins, the oldest first: as they arrived, but those whose times are known by these among themselves.

    Comparing pairs gives no order: where an unknown time is between two known ones that arrived the other way round,
    each of the three is newer than one of the others.
    """
    arrived = sorted(given, key=lambda hand_in: hand_in.arrived)
    timed = [hand_in for hand_in in arrived if hand_in.submitted_at is not None]
    by_time = iter(sorted(timed, key=lambda hand_in: hand_in.submitted_at or hand_in.arrived_at))
    return [hand_in if hand_in.submitted_at is None else next(by_time) for hand_in in arrived]


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

    def late(self, kata: str, hand_in: HandIn, free: int) -> Lateness:
        """Return how late a hand-in is if so many days are free."""
        at, due = hand_in.submitted_at, self.due(kata)
        # Late without a time: the course says how many days that is.
        if at is None and hand_in.late_by and due is not None:
            at = add_days(due, self.course.late.unknown, self.course.timezone)
        return lateness(
            due,
            at,
            self.course.late,
            score=hand_in.result.score,
            max_score=hand_in.result.max_score,
            free_days=free,
            zone=self.course.timezone,
        )

    def is_closed(self, kata: str, hand_in: HandIn) -> bool:
        """Whether a hand-in came in after its assignment was closed."""
        closes = self.course.closes_for(self.learner, kata, self.rulings)
        return closes is not None and hand_in.submitted_at is not None and hand_in.submitted_at > closes

    def shut(self, kata: str, hand_in: HandIn) -> bool:
        """Whether a hand-in came in too late to count at all."""
        after = self.course.late.refused_after_days
        return self.is_closed(kata, hand_in) or (
            after is not None and self.late(kata, hand_in, 0).days > after
        )

    def mode(self, kata: str) -> Attempts:
        """Return which attempt counts by the rules of the course."""
        assignment = self.course.assignment_of(kata)
        return assignment.attempts if assignment is not None else "newest"

    def choice(self, kata: str) -> Choose | None:
        """Return the last word about which attempt counts."""
        chosen = [ruling for ruling in self.rulings if isinstance(ruling, Choose) and ruling.kata == kata]
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
        # A day serves all katas of an assignment: the latest of them says how many it takes.
        needed = 0
        for kata, hand_in in picked.items():
            # What earns nothing should not use up late days.
            if hand_in.digest and not times.shut(kata, hand_in):
                needed = max(needed, math.ceil(times.late(kata, hand_in, 0).days))
        used = min(free, needed)
        left -= used
        for kata, hand_in in picked.items():
            mark = _counted(times, kata, hand_in, valid[kata], used)
            every = handed_in[kata]
            contents = {other.digest for other in every if other.digest}
            last = max(every, key=lambda other: other.arrived)
            # Next to the hand-in that counts, and what was seen since.
            named = (each.proposal for each in ((hand_in,) if last is hand_in else (hand_in, last)))
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
    return [hand_in for hand_in in given if hand_in.taken is None or hand_in.taken in files] or given


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
    for hand_in in given:
        if choice is not None and hand_in.id == choice.hand_in:
            return hand_in
    read = [hand_in for hand_in in given if hand_in.digest]
    # What the machine could not grade says nothing, so an earlier one counts until it is graded.
    read = [hand_in for hand_in in read if hand_in.graded] or read
    if not read:  # "missing" is only said of what was never handed in
        return in_order(given)[-1]
    # A later one that came in after closing must not take the place of one in time.
    open_ = in_order([hand_in for hand_in in read if not times.shut(kata, hand_in)] or read)
    if times.mode(kata) != "best":
        return open_[-1]
    # On a tie the earliest, which `max` returns: it cost the fewest late days.
    return max(open_, key=lambda hand_in: hand_in.result.score - times.late(kata, hand_in, free).points)


def _counted(times: Deadlines, kata: str, hand_in: HandIn, given: Sequence[HandIn], free: int) -> Mark:
    late = times.late(kata, hand_in, free)
    # Where there is a choice, somebody said that it counts.
    closed = times.is_closed(kata, hand_in) and times.choice(kata) is None
    if closed:
        late = Lateness(late.days, max(0.0, hand_in.result.score))
    # As many as it is late and no more: what is shown is what was spent on this kata.
    free = min(free, math.ceil(late.days)) if hand_in.digest and not closed else 0
    newer = tuple(dict.fromkeys(_newer(times, kata, hand_in, given)))
    passed_over = (f"{NEWER[why]}; this is an earlier one" for why in newer if why in PASSED_OVER)
    remarks = (*_remarks(times, kata, hand_in, given, closed), *passed_over)
    return Mark(
        learner=times.learner,
        kata=kata,
        hand_in=hand_in,
        result=hand_in.result,
        graded_at=hand_in.graded_at,
        lateness=late,
        late_days_used=free,
        closed=closed,
        remarks=remarks,
        newer=newer,
    )


def _newer(times: Deadlines, kata: str, hand_in: HandIn, given: Sequence[HandIn]) -> Iterator[Newer]:
    """Yield why each hand-in that is newer than the one that counts does not count."""
    for other in given if hand_in.digest else ():
        if other.digest == hand_in.digest or not other.is_newer(hand_in):
            continue
        if times.choice(kata) is not None:
            yield "chosen"
        elif not other.digest:
            if other.result.status == "error":  # else nothing was handed in
                yield "unread"
        elif hand_in.graded and not other.graded:
            yield "ungraded"
        elif times.shut(kata, other):
            yield "closed"
        else:
            yield "worse" if times.mode(kata) == "best" else "unsure"


def _remarks(
    times: Deadlines, kata: str, hand_in: HandIn, given: Sequence[HandIn], closed: bool
) -> Iterable[str]:
    others = [other for other in given if other.digest and other.digest != hand_in.digest]
    if hand_in.by:
        yield f"handed in by {hand_in.by}, for the team"
    if choice := times.choice(kata):
        yield f"chosen by {choice.made.author}: {choice.made.comment}"
    elif others and times.mode(kata) == "best":
        yield f"the best of {len({other.digest for other in others}) + 1} attempts"
    elif others and times.mode(kata) == "chosen":
        yield "nobody has chosen an attempt yet: the newest counts"
    if closed:
        yield "it came in after the assignment was closed and earns nothing"
    if hand_in.digest and hand_in.submitted_at is None and (hand_in.late_by or times.due(kata) is not None):
        days = times.late(kata, hand_in, 0).days
        marked = f"{hand_in.late_by} marks it late, and " if hand_in.late_by else ""
        counts = f"{counted(days, 'day')} late" if days else "on time"
        yield f"{marked}when it was handed in is not known, so it counts as {counts}"
