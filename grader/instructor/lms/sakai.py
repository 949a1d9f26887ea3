"""Sakai: `Lovelace, Ada(ada01)/Submission attachment(s)/masks.py`, with the time in `timestamp.txt`.

Known from programs that read its download ("Download All" of the tool Assignments), not from a download that we saw.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime

from grader.data_files import UnreadableSubmission
from grader.instructor.lms.system import System, SystemName, inside
from grader.instructor.submissions.entry import Entry
from grader.instructor.submissions.learner import LearnerFolder

WORK = "Submission attachment(s)"
_PERSON = re.compile(r"(?P<last>[^()]+), (?P<first>[^()]*)\((?P<login>[^()\s]+)\)")


class Sakai(System):
    """Sakai."""

    name = "sakai"
    title = "Sakai"
    own_files = frozenset({"grades.csv", "grades.xls", "grades.xlsx"})
    wraps = True

    def folder(self, name: str) -> SystemName | None:
        """Take a folder's name apart: last name, first name, login."""
        found = _PERSON.fullmatch(name)
        if found is None:
            return None
        return SystemName(found["login"], found["login"], ids={"name": f"{found['first']} {found['last']}"})

    def places(self, item: Entry, made: SystemName, learner: LearnerFolder) -> None:
        """Add what the learner attached; comments and feedback next to it are the instructor's."""
        there = {entry.name: entry for entry in inside(item)}
        stamp = there.get("timestamp.txt")
        at = None if stamp is None else _time(stamp)
        if WORK in there:
            learner.places.append(there[WORK].handed_in(None, at, None if at is None else self.title))
        elif not there:
            learner.places.append(item.handed_in())
        if any(name.endswith("_submissionText.html") for name in there):
            learner.notes.append("a text was typed into Sakai; it is not read")


def _time(stamp: Entry) -> datetime | None:
    """Read `20260101120000000`, in UTC, as older versions write it, or a time as ISO 8601 has it."""
    try:
        text = stamp.read(4096).decode("utf-8", "replace").strip()
        if re.fullmatch(r"[0-9]{17}", text):
            return datetime.strptime(text[:14], "%Y%m%d%H%M%S").replace(tzinfo=UTC)
        return datetime.fromisoformat(text)
    except (UnreadableSubmission, ValueError):
        return None
