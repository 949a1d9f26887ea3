"""The one-way door a worker walks through before it meets a learner's code."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from grader.sandbox import landlock, libc, seccomp
from grader.sandbox import limits as resource_limits
from grader.sandbox.limits import Limits

Isolation = Literal["confined", "process"]
"""`confined`: the kernel enforces files, calls and limits. `process`: a process of its own, no more."""


@dataclass(frozen=True)
class Confinement:
    """What a worker may touch: files and folders to `read`, its own to `write`, `limits`, a GPU or not."""

    read: tuple[Path, ...]
    write: tuple[Path, ...]
    limits: Limits = field(default_factory=Limits)
    cuda: bool = False


def confine(confinement: Confinement) -> Isolation:
    """Confine the calling process for good, and tell how far that got; never raises.

    Call it in the forked worker while it has one thread: Landlock would leave another thread free, so that is
    reported as `process`. `torch.set_num_threads` makes every later fork start a thread: call it after this.
    Root loses its powers over other users' files.
    """
    if sys.platform != "linux":
        resource_limits.apply(confinement.limits)
        return "process"
    own = os.getpid()
    steps = (
        _single_threaded,
        lambda: resource_limits.apply(confinement.limits),
        lambda: libc.prctl(libc.PR_SET_NO_NEW_PRIVS, 1) == 0,
        lambda: landlock.restrict(confinement.read, confinement.write, confinement.cuda),
        lambda: libc.drop_capabilities() == 0,
        lambda: seccomp.restrict(own, confinement.cuda),
    )
    complete = True
    for step in steps:
        try:
            complete = step() and complete
        except Exception:
            complete = False
    return "confined" if complete else "process"


def _single_threaded() -> bool:
    return len(os.listdir("/proc/self/task")) == 1
