"""Rosters as other systems write them, known by their columns; each line becomes a person with the system's own ids."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from grader.instructor.gradebook.person import Person

Cells = dict[str, str]
"""A line by column, in lower case with underscores."""


class Format(NamedTuple):
    """One system's file."""

    name: str
    needs: frozenset[str]
    """Columns that no other system's file has together."""
    person: Callable[[Cells], Person | None]
    """None for a line that is nobody: maxima, a test student, a teacher."""


def _full_name(cells: Cells) -> str:
    """Return a name from its parts."""
    last = cells.get("last_name") or cells.get("surname", "")
    return f"{cells.get('first_name', '')} {last}".strip()


def turned(name: str) -> str:
    """Return `Ada Lovelace` for `Lovelace, Ada`."""
    last, comma, first = name.partition(",")
    return f"{first.strip()} {last.strip()}" if comma and first.strip() else name.strip()


def _ids(cells: Cells, *columns: str) -> dict[str, str]:
    return {column: cells[column] for column in columns if cells.get(column)}


def _canvas(cells: Cells) -> Person | None:
    """Canvas: Grades, Export: `Student, ID, SIS User ID, SIS Login ID, Section`, then assignments."""
    name, number = cells["student"], cells["id"]
    ids = _ids(cells, "sis_user_id", "sis_login_id")
    if not (number or ids) or name in ("Student, Test", "Test Student"):
        return None  # "Points Possible", "Manual Posting" and the like have no ID
    who = ids.get("sis_login_id") or ids.get("sis_user_id") or turned(name)
    return Person(
        learner=who, name=turned(name), section=cells.get("section", ""), canvas_id=number, other=ids
    )


def _moodle_worksheet(cells: Cells) -> Person | None:
    """Moodle: an assignment's grading worksheet: `Identifier, Full name, Email address, …`."""
    number = cells["identifier"].removeprefix("Participant").strip()
    email = cells.get("email_address", "")
    ids = {"moodle_participant": number} | _ids(cells, "id_number", "username")
    who = ids.get("username") or ids.get("id_number") or email or cells["full_name"]
    return Person(
        learner=who,
        name=cells["full_name"],
        email=email,
        moodle_id=ids.get("id_number") or ids.get("username", ""),
        other=ids,
    )


def _moodle(cells: Cells) -> Person | None:
    """Moodle: participants or grades: `First name, Last name, ID number, …, Email address`."""
    ids = _ids(cells, "id_number", "username")
    email, name = cells["email_address"], _full_name(cells)
    who = ids.get("username") or ids.get("id_number") or email
    section = cells.get("groups", "")
    return Person(
        learner=who or name,
        name=name,
        email=email,
        section=section,
        moodle_id=ids.get("id_number") or ids.get("username", ""),
        other=ids,
    )


def _blackboard(cells: Cells) -> Person | None:
    """Blackboard: Grade Centre, Work Offline: `Last Name, First Name, Username, Student ID, …`."""
    ids = _ids(cells, "username", "student_id")
    return Person(learner=cells["username"], name=_full_name(cells), other=ids)


def _brightspace(cells: Cells) -> Person | None:
    """Brightspace: Grades, Export: `OrgDefinedId, Username, Last Name, First Name, Email, …`, a `#` before numbers."""
    cells = {**cells, **{name: cells[name].lstrip("#") for name in ("orgdefinedid", "username")}}
    ids = _ids(cells, "username", "orgdefinedid")
    who = cells["username"] or cells["orgdefinedid"]
    return Person(learner=who, name=_full_name(cells), email=cells.get("email", ""), other=ids)


def _gradescope(cells: Cells) -> Person | None:
    """Gradescope: the course's roster, `First Name, Last Name, SID, Email, Role, Section` or `Name, SID, Email, …`."""
    if cells.get("role", "student").casefold() not in ("student", ""):
        return None
    name = cells.get("name") or cells.get("full_name") or _full_name(cells)
    email = cells["email"]
    section = cells.get("section") or cells.get("sections", "")
    return Person(
        learner=email or cells["sid"],
        name=turned(name),
        email=email,
        section=section,
        other=_ids(cells, "sid"),
    )


def _github_classroom(cells: Cells) -> Person | None:
    """GitHub Classroom's `classroom_roster.csv`: `identifier, github_username, github_id, name`."""
    ids = _ids(cells, "github_username", "github_id")
    email = cells["identifier"] if "@" in cells["identifier"] else ""
    return Person(
        learner=cells["identifier"],
        name=cells.get("name", ""),
        email=email,
        section=cells.get("group_name", ""),
        other=ids,
    )


def _classroom50(cells: Cells) -> Person | None:
    """Classroom 50's `roster.csv`: `username, first_name, last_name, email, section, github_id, role`."""
    if cells.get("role", "student").casefold() not in ("student", ""):
        return None
    ids = {"github_username": cells["username"], **_ids(cells, "github_id")}
    who = cells["username"] or cells["email"]
    return Person(
        learner=who, name=_full_name(cells), email=cells["email"], section=cells.get("section", ""), other=ids
    )


FORMATS = (
    Format("Canvas", frozenset({"student", "id", "section"}), _canvas),
    Format("Moodle", frozenset({"identifier", "full_name"}), _moodle_worksheet),
    Format("GitHub Classroom", frozenset({"identifier", "github_username"}), _github_classroom),
    Format(
        "Classroom 50", frozenset({"username", "first_name", "last_name", "email", "section"}), _classroom50
    ),
    Format("Brightspace", frozenset({"orgdefinedid", "username"}), _brightspace),
    Format("Blackboard", frozenset({"username", "first_name", "last_name"}), _blackboard),
    Format("Gradescope", frozenset({"sid", "email"}), _gradescope),
    Format("Moodle", frozenset({"first_name", "email_address"}), _moodle),
)
"""In the order in which they are tried."""


def format_of(columns: list[str]) -> Format | None:
    """Return whose file has these columns."""
    return next((one for one in FORMATS if one.needs <= set(columns)), None)
