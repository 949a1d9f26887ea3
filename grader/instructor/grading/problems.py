"""What of a class is still open: read off the gradebook, so that no later run makes it forgotten."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

from grader.instructor.gradebook import events
from grader.instructor.gradebook.check_points import unknown_names
from grader.instructor.gradebook.course import Course
from grader.instructor.gradebook.identities import proposal
from grader.instructor.gradebook.row_types import NEWER, PASSED_OVER, Mark, RedrawnCheck
from grader.instructor.gradebook.store import Gradebook
from grader.instructor.grading.roster_matching import Unmatched, unmatched
from grader.words import counted, typed_name

MISNAMED = "misnamed"
UNREAD = "unread"
UNMATCHED = "unmatched"
NOT_GRADED = "not graded"
NEWER_ATTEMPT = "a newer attempt does not count"
REDRAWN = "check drawn again"
UNUSED_TIME = "time not used"
WITHOUT_EFFECT = "decision without effect"
SETTING = "setting without effect"


class Problem(NamedTuple):
    """Something that somebody should decide or ask for."""

    of: str
    """The assignment, else the kata, else nothing."""
    kind: str
    learner: str
    kata: str
    what: str
    command: str
    """What settles it, but for the options that name the gradebook and say why."""
    proposal: str = ""
    """What may settle it: the file to grade, who is called so, or the decision's number."""

    @property
    def id(self) -> str:
        """The same as long as it is the same problem."""
        return hashlib.sha256(repr((self.learner, self.kata, self.text)).encode()).hexdigest()[:12]

    @property
    def text(self) -> str:
        """What is decided where somebody ignores it; what changes later is asked anew."""
        return f"{self.kind}: {self.what}"


Marks = Mapping[str, Mapping[str, Mark]]
"""By learner and kata."""
_LEARNER = attrgetter("learner")


def problems(book: Gradebook, marks: Marks | None = None) -> list[Problem]:
    """Return everything that is open and not ignored, by assignment in the course's order.

    Args:
        book: with the decisions.
        marks: everybody's, where they are known already.
    """
    if marks is None:
        marks = {name: {mark.kata: mark for mark in own} for name, own in groupby(book.marks(), _LEARNER)}
    every = [mark for own in marks.values() for mark in own.values()]
    found = [problem for mark in every for problem in _of_mark(mark, book.course)]
    found += _strangers(book, marks)
    for run in book.unfinished_runs():
        left = Counter(_group(book.course, kata) for _, kata in run.left)
        found += [
            Problem(of, NOT_GRADED, "", "", f"{counted(count, 'hand-in')}: {run.words}", run.command)
            for of, count in left.items()
        ]
    found += _unused_times(book, marks)
    found += [
        Problem(
            _group(book.course, attempt.kata),
            REDRAWN,
            "",
            "",
            _redrawn(attempt),
            f"kata pack check {attempt.kata}",
        )
        for attempt in book.redrawn()
    ]
    found += _unknown_checks(book, every)
    found += without_effect(book, {(mark.learner, mark.kata): mark.taken for mark in every})
    order = {name: place for place, name in enumerate((*book.course.assignments, *book.katas()))}
    identity = book.identity()
    ignored = {
        (identity(ignore.learner or ""), ignore.kata or "", ignore.problem)
        for ignore in book.standing(events.Ignore)
    }
    # By its text: what somebody ignored comes back when something else is wrong with it.
    standing = [problem for problem in found if (problem.learner, problem.kata, problem.text) not in ignored]
    return sorted(standing, key=lambda problem: order.get(problem.of, -1))


def unsettled(book: Gradebook) -> Unmatched:
    """Return `unmatched`, and of whom a misnamed file waits to be settled: a mark that waits is not zero."""
    marks = list(book.marks())
    missing: dict[str, dict[str, Mark]] = {}
    for mark in marks:
        if mark.status == "missing" and mark.proposals:
            missing.setdefault(mark.learner, {})[mark.kata] = mark
    found = unmatched(book, marks)
    misnamed = {
        (problem.learner, problem.kata) for problem in problems(book, missing) if problem.kind == MISNAMED
    }
    absent = [name for name in found.absent if name not in {who for who, _ in misnamed}]
    passed_over = [(mark.learner, mark.kata) for mark in marks if not PASSED_OVER.isdisjoint(mark.newer)]
    return replace(found, absent=absent, misnamed=misnamed, passed_over=passed_over)


def _of_mark(mark: Mark, course: Course) -> Iterator[Problem]:
    who, kata = mark.learner, mark.kata

    def made(kind: str, what: str, command: str, proposal: str = "") -> Problem:
        return Problem(_group(course, kata), kind, who, kata, what, command, proposal)

    take = f"kata gradebook take {typed_name(who)} {kata}"
    if not mark.graded and mark.attempt is not None:
        yield made(NOT_GRADED, "no fault of the learner's", "kata grade DOWNLOAD")
    elif mark.status == "error" and mark.attempt and not mark.attempts and mark.origin is None:
        # Nothing could be read of what was handed in; only there a report is needed.
        yield made(UNREAD, (mark.report.message or "").partition("\n")[0], f"{take} FILE")
    for proposed in mark.proposals if mark.status != "error" else ():
        yield made(
            MISNAMED,
            f"{proposed.file}: {proposed.reason}",
            f"{take} {typed_name(proposed.file)}",
            proposed.file,
        )
    settles = {
        "unread": (UNREAD, f"{take} FILE"),
        "ungraded": (NOT_GRADED, "kata grade DOWNLOAD"),
        "closed": (NEWER_ATTEMPT, f"kata gradebook choose {typed_name(who)} {kata} ATTEMPT"),
        "unsure": (NEWER_ATTEMPT, "kata grade DOWNLOAD --times FILE"),
    }
    for why_not in mark.newer:
        if why_not in settles:
            kind, command = settles[why_not]
            yield made(kind, NEWER[why_not], command)
    if mark.late_by:
        how = f"{counted(mark.days_late, 'day')} late" if mark.days_late else "on time, and lost nothing"
        yield made(
            "late without a time",
            f"{mark.late_by} marks it late; it counts as {how}",
            "kata grade DOWNLOAD --times FILE",
        )


