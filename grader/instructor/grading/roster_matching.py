"""Whom a download's work and a table's times belong to: names and numbers led to learners, and what people decided."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import NamedTuple

from grader.instructor.gradebook.course import Course
from grader.instructor.gradebook.events import Alias, Provenance, Take
from grader.instructor.gradebook.identities import (
    LEARNT_BY,
    Match,
    Matches,
    identifiers_of,
    ids_in,
    match,
    shared,
    similar_names,
    whole_name,
    words_in,
)
from grader.instructor.gradebook.row_types import Mark, UnusedReason, UnusedTime
from grader.instructor.gradebook.store import Gradebook
from grader.instructor.gradebook.times import HandedInAt
from grader.instructor.lms.person import Found
from grader.instructor.submissions import LearnerFolder

Times = Mapping[str, Mapping[str, tuple[datetime, str]]]
"""By learner and kata, or an empty name for all katas, when they handed in, and who says so."""
_Key = tuple[str, frozenset[tuple[str, str]]]
"""What tells people of a table apart."""


class MatchedTimes(NamedTuple):
    """What a table of times says of a class."""

    known: Times
    unused: tuple[UnusedTime, ...]


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
    folders = [replace(folder, zone=zone) for folder in with_ids_of(found, times)]
    found_as = [_found(folder) for folder in folders]
    folders = [
        replace(folder, learner=whole_name(who, found_as, book.course))
        for folder, who in zip(folders, found_as, strict=True)
    ]
    names = [_found(folder) for folder in folders]
    matches = match(names, book.course, book.aliases(), book.learners())
    for name, (learner, reason, _) in matches.learnt.items():
        if not shared(name, book.course):
            made = Provenance(author=LEARNT_BY, comment=reason)
            book.decide(Alias(learner=learner, name=name, made=made))
    # After the names: a decision is about a learner, not about what a download calls them.
    taken = book.standing(Take)
    every = book.course.assignments.values()
    assignments = {kata: assignment.name for assignment in every for kata in assignment.katas}
    best = {kata for assignment in every if assignment.attempts == "best" for kata in assignment.katas}
    whose = [(matches.known.get(folder.learner, folder.learner), folder) for folder in folders]
    together: dict[str, LearnerFolder] = {}
    for learner, folder in whose:
        files = {ruling.kata or "": ruling.file for ruling in taken if ruling.learner == learner}
        mine = replace(folder, learner=learner, taken=files, assignments=assignments, best=frozenset(best))
        other = together.get(learner)
        together[learner] = mine if other is None else _joined(other, mine)
    timed = match_times(times, whose, book, source)
    learners = tuple(replace(folder, times=timed.known.get(name, {})) for name, folder in together.items())
    gone = book.left()
    matches.absent = [name for name in matches.absent if name not in gone]
    return ClassList(learners, matches, timed.unused)


def is_known(course: Course) -> Callable[[str], bool] | None:
    """Return what says whether somebody in the roster is called so; None without a roster."""
    return (lambda name: name in match([Found(name)], course, {}).known) if course.roster else None


def _joined(one: LearnerFolder, other: LearnerFolder) -> LearnerFolder:
    """Read what came in under two names of one learner as one."""
    labels = ", ".join(dict.fromkeys(place.label for place in (*one.places, *other.places)))
    return replace(
        one,
        places=[*one.places, *other.places],
        notes=[*one.notes, *other.notes, f"came in under two names, read together: {labels}"],
        ids={**other.ids, **one.ids},
        closed=[*one.closed, *other.closed],
        earlier=[*one.earlier, *other.earlier],
    )


def with_ids_of(folders: Iterable[LearnerFolder], times: Sequence[HandedInAt]) -> list[LearnerFolder]:
    """Return the folders of a download with what a table tells of who has the same number: Moodle's says addresses."""
    lines: dict[str, dict[_Key, Found]] = defaultdict(dict)
    for line in times:
        for key, _ in ids_in(line.who):
            lines[key][_key(line.who)] = line.who
    named = []
    for folder in folders:
        same = {found: who for key, _ in ids_in(_found(folder)) for found, who in lines[key].items()}
        (who,) = same.values() if len(same) == 1 else (Found(""),)
        named.append(replace(folder, ids={**who.ids, **folder.ids}))
    return named


