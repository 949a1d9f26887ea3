"""What a worker may read, write, allocate and call. No torch, no learner, no answers in here."""

from __future__ import annotations

from grader.sandbox.capabilities import Capabilities, insist, offered, probe, require, strongest_wanted
from grader.sandbox.confinement import Confinement, confine
from grader.sandbox.environment import replace_environment
from grader.sandbox.exposed import exposing, refuse_exposed, refuse_foreign_code
from grader.sandbox.full import (
    Sandbox,
    SharedMounts,
    can_live,
    leave_sandbox,
    open_sandbox,
    prepare,
    rehearse_ahead,
    renewed,
    visible_pid,
)
from grader.sandbox.levels import Isolation, reaches, weakest
from grader.sandbox.limits import ResourceLimits
from grader.sandbox.namespaces import enter_namespaces, renew_processes
from grader.sandbox.overruns import LOOK_S, overrun, remove_folder
from grader.sandbox.processes import become_subreaper, kill_descendants
from grader.sandbox.read_paths import View, python_read_paths, python_view
from grader.sandbox.seccomp import AUDIT

__all__ = [
    "AUDIT",
    "LOOK_S",
    "Capabilities",
    "Confinement",
    "Isolation",
    "ResourceLimits",
    "Sandbox",
    "SharedMounts",
    "View",
    "become_subreaper",
    "can_live",
    "confine",
    "enter_namespaces",
    "exposing",
    "insist",
    "kill_descendants",
    "leave_sandbox",
    "offered",
    "open_sandbox",
    "overrun",
    "prepare",
    "probe",
    "python_read_paths",
    "python_view",
    "reaches",
    "refuse_exposed",
    "refuse_foreign_code",
    "rehearse_ahead",
    "remove_folder",
    "renew_processes",
    "renewed",
    "replace_environment",
    "require",
    "strongest_wanted",
    "visible_pid",
    "weakest",
]
