"""Whose the times in a table are, by what systems know people by, then by name; which lines are nobody's, and why."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from grader.instructor.gradebook.identities import identifiers_of, ids_in, match, words_in
from grader.instructor.gradebook.records import UnusedReason, UnusedTime
from grader.instructor.gradebook.store import Gradebook
from grader.instructor.gradebook.times import HandedInAt
from grader.instructor.lms.person import Found
from grader.instructor.submissions import LearnerFolder

Times = Mapping[str, Mapping[str, tuple[datetime, str]]]
"""By learner and kata, or an empty name for all katas, when they handed in, and who says so."""


class MatchedTimes(NamedTuple):
    """What a table of times says of a class."""

    known: Times
    unused: tuple[UnusedTime, ...]


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


_Key = tuple[str, frozenset[tuple[str, str]]]


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
    for one, who in people.items():
        # The download first: the time is that of a hand-in there.
        for index in (download, roster):
            found = set[str]().union(*(index.get(key, ()) for key, _ in ids_in(who)))
            if len(found) == 1 and one not in owners:
                owners[one] = found.pop()
    # By name only those who share it with nobody else of the table who is still to be found.
    left = {one: who for one, who in people.items() if one not in owners}
    often = Counter(who.name for who in left.values())
    alone = {one: who for one, who in left.items() if often[who.name] == 1 and who.name}
    names = {learner for learner, _ in folders}
    matches = match(list(alone.values()), book.course, book.aliases(), [*book.course.roster, *names])
    taken = set(owners.values())
    for one, who in alone.items():
        namesake = matches.known.get(who.name) or (who.name if who.name in names else None)
        if namesake is not None and namesake not in taken:
            owners[one] = namesake
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
