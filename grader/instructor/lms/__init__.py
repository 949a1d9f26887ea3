"""The systems that classes hand in through: what their downloads, rosters, times and grade files look like.

One module for each, with one subclass of `System`; a new one is listed below. `find` is the class in any layout.
May import submissions and below; never gradebook or grading.
"""

from __future__ import annotations

from grader.instructor.lms.blackboard import Blackboard
from grader.instructor.lms.brightspace import Brightspace
from grader.instructor.lms.canvas import Canvas
from grader.instructor.lms.github import GitHub
from grader.instructor.lms.google import GoogleClassroom
from grader.instructor.lms.gradescope import Gradescope
from grader.instructor.lms.ilias import Ilias
from grader.instructor.lms.moodle import Moodle
from grader.instructor.lms.openolat import OpenOlat
from grader.instructor.lms.sakai import Sakai
from grader.instructor.lms.system import Roster, System, Times
from grader.instructor.lms.teams import Teams

__all__ = ["SYSTEMS", "in_english", "roster_of", "times_of"]

# The order decides where a name or a table could be of two systems: the one with more of its own in it comes first.
# Names of Canvas are the least telling. Blackboard's columns are also among those of Classroom 50, Brightspace, Moodle.
SYSTEMS: tuple[System, ...] = (
    GitHub(), Gradescope(), Brightspace(), Moodle(), Blackboard(), Canvas(), Sakai(), Teams(), Ilias(), OpenOlat(),
    GoogleClassroom(),
)  # fmt: skip


def in_english(columns: list[str]) -> list[str]:
    """Return a table's columns under their English names, if a system wrote them in another language that we know."""
    for system in SYSTEMS:
        # One word such as ID may be in any table: two are a language.
        if len(system.headings.keys() & set(columns)) > 1:
            return [system.headings.get(column, column) for column in columns]
    return columns


def roster_of(columns: list[str]) -> Roster | None:
    """Return whose roster has these columns."""
    return next(
        (roster for system in SYSTEMS for roster in system.rosters if roster.needs <= set(columns)), None
    )


def times_of(columns: list[str]) -> Times | None:
    """Return whose table of times has these columns."""
    return next((system.times for system in SYSTEMS if system.times and system.times.column in columns), None)
