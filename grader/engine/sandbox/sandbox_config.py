"""Confine this process (namespaces, limits, Landlock, seccomp) before any submission is loaded."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path

from grader.engine.sandbox import landlock, libc, seccomp
from grader.engine.sandbox import limits as resource_limits
from grader.engine.sandbox.full import Sandbox
from grader.engine.sandbox.levels import Isolation
from grader.engine.sandbox.limits import ResourceLimits
from grader.engine.sandbox.read_paths import View


class ConfinementError(Exception):
    """Raised when a process cannot be confined to the level that was promised: it is half confined, and must end."""


@dataclass(frozen=True)
class SandboxConfig:
    """What a worker may touch: files and folders to `read`, its own to `write`, `limits`, a GPU or not.

    `python` is what all workers may read, besides `read`. `level` is what was promised. *full* needs a `box`, and
    the one folder of `write` is empty and its own.
    """

    read: tuple[Path, ...]
    write: tuple[Path, ...]
    limits: ResourceLimits = field(default_factory=ResourceLimits)
    cuda: bool = False
    box: Sandbox | None = None
    level: Isolation = "confined"
    python: View = field(default_factory=View)


def confine(confinement: SandboxConfig) -> None:
    """Confine the calling process for good, to the level that was promised and to no other.

    Call it in the forked worker while it has one thread: Landlock would leave another thread free.
    `torch.set_num_threads` makes every later fork start a thread: call it after this. Root loses its powers over other
    users' files.

    Raises:
        ConfinementError: a step failed.
    """
    try:
        if confinement.level == "process":
            resource_limits.apply(confinement.limits)
        else:
            _confine(confinement)
    # `setrlimit` raises ValueError where the hard limit is lower than what is wanted.
    except (OSError, ValueError) as error:
        raise ConfinementError(str(error)) from error


def _confine(wanted: SandboxConfig) -> None:
    if sys.platform != "linux":
        raise OSError("only Linux confines")
    own, bounds = os.getpid(), wanted.limits
    # Asked before the sandbox is entered, which has no such files.
    mapped = resource_limits.mapped_bytes()
    if len(os.listdir("/proc/self/task")) != 1:
        raise OSError("another thread is running, which Landlock would leave free")
    # In a sandbox what is hidden is not there; elsewhere each of its neighbours needs a rule, some milliseconds in all.
    view = wanted.python
    read, listed = (*view.whole, *view.siblings, *wanted.read), view.listed
    if wanted.level == "full":
        if wanted.box is None:
            raise OSError("no sandbox was prepared")
        # Before limits and filter: it mounts and opens dozens of files, with powers that are dropped below.
        wanted.box.enter(wanted.read, wanted.write[0], bounds, cuda=wanted.cuda)
        read, listed = (*view.places, *wanted.read), ()
        if bounds.processes is None:
            bounds = replace(bounds, processes=wanted.box.threads())
    # Before it becomes somebody else: of root no processes are counted, so that this limit holds from then on.
    resource_limits.apply(bounds, mapped)
    # Without powers, the kernel takes neither Landlock's rules nor a filter before this is promised.
    _check(libc.prctl(libc.PR_SET_NO_NEW_PRIVS, 1))
    landlock.restrict(read, wanted.write, wanted.cuda, listed)
    if wanted.level == "full" and wanted.box is not None:
        # While there still are powers: only they let a process become somebody else.
        wanted.box.become_user()
    _check(libc.drop_capabilities())
    # Last: the filter lets none of the calls above through.
    seccomp.restrict(own, wanted.cuda)


def _check(code: int) -> None:
    if code != 0:
        raise OSError(code, os.strerror(code))
