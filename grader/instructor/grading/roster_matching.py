"""Whom a download's work belongs to: the names in it led to learners, and what people decided about their files."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC

from grader.instructor.gradebook.course import Course
from grader.instructor.gradebook.events import Alias, Provenance, Take
from grader.instructor.gradebook.identities import (
    LEARNT_BY,
    Match,
    Matches,
    match,
    shared,
    similar_names,
    whole_name,
)
from grader.instructor.gradebook.records import Mark, UnusedTime
from grader.instructor.gradebook.store import Gradebook
from grader.instructor.gradebook.times import HandedInAt
from grader.instructor.grading.time_matching import match_times, with_ids_of
from grader.instructor.lms.person import Found
from grader.instructor.submissions import LearnerFolder


@dataclass(frozen=True)
class ClassList:
    """The learners of a download, under their identities."""

    learners: tuple[LearnerFolder, ...]
    matches: Matches
    unused: tuple[UnusedTime, ...] = ()
    """Times that were given and are nobody's."""


def match_learners(
    found: Iterable[LearnerFolder], book: Gradebook, times: Sequence[HandedInAt] = (), source: str = ""
) -> ClassList:
    """Lead every name to a learner; what was learnt is written down, with the reason.

    Args:
        found: as the download calls them.
        book: with the roster, and what is known of names.
        times: when they handed in, as a file of the instructor's says.
        source: what that file is called.
    """
    # Of a course that does not say where it is, nobody knows more than this machine's clock.
    zone = None if book.course.timezone is UTC else book.course.timezone
    folders = [replace(one, zone=zone) for one in with_ids_of(found, times)]
    found_as = [Found(one.learner, one.ids) for one in folders]
    folders = [
        replace(folder, learner=whole_name(one, found_as, book.course))
        for folder, one in zip(folders, found_as, strict=True)
    ]
    names = [Found(one.learner, one.ids) for one in folders]
    matches = match(names, book.course, book.aliases(), book.learners())
    for name, (learner, reason) in matches.learnt.items():
        if not shared(name, book.course):
            made = Provenance(author=LEARNT_BY, comment=reason)
            book.decide(Alias(learner=learner, name=name, made=made))
    # After the names: a decision is about a learner, not about what a download calls them.
    taken = book.standing(Take)
    assignments = {kata: name for name, one in book.course.assignments.items() for kata in one.katas}
    best = frozenset(
        kata for one in book.course.assignments.values() if one.attempts == "best" for kata in one.katas
    )
    whose = [(matches.known.get(one.learner, one.learner), one) for one in folders]
    together: dict[str, LearnerFolder] = {}
    for learner, one in whose:
        files = {ruling.kata or "": ruling.file for ruling in taken if ruling.learner == learner}
        mine = replace(one, learner=learner, taken=files, assignments=assignments, best=best)
        other = together.get(learner)
        together[learner] = mine if other is None else _joined(other, mine)
    timed = match_times(times, whose, book, source)
    learners = tuple(replace(one, times=timed.known.get(name, {})) for name, one in together.items())
    return ClassList(learners, matches, timed.unused)


def is_known(course: Course) -> Callable[[str], bool] | None:
    """Return what says whether somebody in the roster is called so; None without a roster."""
    return (lambda name: name in match([Found(name)], course, {}).known) if course.roster else None


def _joined(one: LearnerFolder, other: LearnerFolder) -> LearnerFolder:
    """Read what came in under two names of one learner as one."""
    labels = ", ".join(dict.fromkeys(place.label for place in (*one.places, *other.places)))
    return replace(
        one,
        places=(*one.places, *other.places),
        notes=(*one.notes, *other.notes, f"came in under two names, read together: {labels}"),
        ids={**other.ids, **one.ids},
        closed=(*one.closed, *other.closed),
        earlier=(*one.earlier, *other.earlier),
    )


@dataclass(frozen=True)
class Unmatched:
    """Over all that was graded: who is not in the roster, and whose work that may be."""

    strangers: Mapping[str, Sequence[Match]]
    """By the name that work came in with, whom it could mean, the likeliest first."""
    absent: Sequence[str]
    """Of whom in the roster nothing came in at all."""
    unsure: Collection[tuple[str, str]]
    """Learners of the roster and katas of which nothing came in under their name, and something under a stranger's."""
    misnamed: Collection[tuple[str, str]] = ()
    """Learners and katas of which only a misnamed file came in that may be the answer, and nobody has settled it."""
    passed_over: Collection[tuple[str, str]] = ()
    """Learners and katas of which something newer than what counts came in, and nobody said that it does not count."""


def unmatched(book: Gradebook, marks: Iterable[Mark] | None = None) -> Unmatched:
    """Return, over all that was graded, who is not in the roster, and of whom in the roster nothing came in.

    Args:
        book: with the roster.
        marks: everybody's, where they are known already.
    """
    roster = book.course.roster
    if not roster:
        return Unmatched({}, (), ())
    handed_in: dict[str, set[str]] = {}
    for mark in book.marks() if marks is None else marks:
        mine = handed_in.setdefault(mark.learner, set())
        if mark.handed_in or mark.changed or not mark.graded:
            mine.add(mark.kata)
    found = match(
        [Found(name) for name, something in handed_in.items() if something], book.course, book.aliases()
    )
    strangers = dict(found.strangers)
    # Graded before the roster knew better: only a run writes down who it is.
    strangers |= {name: [told] for name, told in found.learnt.items()}
    of_strangers = {kata for name in strangers for kata in handed_in[name]}
    unsure = {(learner, kata) for learner in roster for kata in of_strangers - handed_in.get(learner, set())}
    for name, candidates in strangers.items():
        if not candidates:  # who handed in something else may have handed in this, too
            lacking = {learner for learner, kata in unsure if kata in handed_in[name]}
            strangers[name] = similar_names(
                Found(name), [one for one in roster.values() if one.learner in lacking]
            )
    absent = [name for name in roster if not handed_in.get(name)]
    return Unmatched(strangers, absent, unsure)