def match_times(
    times: Sequence[HandedInAt],
    folders: Sequence[tuple[str, LearnerFolder]],
    book: Gradebook,
    source: str,
) -> MatchedTimes:
    """Find out whose the lines of a table are.

    Args:
        times: the lines.
        folders: what the download holds, each with whose it is.
        book: with the roster, and what is known of names.
        source: what the table is called.
    """
    people = {_key(line.who): line.who for line in times}
    owners = _owners(people, folders, book)
    known: dict[str, dict[str, tuple[datetime, str]]] = defaultdict(dict)
    unused: list[UnusedTime] = []
    lines: dict[tuple[str, str], HandedInAt] = {}
    for line in times:
        learner = owners.get(_key(line.who))
        if learner is None:
            unused.append(_unused(line, source, *_reason(line.who, folders, book)))
            continue
        before = lines.setdefault((learner, line.kata or ""), line)
        if before.at != line.at:
            unused.append(_unused(before, source, "lines", [learner]))
        lines[learner, line.kata or ""] = line
        known[learner][line.kata or ""] = line.at, source
    return MatchedTimes(known, tuple(unused))


def _key(who: Found) -> _Key:
    """Return what tells people of a table apart: two of one name are two by their addresses."""
    return who.name, frozenset(who.ids.items())


def _found(folder: LearnerFolder) -> Found:
    return Found(folder.learner, folder.ids)


def _owners(
    people: Mapping[_Key, Found], folders: Sequence[tuple[str, LearnerFolder]], book: Gradebook
) -> dict[_Key, str]:
    """Return who the people of a table are."""
    download, roster = defaultdict[str, set[str]](set), defaultdict[str, set[str]](set)
    for learner, folder in folders:
        for key, _ in ids_in(_found(folder)):
            download[key].add(learner)
    for person in book.course.roster.values():
        for key, _ in identifiers_of(person):
            roster[key].add(person.learner)
    owners: dict[_Key, str] = {}
    for line, who in people.items():
        # The download first: the time is that of a hand-in there.
        for index in (download, roster):
            found = set[str]().union(*(index.get(key, ()) for key, _ in ids_in(who)))
            if len(found) == 1 and line not in owners:
                owners[line] = found.pop()
    # By name only those who share it with nobody else of the table who is still to be found.
    left = {line: who for line, who in people.items() if line not in owners}
    often = Counter(who.name for who in left.values())
    alone = {line: who for line, who in left.items() if often[who.name] == 1 and who.name}
    names = {learner for learner, _ in folders}
    matches = match(list(alone.values()), book.course, book.aliases(), [*book.course.roster, *names])
    taken = set(owners.values())
    for line, who in alone.items():
        namesake = matches.known.get(who.name) or (who.name if who.name in names else None)
        if namesake is not None and namesake not in taken:
            owners[line] = namesake
    return owners


def _reason(
    who: Found, folders: Sequence[tuple[str, LearnerFolder]], book: Gradebook
) -> tuple[UnusedReason, Collection[str]]:
    """Return why a line is nobody's, and whom its name could mean."""
    name = sorted(words_in(who.ids.get("name") or who.name))
    if not name:
        return "nameless", ()
    called = {person.learner: person.name for person in book.course.roster.values()}
    # Of two folders of one name each has an addition in brackets.
    called |= {
        learner: folder.ids.get("name") or learner.partition(" (")[0]
        for learner, folder in folders
        if learner not in called
    }
    same = [
        learner
        for learner, text in called.items()
        if name in (sorted(words_in(text)), sorted(words_in(learner)))
    ]
    return ("several" if len(same) > 1 else "lines" if same else "nobody"), same


def _unused(line: HandedInAt, source: str, reason: UnusedReason, candidates: Collection[str]) -> UnusedTime:
    name = line.who.ids.get("name") or line.who.name
    return UnusedTime(
        kata=line.kata or "",
        source=source,
        line=line.line,
        name=name,
        at=line.at,
        reason=reason,
        candidates=tuple(candidates),
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
    gone = book.left()
    roster = {name: person for name, person in book.course.roster.items() if name not in gone}
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
                Found(name), [person for person in roster.values() if person.learner in lacking]
            )
    absent = [name for name in roster if not handed_in.get(name)]
    return Unmatched(strangers, absent, unsure)
