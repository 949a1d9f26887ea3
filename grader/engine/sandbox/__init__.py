"""What a worker may read, write, allocate and call. No torch, no learner, no answers in here.

May import engine.wire and the modules at the top; never the rest of the engine.
"""

from __future__ import annotations

from grader.engine.sandbox.capabilities import Capabilities, offered, probe, require
from grader.engine.sandbox.full import BaseMounts, Sandbox, open_sandbox, prepare, renewed, visible_pid
from grader.engine.sandbox.levels import Isolation, forced, reaches, weakest
from grader.engine.sandbox.limits import ResourceLimits
from grader.engine.sandbox.namespaces import enter_namespaces, renew_processes
from grader.engine.sandbox.read_paths import (
    View,
    places_showing,
    python_read_paths,
    python_view,
    refuse_exposed,
    refuse_foreign_code,
)
from grader.engine.sandbox.sandbox_config import ConfinementError, SandboxConfig, confine, replace_environment
from grader.engine.sandbox.seccomp import AUDIT
from grader.engine.sandbox.watchdog import (
    LOOK_S,
    become_subreaper,
    exceeded_limit,
    kill_descendants,
    remove_folder,
)

__all__ = [
    "AUDIT",
    "LOOK_S",
    "BaseMounts",
    "Capabilities",
    "ConfinementError",
    "Isolation",
    "ResourceLimits",
    "Sandbox",
    "SandboxConfig",
    "View",
    "become_subreaper",
    "confine",
    "enter_namespaces",
    "exceeded_limit",
    "forced",
    "kill_descendants",
    "offered",
    "open_sandbox",
    "places_showing",
    "prepare",
    "probe",
    "python_read_paths",
    "python_view",
    "reaches",
    "refuse_exposed",
    "refuse_foreign_code",
    "remove_folder",
    "renew_processes",
    "renewed",
    "replace_environment",
    "require",
    "visible_pid",
    "weakest",
]
