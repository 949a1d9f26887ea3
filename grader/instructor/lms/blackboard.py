"""Blackboard: files `Homework 1_ada_attempt_2026-01-02-03-04-05_masks.py`, and a note for each attempt."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from grader.data_files import UnreadableSubmission
from grader.instructor.lms.person import Person, filled, full_name, turned
from grader.instructor.lms.system import GradeFile, Identifier, Roster, System, SystemName
from grader.instructor.submissions.entry import Entry

LONGEST = 1020
"""Characters of a name that the pattern is tried on: in an archive a name may have thousands."""

# The system's note ends in the time and `.txt`. Looked for at every place, so that overlapping ones are seen as well.
_MARK = re.compile(r"(?=_attempt_(?P<time>[0-9]{4}(?:-[0-9]{2}){5})(?P<end>_(?=.)|\.txt\Z))", re.DOTALL)


def _student(learner: str, name: str, person: Person) -> tuple[str, str, str, str]:
    last = person.cell("last_name")
    name = turned(name)
    first = name.removesuffix(f" {last}") if last else name
    if first == name:
        first, _, last = name.rpartition(" ")
    return last, first, person.cell("username") or learner, person.cell("student_id")


class Blackboard(System):
    """Blackboard."""

    name = "blackboard"
    title = "Blackboard"
    rosters = (
        # Grade Centre, Work Offline: `Last Name, First Name, Username, Student ID, …`
        Roster(
            frozenset({"username", "first_name", "last_name"}),
            lambda cells: Person(
                learner=cells["username"],
                name=full_name(cells),
                other=filled(cells, "username", "student_id", "last_name"),
            ),
        ),
    )
    logins = ("username", "student_id")
    identifiers = (Identifier("blackboard", "", "", "its user name is the roster's"),)
    # A student is found by `Username` (help.blackboard.com, "Download and upload grades": "Each file requires a unique
    # identifier for each student to match the data to the right person"). A column that Blackboard does not know is
    # made; the number after `|` is its own.
    grades = GradeFile(
        ("Last Name", "First Name", "Username", "Student ID"),
        _student,
        lambda title, number, points: (
            f"{title} [Total Pts: {points} Score]" + (f" |{number}" if number else "")
        ),
        column=r"(.+) \[Total Pts: [^]]*\](?: \|[0-9]+)?",
    )

    def file(self, name: str) -> SystemName | None:
        """Take a name apart; who it is, is all that stands before the mark until the notes are read."""
        marks = [found for found in _MARK.finditer(name) if found.start()] if len(name) <= LONGEST else []
        if not marks:
            return None
        first = marks[0]
        before = name[: first.start()]
        original = name[first.end("end") :] if first["end"] == "_" else None
        return SystemName(
            before, before, original, first["time"], _time(first["time"]), doubtful=len(marks) > 1
        )

    def resolved(self, named: dict[Entry, SystemName]) -> dict[Entry, SystemName]:
        """Tell the user from `HW_9_bob_r`, which stands before the mark: both parts of it may hold a `_`.

        Only the system's own notes are believed, and each of its own learner alone. They also tell what the homework is
        called, for those of whom there is none.
        """
        noted: dict[str, str] = {}
        for item, made in named.items():
            if made.original is None and not made.doubtful:
                user = _user(item)
                if user and made.key.endswith(f"_{user}"):
                    noted[made.key] = user
        # What most names begin with is the homework's: one learner alone cannot shift it.
        homework = Counter(before[: -len(user)] for before, user in noted.items()).most_common(1)
        start = homework[0][0] if homework else ""
        users = {}
        for before in {made.key for made in named.values()}:
            rest = before.removeprefix(start) if start else before.rpartition("_")[2]
            users[before] = noted.get(before) or rest or before
        guessed = set() if start else set(users) - set(noted)
        return {
            item: replace(
                made,
                learner=users[made.key],
                ids={self.name: made.key, "ends": made.key} if made.key in guessed else None,
            )
            for item, made in named.items()
        }

    def newest(self, theirs: list[Entry], named: Mapping[Entry, SystemName], notes: list[str]) -> list[Entry]:
        """Return the files of the newest attempt, without the system's note."""
        newest = max(named[item].number for item in theirs)
        older = sorted({named[item].number for item in theirs} - {newest})
        if older:
            notes.append(f"only the newest attempt counts ({newest}); left out: {', '.join(older)}")
        return [item for item in theirs if named[item].number == newest and self.is_work(named[item])]

    def is_work(self, made: SystemName) -> bool:
        """Whether it is not the system's own note about an attempt."""
        return made.original is not None


def _user(note: Entry) -> str | None:
    """Read the user from the note that the system puts next to the files: `Name: Ada Lovelace (ada_l)`."""
    try:
        text = note.read(1 << 20)[:4096].decode("utf-8", "replace")
    except UnreadableSubmission:
        return None
    found = re.match(r"\ufeff?Name:[^\r\n]*\(([^()\r\n]+)\)[ \t]*(?:[\r\n]|\Z)", text)
    return found[1] if found else None


def _time(text: str) -> datetime | None:
    """Read the time in a file's name, `2026-01-02-03-04-05`; it names no zone."""
    try:
        return datetime.strptime(text, "%Y-%m-%d-%H-%M-%S")
    except ValueError:
        return None
