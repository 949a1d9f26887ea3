"""GitHub Classroom, and Classroom 50 after it: their rosters, and when repositories were pushed to."""

from __future__ import annotations

import re

from grader.instructor.lms.person import Cells, Found, Person, filled, full_name, is_student
from grader.instructor.lms.system import Roster, System, Times


def _in_github_classroom(cells: Cells) -> Person | None:
    """`classroom_roster.csv`: `identifier, github_username, github_id, name`."""
    return Person(
        learner=cells["identifier"],
        name=cells.get("name", ""),
        email=cells["identifier"] if "@" in cells["identifier"] else "",
        section=cells.get("group_name", ""),
        other=filled(cells, "github_username", "github_id"),
    )


def _in_classroom50(cells: Cells) -> Person | None:
    """`roster.csv`: `username, first_name, last_name, email, section, github_id, role`."""
    if not is_student(cells):
        return None
    return Person(
        learner=cells["username"] or cells["email"],
        name=full_name(cells),
        email=cells["email"],
        section=cells.get("section", ""),
        other={"github_username": cells["username"], **filled(cells, "github_id")},
    )


class GitHub(System):
    """GitHub Classroom and Classroom 50."""

    name = "github"
    title = "GitHub Classroom"
    rosters = (
        Roster(frozenset({"identifier", "github_username"}), _in_github_classroom),
        Roster(frozenset({"username", "first_name", "last_name", "email", "section"}), _in_classroom50),
    )
    times = Times(
        "submission_timestamp",
        lambda cells: Found(
            # Without an account: a clone is called so, and ends in the login.
            cells["github_username"] or cells.get("student_repository_name", ""),
            {"email": cells["roster_identifier"]} if cells.get("roster_identifier") else {},
        ),
    )
    logins = ("github_username",)
    own_files = frozenset({"scores.csv"})

    def is_wrapper(self, name: str) -> bool:
        """Whether `gh classroom clone` or `gh teacher download` makes a folder of this name for everybody's clones."""
        return re.fullmatch(r".+[-_]submissions(_[0-9T_]+)?", name) is not None
