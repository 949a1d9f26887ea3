"""What this machine can enforce, tried out rather than guessed."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from grader.sandbox import landlock, libc, namespaces, seccomp
from grader.sandbox.confinement import Confinement, Isolation, confine
from grader.sandbox.limits import Limits

Cgroup = Literal["v1", "v2", "none"]

_USER, _NETWORK, _CONFINED = 1, 2, 4


@dataclass(frozen=True)
class Capabilities:
    """What the sandbox reaches here; `missing` says in sentences what it does not, and how to get it."""

    platform: str
    root: bool
    landlock_abi: int
    seccomp: bool
    user_namespaces: bool
    network_namespaces: bool
    cgroup: Cgroup
    level: Isolation
    missing: tuple[str, ...]


def probe() -> Capabilities:
    """Try what this machine can enforce, in a child that is thrown away; changes nothing, takes 10 ms."""
    if sys.platform != "linux":
        sentence = "Kata confines submissions on Linux only; here they run in a process of their own."
        root = hasattr(os, "geteuid") and os.geteuid() == 0
        return Capabilities(sys.platform, root, 0, False, False, False, "none", "process", (sentence,))
    abi = landlock.abi()
    root = os.geteuid() == 0
    filters = seccomp.available()
    try:
        code = namespaces.in_child(_try)
    except OSError:
        code = 0
    level: Isolation = "confined" if code & _CONFINED else "process"
    found = Capabilities(
        platform=sys.platform,
        root=root,
        landlock_abi=abi,
        seccomp=filters,
        user_namespaces=bool(code & _USER),
        network_namespaces=bool(code & _NETWORK),
        cgroup=_cgroup(),
        level=level,
        missing=(),
    )
    return _with_missing(found)


def _try() -> int:
    network = os.geteuid() == 0 and libc.unshare(libc.CLONE_NEWNET) == 0
    user = namespaces.enter_user_namespace()
    network = network or (user and libc.unshare(libc.CLONE_NEWNET) == 0)
    confined = confine(Confinement(read=(), write=(), limits=Limits(memory_bytes=None))) == "confined"
    return _USER * user | _NETWORK * network | _CONFINED * confined


def _cgroup() -> Cgroup:
    root = Path("/sys/fs/cgroup")
    if (root / "cgroup.controllers").exists():
        return "v2"
    return "v1" if (root / "memory").is_dir() or (root / "pids").is_dir() else "none"


def _with_missing(found: Capabilities) -> Capabilities:
    missing = []
    if found.landlock_abi == 0:
        missing.append(
            "Landlock is off, so files are not protected: "
            "use Linux 5.13 or newer with `landlock` in its `lsm=` list."
        )
    elif found.landlock_abi < 6:
        missing.append(
            f"Landlock is at ABI {found.landlock_abi}, without scopes for signals and sockets: "
            "Linux 6.12 or newer has ABI 6; until then system call filters stand in."
        )
    if not found.seccomp:
        missing.append(
            "System calls cannot be filtered: "
            "use x86_64 or aarch64, and a kernel or container that allows seccomp filters."
        )
    if not found.network_namespaces:
        missing.append(
            "No network namespace can be made, so only filters keep a worker off it: run as root, or allow "
            "them: user.max_user_namespaces, kernel.apparmor_restrict_unprivileged_userns (sysctl)."
        )
    if found.cgroup == "none":
        missing.append(
            "No control groups are mounted, so memory is limited per process only: mount /sys/fs/cgroup."
        )
    if found.level == "process" and found.landlock_abi and found.seccomp:
        missing.append("The kernel refused to confine a test process: a container may forbid it.")
    return replace(found, missing=tuple(missing))
