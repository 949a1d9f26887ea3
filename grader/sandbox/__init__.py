"""What a worker may read, write, allocate and call. No torch, no learner, no answers in here."""

from __future__ import annotations

from grader.sandbox.capabilities import Capabilities, probe, require, strongest_wanted
from grader.sandbox.cell import Cell, Shared, leave_cell, open_cell, prepare, rehearse, visible_pid
from grader.sandbox.confinement import Confinement, confine
from grader.sandbox.environment import replace_environment
from grader.sandbox.levels import Isolation, reaches
from grader.sandbox.limits import Limits
from grader.sandbox.namespaces import enter_namespaces, renew_processes
from grader.sandbox.processes import become_subreaper, kill_descendants
from grader.sandbox.read_paths import python_read_paths

__all__ = [
    "Capabilities",
    "Cell",
    "Confinement",
    "Isolation",
    "Limits",
    "Shared",
    "become_subreaper",
    "confine",
    "enter_namespaces",
    "kill_descendants",
    "leave_cell",
    "open_cell",
    "prepare",
    "probe",
    "python_read_paths",
    "reaches",
    "rehearse",
    "renew_processes",
    "replace_environment",
    "require",
    "strongest_wanted",
    "visible_pid",
]
