"""OpenOLAT: `Lovelace_Ada_ada01/2_submissions/masks.py`, next to what was given out and what was corrected.

Known from its source (`archiveNodeData` of `org/olat/course/nodes/GTACourseNode.java`), not from a
download that we saw.
"""

from __future__ import annotations

import re

from grader.instructor.lms.system import System, SystemName, add_numbered, inside, name_and_login
from grader.instructor.submissions.entry import Entry
from grader.instructor.submissions.learner import LearnerFolder

# Numbered by what the course asks for, so that hand-ins may be 1_submissions or 2_submissions.
_STEP = re.compile(
    r"(?P<place>[0-9]+)_(?P<what>task|submissions|corrections|revisions|assessment)(?:_[0-9]+)?"
)
_HANDED_IN = ("submissions", "revisions")


class OpenOlat(System):
    """OpenOLAT."""

    name = "openolat"
    title = "OpenOLAT"
    wraps = True

    def folder(self, name: str) -> SystemName | None:
        """Take a folder's name apart: last name, first name, login; of a group its name and number."""
        called, login = name_and_login(name)
        if not called or not login:
            return None
        is_group = login.isdecimal() and " " in called
        return SystemName(name if is_group else login, name, ids={"name": called, "ends": name})

    def made(self, item: Entry) -> SystemName | None:
        """Take a name apart. Only what lies in a folder tells that it is OpenOLAT's."""
        made = super().made(item)
        steps = [_STEP.fullmatch(entry.name) for entry in inside(item)] if made is not None else []
        return made if steps and all(steps) else None

    def places(self, item: Entry, made: SystemName, learner: LearnerFolder) -> None:
        """Add the last thing that was handed in; tasks and corrections are the instructor's."""
        steps = [
            (entry, found) for entry in inside(item) if (found := _STEP.fullmatch(entry.name)) is not None
        ]
        handed_in = {int(found["place"]): entry for entry, found in steps if found["what"] in _HANDED_IN}
        if handed_in:
            add_numbered(learner, handed_in)
