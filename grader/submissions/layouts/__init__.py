"""The layouts that hand-ins come in: one module for each, which decides who handed in what."""

from __future__ import annotations

from grader.submissions.layouts import blackboard, canvas, folders, gradescope, moodle, nbgrader
from grader.submissions.layouts.base import Layout, System

__all__ = ["SYSTEMS", "Layout", "System", "folders", "gradescope", "nbgrader"]

SYSTEMS: tuple[System, ...] = (gradescope, moodle, blackboard, canvas)
"""Bulk downloads, in the order in which they take what is theirs."""
