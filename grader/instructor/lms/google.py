"""Google Classroom: `Ada Lovelace - masks.py` in the Drive folder, where Classroom made a copy for each learner.

Known from Google's help pages and programs that read such folders. What a learner uploads keeps its own name: whose it
is, then, only Classroom knows.
"""

from __future__ import annotations

import re

from grader.instructor.lms.system import System, SystemName

_NAMED = re.compile(r"(?P<name>[^\W\d_][^-]* [^-]+) - (?P<original>(?!Copy\b).+\.[A-Za-z0-9]{1,6})")


class GoogleClassroom(System):
    """Google Classroom."""

    name = "google"
    title = "Google Classroom"

    def file(self, name: str) -> SystemName | None:
        """Take a file's name apart."""
        found = _NAMED.fullmatch(name)
        return found and SystemName(
            found["name"], found["name"], found["original"], ids={"name": found["name"]}
        )