def _unknown_checks(book: Gradebook, marks: Sequence[Mark]) -> Iterator[Problem]:
    """Yield the tables of points that name a check which the kata does not have."""
    for kata, table in book.course.points.items():
        reports = (mark.report for mark in marks if mark.kata == kata and mark.hand_in is not None)
        judged = next((report for report in reports if report.checks), None)
        wrong, _ = unknown_names([judged] if judged is not None else [], table)
        if wrong:
            what = f"`points.{kata}` in the course settings: {kata} has no check or aspect {', '.join(wrong)}"
            command = f"kata regrade --only {kata} --dry-run"
            yield Problem(_group(book.course, kata), SETTING, "", kata, what, command)


def _redrawn(check: RedrawnCheck) -> str:
    return (
        f"{check.kata}, {check.name}: drawn again {counted(check.draws, 'time')} in "
        f"{counted(check.hand_ins, 'hand-in')}, because the reference failed these draws; "
        "it cost nobody points, and is for the author to mend"
    )


def _unused_times(book: Gradebook, marks: Marks) -> Iterator[Problem]:
    """Yield the times that are nobody's; not where all whom a name could mean have theirs by now."""
    found = []
    for line in book.unused_times():
        whose = [
            mark
            for name in line.candidates
            if (mark := marks.get(name, {}).get(line.kata)) and mark.handed_in
        ]
        if not line.candidates or any(mark.submitted_at is None for mark in whose):
            command = f"kata grade DOWNLOAD{'' if line.reason == 'download' else ' --times FILE'}"
            of, what = _group(book.course, line.kata), line.words(book.course.timezone)
            found.append(Problem(of, UNUSED_TIME, "", "", what, command))
    yield from dict.fromkeys(found)  # one line of a table is about all katas of an assignment


def _strangers(book: Gradebook, marks: Marks) -> Iterator[Problem]:
    every = (mark for own in marks.values() for mark in own.values())
    for name, guesses in unmatched(book, every).strangers.items():
        katas = [mark.kata for mark in marks[name].values() if mark.handed_in]
        whose, guess = proposal(guesses)
        command = f"kata gradebook alias {typed_name(whose) if whose else 'LEARNER'} {typed_name(name)}"
        # Once for each assignment, since problems are listed by these.
        for of in dict.fromkeys(_group(book.course, kata) for kata in katas):
            yield Problem(of, UNMATCHED, name, "", guess, command, whose)


_WITH_EFFECT = (events.Take, events.Choose, events.Extend, events.Alias, events.Left)


def without_effect(book: Gradebook, taken: Mapping[tuple[str, str], str | None]) -> Iterator[Problem]:
    """Yield decisions that something which came in later, or the course's settings, took the effect from.

    Args:
        book: with the decisions.
        taken: by learner and kata, the file that was taken for the answer by a decision, None where none was; a file
            that is to be the answer is only looked for in these.
    """
    identity, course = book.identity(), book.course
    known = {course.normalized_name(name) for name in course.roster}
    last: dict[tuple[object, ...], events.Decision] = {}
    for decided in events.standing(book.rulings(_WITH_EFFECT)):
        # Of two that say the same thing otherwise, the newer counts.
        about = (
            decided.of
            if isinstance(decided, events.Extend)
            else decided.name
            if isinstance(decided, events.Alias)
            else None
        )
        last[type(decided), identity(decided.learner or ""), decided.kata, about] = decided
    for event in last.values():
        who, kata, why = identity(event.learner or ""), event.kata or "", ""
        of = _group(course, kata) if kata else ""
        match event:
            case events.Take() if taken.get((who, kata), event.file) is None:
                why = f"{event.file} was to be the answer, and is not in what came in last"
            case events.Choose() if newer := _newer(book, who, kata, event):
                why = f"{counted(newer, 'attempt')} came in after this was chosen"
            case events.Extend() if not course.is_timed(event.of):
                why = f"{event.of or 'the course'} is not due any more, so that more time changes nothing"
                of = of or event.of
            case events.Alias() if course.normalized_name(event.name) in known - {
                course.normalized_name(who)
            }:
                why = f"{event.name} is in the roster as another learner"
            case events.Left() if any(
                hand_in.arrived_at > event.made.at
                for _, given in book.handed_in(who).values()
                for hand_in in given
            ):
                why = "has left the course, and something came in after that"
        if why:
            command = f"kata gradebook withdraw {event.id}"
            yield Problem(of, WITHOUT_EFFECT, who, kata, why, command, str(event.id))


def _newer(book: Gradebook, who: str, kata: str, choice: events.Choose) -> int:
    """Return how many other contents came in after an attempt was chosen."""
    given = book.handed_in(who, [kata]).get(kata, (0, []))[1]
    chosen = {hand_in.digest for hand_in in given if hand_in.id == choice.hand_in}
    return len(
        {hand_in.digest for hand_in in given if hand_in.digest and hand_in.arrived_at > choice.made.at}
        - chosen
    )


def _group(course: Course, kata: str) -> str:
    assignment = course.assignment_of(kata)
    return assignment.name if assignment is not None else kata
