"""What of a class is still open: read off the gradebook, so that no later run makes it forgotten."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from grader.instructor.gradebook.course import Course
from grader.instructor.gradebook.records import Decision, Row
from grader.instructor.gradebook.store import Gradebook
from grader.instructor.grading.who import unmatched
from grader.instructor.submissions.choose import DECIDED
from grader.instructor.submissions.submission import MAY_BE
from grader.words import counted, typed_name


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


def problems(book: Gradebook) -> list[Problem]:
    """Return everything that is open, by assignment in the course's order."""
    found: list[Problem] = []
    notes: dict[tuple[str, str], Sequence[str]] = {}
    # One pass over the class: rows are read and made only once.
    for row in book.rows():
        notes[row.learner, row.kata] = row.notes
        found += _of_row(row, book)
    found += _strangers(book)
    found += without_effect(book, notes)
    order = {name: place for place, name in enumerate((*book.course.assignments, *book.katas()))}
    return sorted(found, key=lambda one: order.get(one.of, -1))


def _of_row(row: Row, book: Gradebook) -> Iterator[Problem]:
    who, kata = row.learner, row.kata

    def made(kind: str, what: str, command: str) -> Problem:
        return Problem(_group(book.course, kata), kind, who, kata, what, command)

    take = f"kata gradebook take {typed_name(who)} {kata}"
    if (who, kata) in book.ungraded:
        yield made("not graded", "no fault of the learner's", "kata grade DOWNLOAD")
    elif row.report.status == "error" and row.attempt is not None and row.origin is None:
        yield made("unread", (row.report.message or "").partition("\n")[0], f"{take} FILE")
    for note in row.notes:
        file, may_be, reason = note.partition(MAY_BE)
        if may_be and row.report.status == "missing":
            yield made("misnamed", f"{file}: {reason}", f"{take} {typed_name(file)}")
        if note.startswith("a newer hand-in was there but could not be read"):
            yield made("unread", note, f"{take} FILE")
    if row.late_by:
        how = f"{counted(row.days_late, 'day')} late" if row.days_late else "on time, and lost nothing"
        yield made(
            "late without a time",
            f"{row.late_by} marks it late; it counts as {how}",
            "kata grade DOWNLOAD --times FILE",
        )


def _strangers(book: Gradebook) -> Iterator[Problem]:
    for name, guesses in unmatched(book).strangers.items():
        katas = [mark.kata for mark in book.marks([name]) if mark.handed_in]
        guess = f"{guesses[0].learner}? ({guesses[0].reason})" if guesses else "like nobody in the roster"
        whose = typed_name(guesses[0].learner) if guesses else "LEARNER"
        for of in dict.fromkeys(_group(book.course, kata) for kata in katas):
            yield Problem(
                of, "unmatched", name, "", guess, f"kata gradebook alias {whose} {typed_name(name)}"
            )


def without_effect(book: Gradebook, notes: Mapping[tuple[str, str], Sequence[str]]) -> Iterator[Problem]:
    """Yield decisions that something which came in later, or the course's settings, took the effect from.

    Args:
        book: with the decisions.
        notes: of rows, by learner and kata; a file that is to be the answer is only looked for in these.
    """
    identity, course = book.identity(), book.course
    known = {course.same(name) for name in course.roster}
    last: dict[tuple[str, str, str | None, object], Decision] = {}
    for one in book.rulings(("take", "choose", "extend", "alias")):
        if not one.revoked:  # of two that say the same thing otherwise, the newer counts
            of = one.value["of"] if one.kind == "extend" else one.value if one.kind == "alias" else None
            last[one.kind, identity(one.learner), one.kata, of] = one
    for (kind, who, kata, of), one in last.items():
        why, row = "", (who, kata or "")
        if kind == "take" and row in notes and not any(note.endswith(DECIDED) for note in notes[row]):
            why = f"{one.value} was to be the answer, and is not in what came in last"
        elif kind == "choose" and (newer := _newer(book, who, kata or "", one)):
            why = f"{counted(newer, 'attempt')} came in after this was chosen"
        elif kind == "extend" and not course.is_timed(str(of)):
            why = f"{of or 'the course'} is not due any more, so that more time changes nothing"
        elif kind == "alias" and course.same(str(of)) in known - {course.same(who)}:
            why = f"{of} is in the roster as another learner"
        if why:
            group = _group(course, kata) if kata else str(of) if kind == "extend" else ""
            yield Problem(
                group, "decision without effect", who, kata or "", why, f"kata gradebook withdraw {one.id}"
            )


def _newer(book: Gradebook, who: str, kata: str, choice: Decision) -> int:
    """Return how many other contents came in after an attempt was chosen."""
    given = book.handed_in(who, [kata]).get(kata, (0, []))[1]
    chosen = {one.digest for one in given if one.id == choice.value}
    return len({one.digest for one in given if one.digest and one.seen_at > choice.at} - chosen)


def _group(course: Course, kata: str) -> str:
    assignment = course.assignment_of(kata)
    return assignment.name if assignment is not None else kata
