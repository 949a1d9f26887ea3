"""What this machine can enforce, tried out rather than guessed."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from grader.engine.sandbox import full, landlock, libc, namespaces, seccomp
from grader.engine.sandbox.levels import VARIABLE, Isolation, forced, reaches
from grader.engine.sandbox.limits import ResourceLimits
from grader.engine.sandbox.sandbox_config import ConfinementError, SandboxConfig, confine
from grader.errors import MachineFault, UsageError
from grader.machine import shortage

Cgroup = Literal["v1", "v2", "none"]

_USER, _NETWORK, _CONFINED, _CELLS = 1, 2, 4, 8


@dataclass(frozen=True)
class Capabilities:
    """What the sandbox reaches here; `missing` says in sentences what it does not, and how to get it."""

    platform: str
    root: bool
    landlock_abi: int
    seccomp: bool
    user_namespaces: bool
    network_namespaces: bool
    cells: bool
    """Whether a worker can have processes, files and shared memory to itself."""
    cgroup: Cgroup
    level: Isolation
    missing: tuple[str, ...]


def probe() -> Capabilities:
    """Try what this machine can enforce, in children that are thrown away; changes nothing, takes some 20 ms."""
    if sys.platform != "linux":
        sentence = "Kata confines submissions on Linux only; here they run in a process of their own."
        root = hasattr(os, "geteuid") and os.geteuid() == 0
        return Capabilities(sys.platform, root, 0, False, False, False, False, "none", "process", (sentence,))
    # Before the fork: it takes milliseconds, and is remembered for every process that is forked from here on.
    abi = landlock.abi()
    root = os.geteuid() == 0
    filters = seccomp.available()
    try:
        # In a child, for good: nobody gets out of a namespace or a confinement again.
        code = namespaces.in_child(_try)
    except OSError as error:
        if help_for := shortage(error):  # that says nothing of what the machine could enforce
            raise MachineFault(f"No process can be started ({error.strerror}).", help_for) from error
        code = 0
    level: Isolation = "process"
    if code & _CONFINED:
        level = "full" if code & _CELLS and code & _NETWORK else "confined"
    found = Capabilities(
        platform=sys.platform,
        root=root,
        landlock_abi=abi,
        seccomp=filters,
        user_namespaces=bool(code & _USER),
        network_namespaces=bool(code & _NETWORK),
        cells=bool(code & _CELLS),
        cgroup=_cgroup(),
        level=level,
        missing=(),
    )
    return _with_missing(found)


def require(wanted: Isolation) -> Capabilities:
    """Insist that workers reach `wanted` at least, and return what was found.

    Raises:
        UsageError: they cannot, with what is missing and how to get it.
    """
    found = probe()
    named = forced()
    if not reaches(found.level, wanted):
        raise UsageError(
            f"Isolation {wanted!r} is required, but this machine offers only {found.level!r}.",
            " ".join(found.missing) or None,
        )
    # The variable also asks for less than the machine offers, and then workers get less.
    if named is not None and not reaches(named, wanted):
        raise UsageError(
            f"Isolation {wanted!r} is required, but {VARIABLE} limits workers to {named!r}.",
            f"Unset {VARIABLE}, or set it to {wanted}.",
        )
    return found


_offers_full = False
"""Whether it was found out that this machine offers *full*, for this process and those that it forks."""


def offered() -> Isolation:
    """Return the level that is promised for all workers: the one that `KATA_ISOLATION` names, else the strongest.

    Only *full* is remembered: a moment's shortage must not last. Should the machine grant less later, no worker starts.

    Raises:
        UsageError: `KATA_ISOLATION` names no level, or one that this machine does not offer.
    """
    global _offers_full
    named = forced()
    if named == "process":
        return named
    if named is not None:
        require(named)
        return named
    # Probed again each time below *full*: the shortage may have passed.
    level: Isolation = "full" if _offers_full else probe().level
    _offers_full = level == "full"
    if _offers_full:
        with contextlib.suppress(OSError):
            namespaces.allowed(os.geteuid())  # it remembers, and fork servers need not find out
    return level


def _try() -> int:
    network = os.geteuid() == 0 and libc.unshare(libc.CLONE_NEWNET) == 0
    # Root needs no user namespace for it, and in one it would lose the powers that sandboxes take.
    user = (not network or os.geteuid() != 0) and namespaces.enter_user_namespace()
    network = network or (user and libc.unshare(libc.CLONE_NEWNET) == 0)
    # Between both: sandboxes need the powers that entering a user namespace gives an ordinary user, and takes
    # from root.
    cells = _try_cells()
    user = user or namespaces.enter_user_namespace()
    code = _USER * user | _NETWORK * network | _CELLS * cells
    try:
        # The real thing, since a kernel may have what it takes and a container forbid it.
        confine(SandboxConfig(read=(), write=(), limits=ResourceLimits(memory_bytes=None)))
    except ConfinementError:
        return code
    return code | _CONFINED


def _try_cells() -> bool:
    try:
        with tempfile.TemporaryDirectory(prefix="kata-cells-") as folder:
            return full.probe_sandbox(Path(folder))
    except OSError:
        return False


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
    # Not a lower level: what the older kernel lacks, the filter of system calls refuses.
    elif found.landlock_abi < 6:
        missing.append(
            f"Landlock is at ABI {found.landlock_abi}, without scopes for signals and sockets: "
            "Linux 6.12 or newer has ABI 6; until then, system call filters are used instead."
        )
    if not found.seccomp:
        missing.append(
            "System calls cannot be filtered: "
            "use x86_64 or aarch64, and a kernel or container that allows seccomp filters."
        )
    if not found.network_namespaces:
        missing.append(
            "No network namespace can be made, so only filters keep a worker off the network: run as root, or allow "
            "namespaces: user.max_user_namespaces, kernel.apparmor_restrict_unprivileged_userns (sysctl)."
        )
    # Where not even a network namespace can be made, both have one cause, which is named above.
    elif not found.cells:
        missing.append(
            "A worker cannot get its own view of processes and files: mounts are refused. Run as root, or in a "
            "container with `--cap-add SYS_ADMIN --security-opt seccomp=unconfined --security-opt "
            "apparmor=unconfined`; Linux must be 5.13 or newer. Under root the file system of the temporary folder "
            "must be able to map owners, which overlays are not: set TMPDIR to a folder on another one."
        )
    if found.cgroup == "none":
        missing.append(
            "No control groups are mounted, so memory is limited per process only: mount /sys/fs/cgroup."
        )
    if found.level == "process" and found.landlock_abi and found.seccomp:
        missing.append("The kernel refused to confine a test process: a container may forbid it.")
    return replace(found, missing=tuple(missing))
