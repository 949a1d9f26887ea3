"""Canvas: one folder of files, `lovelaceada_LATE_1234_5678_masks-1.py`: name, user, attachment, the file."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping

from grader.catalogue import ARCHIVES, SUBMISSION_SUFFIXES
from grader.instructor.lms.person import Cells, Person, filled, turned
from grader.instructor.lms.system import GradeFile, Identifier, Roster, System, SystemName
from grader.instructor.submissions.entry import Entry

POINTS_POSSIBLE = "Points Possible"
"""Canvas's own words."""

# Identifiers never begin with 0. Canvas takes numbers between underscores out of people's names, so that the leftmost
# pair of numbers is its own, whatever the learner called the file: names with more of them are in no doubt.
_NAMED = re.compile(
    r"(?P<name>[^_].*?)(?P<late>_LATE)?_(?P<user>[1-9][0-9]*)_(?P<file>[1-9][0-9]*)_(?P<original>.+)",
    re.DOTALL,
)
_ANONYMOUS = re.compile(
    r"(?P<name>anon)(?P<late>_LATE)?_(?P<user>[A-Za-z0-9]{5})_(?P<file>[1-9][0-9]*)_(?P<original>.+)",
    re.DOTALL,
)

# A text entry has no attachment: `lovelaceada_1234_text.html`.
_TEXT = re.compile(
    r"(?P<name>[^_].*?)(?P<late>_LATE)?_(?P<user>[1-9][0-9]*)_(?P<file>)(?P<original>text\.html)"
)

# A file of this beginning goes back to the submission (Grades, or SpeedGrader: "Upload submissions").
_FEEDBACK = re.compile(r"(?P<mark>[^_].*?(?:_LATE)?_[1-9][0-9]*_[1-9][0-9]*_).+")


def _in_grades(cells: Cells) -> Person | None:
    """Grades, Export: `Student, ID, SIS User ID, SIS Login ID, Section`, then assignments."""
    name, number = cells["student"], cells["id"]
    ids = filled(cells, "sis_user_id", "sis_login_id")
    if not (number or ids) or name in ("Student, Test", "Test Student"):
        return None  # "Points Possible", "Manual Posting" and the like have no ID
    return Person(
        learner=ids.get("sis_login_id") or ids.get("sis_user_id") or turned(name),
        name=turned(name),
        section=cells.get("section", ""),
        canvas_id=number,
        other=ids,
    )


def _student(learner: str, name: str, person: Person) -> tuple[str, str, str, str, str]:
    return (
        # Canvas would take the marks of somebody of this name for the maxima.
        name.replace(POINTS_POSSIBLE, POINTS_POSSIBLE.lower()),
        person.canvas_id,
        person.cell("sis_user_id"),
        person.cell("sis_login_id") or learner,
        person.section,
    )


class Canvas(System):
    """Canvas."""

    name = "canvas"
    title = "Canvas"
    rosters = (Roster(frozenset({"student", "id", "section"}), _in_grades),)
    logins = ("sis_user_id", "sis_login_id")
    identifiers = (Identifier("canvas", "canvas_id", "number in Canvas", "Canvas's number is the roster's"),)
    # What the importer does with it (`lib/gradebook_importer.rb` of instructure/canvas-lms): the first line must hold
    # these five columns in this order; a student is found by `ID`, then `SIS User ID`, then `SIS Login ID`, then by
    # name; an assignment by the number in `Title (number)`, else by its whole title, and Canvas offers to make one that
    # it does not find; the line whose first cell holds "Points Possible" sets what each is worth; an empty cell changes
    # nothing, and scores count to two decimals.
    grades = GradeFile(
        ("Student", "ID", "SIS User ID", "SIS Login ID", "Section"),
        _student,
        lambda title, number, _points: f"{title} ({number})" if number else title,
        maxima=f"    {POINTS_POSSIBLE}",
        decimals=2,
        column=r"(.+) \([0-9]+\)",
    )

    def file(self, name: str) -> SystemName | None:
        """Take a file's name apart."""
        found = _ANONYMOUS.fullmatch(name) or _NAMED.fullmatch(name) or _TEXT.fullmatch(name)
        if not found:
            return None
        return SystemName(
            f"{found['name']}_{found['user']}",
            found["user"],
            _unnumbered(found["original"]),
            found["file"] and found["file"].zfill(20),
            late=found["late"] is not None,
        )

    def resolved(self, named: dict[Entry, SystemName]) -> dict[Entry, SystemName]:
        """Return nothing unless it is a download: attachments are numbered once, users have one name."""
        attachments = Counter(made.number for made in named.values() if made.number)
        names: dict[str, set[str]] = defaultdict(set)
        for made in named.values():
            names[made.key].add(made.learner)
        if any(count > 1 for count in attachments.values()) or any(
            len(known) > 1 for known in names.values()
        ):
            return {}
        return named

    def newest(self, theirs: list[Entry], named: Mapping[Entry, SystemName], notes: list[str]) -> list[Entry]:
        """Return of each file the newest."""
        newest: dict[str, Entry] = {}
        for item in sorted(theirs, key=lambda item: named[item].number):
            made = named[item]
            # A typed text has no number of an upload.
            if not made.number:
                notes.append("a text was typed into Canvas; it is not read")
            original = made.original or item.name
            if original in newest:
                notes.append(f"{newest[original].label} was left out: {item.label} is newer")
            newest[original] = item
        return list(newest.values())

    def feedback(self, part: str, *, last: bool) -> str | None:
        """Return a name that begins as the system's own; the leftmost one is, what follows a learner chose."""
        found = _FEEDBACK.fullmatch(part) if last else None
        return f"{found['mark']}feedback.html" if found else None


def _unnumbered(original: str) -> str:
    """Return a file's name as the learner had it: Canvas numbers a later file of the same name, `masks-1.py`.

    Other files keep what may be their own number.
    """
    for ending in (*SUBMISSION_SUFFIXES, *ARCHIVES):
        if original.casefold().endswith(ending):
            place = len(original) - len(ending)
            return re.sub(r"-[0-9]+\Z", "", original[:place]) + original[place:]
    return original
