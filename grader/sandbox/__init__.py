"""What a worker may read, write, allocate and call. No torch, no learner, no answers in here."""

from __future__ import annotations

from grader.sandbox.capabilities import Capabilities, probe
from grader.sandbox.confinement import Confinement, Isolation, confine
from grader.sandbox.environment import replace_environment
from grader.sandbox.limits import Limits
from grader.sandbox.namespaces import enter_namespaces
from grader.sandbox.processes import become_subreaper, kill_descendants
from grader.sandbox.read_paths import python_read_paths

__all__ = [
    "Capabilities",
    "Confinement",
    "Isolation",
    "Limits",
    "become_subreaper",
    "confine",
    "enter_namespaces",
    "kill_descendants",
    "probe",
    "python_read_paths",
    "replace_environment",
]
