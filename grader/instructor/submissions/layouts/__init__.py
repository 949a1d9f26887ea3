"""The layouts that hand-ins come in: one module for each, which decides who handed in what. A module has no state."""

from __future__ import annotations

from typing import Protocol

from grader.instructor.submissions.claims import Claims
from grader.instructor.submissions.entry import Entry
from grader.instructor.submissions.layouts import (
    blackboard,
    brightspace,
    canvas,
    folders,
    gradescope,
    moodle,
    nbgrader,
)

__all__ = ["SYSTEMS", "Layout", "System", "folders", "gradescope", "nbgrader"]


class Layout(Protocol):
    """One way in which a class's work lies in a folder."""

    NAME: str
    """What `Scan.layout` says."""

    def take(self, entries: list[Entry], claims: Claims, rank: int = 0) -> list[Entry]:
        """Claim what lies as this layout has it; return the rest, in the same order."""
        ...


class System(Protocol):
    """The bulk download of a learning-management system, known by the names that it makes."""

    NAME: str
    """What `Scan.layout` says."""

    def take(self, entries: list[Entry], claims: Claims) -> list[Entry]:
        """Claim what the system made; return the rest, in the same order."""
        ...

    def makes_file(self, name: str) -> bool:
        """Whether the system calls a file of a learner so."""
        ...

    def makes_folder(self, name: str) -> bool:
        """Whether the system calls a folder of a learner so."""
        ...


SYSTEMS: tuple[System, ...] = (gradescope, brightspace, moodle, blackboard, canvas)
"""Bulk downloads, in the order in which they take what is theirs."""
