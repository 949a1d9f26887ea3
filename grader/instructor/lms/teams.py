"""Microsoft Teams: `Submitted files/Ada Lovelace/Week 1/Version 2/masks.py`, and drafts in `Working files`.

Known from what others write of the library *Student Work* that Teams keeps in SharePoint, not from one that we saw.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from grader.instructor.lms.system import Download, System, SystemName, add_numbered, inside
from grader.instructor.submissions.entry import Entry
from grader.instructor.submissions.learner import LearnerFolder

SUBMITTED, DRAFTS = "submitted files", "working files"
_VERSION = re.compile(r"Version ([0-9]{1,9})")


class Teams(System):
    """Microsoft Teams."""

    name = "teams"
    title = "Microsoft Teams"
    wraps = True

    def folder(self, name: str) -> SystemName | None:
        """Know the two folders that Teams makes."""
        return SystemName("", name) if name.casefold() in (SUBMITTED, DRAFTS) else None

    def read(self, items: Sequence[Entry]) -> Download:
        """Say who submitted; a draft is nobody's hand-in."""
        found = Download(taken={item for item in items if self.made(item) is not None})
        for top in found.taken:
            if top.name.casefold() == DRAFTS:
                found.notes.append(f"{top.label} holds drafts, which nobody handed in: they were left out")
                continue
            for person in inside(top):
                learner = LearnerFolder(person.name, person.name, ids={"name": person.name})
                self.places(person, SystemName(person.name, person.name), learner)
                found.learners.append(learner)
        return found

    def places(self, item: Entry, made: SystemName, learner: LearnerFolder) -> None:
        """Add the newest version of every assignment."""
        there = inside(item)
        if not there:
            learner.places.append(item.handed_in())
        for entry in there:
            versions = {
                int(found[1]): below for below in inside(entry) if (found := _VERSION.fullmatch(below.name))
            }
            add_numbered(learner, versions or {0: entry}, (entry.name,) if entry.is_folder else ())
