"""ILIAS: a folder for each person, `Lovelace_Ada_ada01_12345`; where teams hand in, inside one for each, `Team 77`.

Known from its source (`downloadAllAssignmentFiles` and `getDirectoryNameFromUserData` of
`Modules/Exercise/classes/class.ilExSubmission.php`), not from a download that we saw.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from grader.instructor.lms.system import Download, System, SystemName, inside, name_and_login
from grader.instructor.submissions.entry import Entry
from grader.instructor.submissions.learner import LearnerFolder

_PERSON = re.compile(r"(?P<who>[^_\d]+_[^_\d]+_.*[^_].*)_(?P<id>[1-9][0-9]{2,})")
_TEAM = re.compile(r"\w+ [0-9]+")
# What ILIAS writes before a late file's name depends on the language of the instructor.
_LATE = re.compile(r"(?:Late Submission|Versp(?:ae|ä)tete Abgabe) - (?P<original>.+)")


class Ilias(System):
    """ILIAS."""

    name = "ilias"
    title = "ILIAS"
    wraps = True

    def folder(self, name: str) -> SystemName | None:
        """Take a folder's name apart: last name, first name, login, number."""
        found = _PERSON.fullmatch(name)
        if found is None:
            return None
        called, login = name_and_login(found["who"])
        return SystemName(login, found["id"], ids={"name": called, "ends": found["who"]})

    def is_wrapper(self, name: str) -> bool:
        """Whether it is the folder for hand-ins in the folder of an assignment."""
        return name in ("Abgaben", "Submissions")

    def made(self, item: Entry) -> SystemName | None:
        """Take a name apart; a team's folder is called so if it holds people's."""
        return SystemName("", item.name) if self._members(item) else super().made(item)

    def read(self, items: Sequence[Entry]) -> Download:
        """Say whose the folders are. What a team-mate handed in may be taken, and is not by itself."""
        teams = {item: self._members(item) for item in items}
        found = super().read([person for item, members in teams.items() for person in members or [item]])
        found.taken = {item for item in items if teams[item] or item in found.taken}
        learners = {learner.suffix: learner for learner in found.learners}
        for team, members in teams.items():
            mates = [
                learners[made.key] for member in members if (made := self.folder(member.name)) is not None
            ]
            for learner in mates:
                learner.notes.append(f"handed in for {team.name}")
                learner.earlier += [place for mate in mates if mate is not learner for place in mate.places]
        return found

    def _members(self, item: Entry) -> list[Entry]:
        if not item.is_folder or _TEAM.fullmatch(item.name) is None:
            return []
        people = inside(item)
        return people if all(self.folder(entry.name) for entry in people) else []

    def places(self, item: Entry, made: SystemName, learner: LearnerFolder) -> None:
        """Add the files one by one, for late ones are called otherwise than the learner called them."""
        there = inside(item)
        if not there:
            learner.places.append(item.handed_in())
        for entry in there:
            late = _LATE.fullmatch(entry.name)
            around = (entry.name,) if entry.is_folder else ()
            learner.places.append(
                entry.handed_in(late and late["original"], None, self.title if late else None, around)
            )
