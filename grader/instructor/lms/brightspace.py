"""Brightspace (D2L): a folder for each hand-in, `397063-2557369 - Ada Lovelace - Sep 24, 2024 926 PM`."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from grader.instructor.lms.person import Cells, Person, filled, full_name
from grader.instructor.lms.system import Download, GradeFile, Identifier, Roster, System, SystemName
from grader.instructor.submissions.entry import Entry

OVERVIEW = "index.html"
"""It is next to the folders."""

# Month names are English whatever the locale of this machine; `strptime` would take the machine's.
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_NAMED = re.compile(
    r"(?P<who>[0-9]+)-[0-9]+ - (?P<name>.+) - (?P<month>[A-Z][a-z]{2})[a-z]* (?P<day>[0-9]{1,2}), (?P<year>[0-9]{4}) "
    r"(?P<hour>[0-9]{1,2}):?(?P<minute>[0-9]{2}) (?P<half>[AP]M)"
)


def _in_grades(cells: Cells) -> Person | None:
    """Grades, Export: `OrgDefinedId, Username, Last Name, First Name, Email, …`, a `#` before numbers."""
    cells = {**cells, **{name: cells[name].lstrip("#") for name in ("orgdefinedid", "username")}}
    return Person(
        learner=cells["username"] or cells["orgdefinedid"],
        name=full_name(cells),
        email=cells.get("email", ""),
        other=filled(cells, "username", "orgdefinedid"),
    )


def _student(learner: str, _name: str, person: Person) -> tuple[str, str]:
    number = person.cell("orgdefinedid")
    return f"#{number}" if number else "", f"#{person.cell('username') or learner}"


class Brightspace(System):
    """Brightspace."""

    name = "brightspace"
    title = "Brightspace"
    rosters = (Roster(frozenset({"orgdefinedid", "username"}), _in_grades),)
    logins = ("username", "orgdefinedid")
    identifiers = (
        Identifier(
            "brightspace",
            "brightspace_id",
            "number in Brightspace",
            "Brightspace's number is the roster's",
        ),
    )
    # "You must provide a Username or Org Defined ID (or both)", and numeric items "should be labeled with the grade
    # item name followed by 'Points Grade'" (community.d2l.com, "Importing grades"); what it exports has a `#` before
    # identifiers, and a last column of the same.
    grades = GradeFile(
        ("OrgDefinedId", "Username"),
        _student,
        lambda title, _number, _points: f"{title} Points Grade",
        end=("End-of-Line Indicator", "#"),
        column=r"(.+) Points Grade\b.*",
    )

    def folder(self, name: str) -> SystemName | None:
        """Take a name apart: a number, who, and when; it names no zone."""
        found = _NAMED.fullmatch(name)
        if found is None or found["month"] not in _MONTHS:
            return None
        month = _MONTHS.index(found["month"]) + 1
        # 12 AM is midnight and 12 PM is noon.
        hour = int(found["hour"]) % 12 + 12 * (found["half"] == "PM")
        try:
            at = datetime(int(found["year"]), month, int(found["day"]), hour, int(found["minute"]))
        except ValueError:
            return None
        return SystemName(found["name"], found["who"], submitted_at=at)

    def read(self, items: Sequence[Entry]) -> Download:
        """Say whose the folders are; the overview is nobody's."""
        found = super().read(items)
        found.taken.update(item for item in items if item.name == OVERVIEW)
        return found

    def resolved(self, named: dict[Entry, SystemName]) -> dict[Entry, SystemName]:
        """Believe a number that has one name, and tell it on where the name has one number."""
        names: dict[str, set[str]] = defaultdict(set)
        for made in named.values():
            names[made.key].add(made.learner)
        for item, made in named.items():
            if len(names[made.key]) > 1:
                # It is not a learner's, and cannot tell two of one name apart. No number begins with a blank.
                named[item] = replace(made, key=f" {made.learner}")
        called = Counter(name for name, _ in {(made.learner, made.key) for made in named.values()})
        for item, made in named.items():
            sure = not made.key.startswith(" ") and called[made.learner] == 1
            named[item] = replace(made, ids={"name": made.learner} | ({self.name: made.key} if sure else {}))
        return named

    def newest(self, theirs: list[Entry], named: Mapping[Entry, SystemName], notes: list[str]) -> list[Entry]:
        """Return the newest of a learner's folders."""
        newest = max(theirs, key=lambda item: named[item].submitted_at or datetime.min)
        older = sorted(item.name for item in theirs if item is not newest)
        if older:
            notes.append(f"only the newest hand-in counts; left out: {', '.join(older)}")
        return [newest]
