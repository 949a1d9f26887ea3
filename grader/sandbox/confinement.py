"""The one-way door a worker walks through before it meets a learner's code."""

from __future__ import annotations

import contextlib
import os
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path

from grader.sandbox import landlock, libc, seccomp
from grader.sandbox import limits as resource_limits
from grader.sandbox.full import Sandbox
from grader.sandbox.levels import Isolation
from grader.sandbox.limits import ResourceLimits
from grader.sandbox.read_paths import View


@dataclass(frozen=True)
class Confinement:
    """What a worker may touch: files and folders to `read`, its own to `write`, `limits`, a GPU or not.

    `python` is what all workers may read, beside `read`. With a `sandbox` it is shut in there as well, and the one
    folder of `write` is empty and its own. `level` holds it back: nothing stronger is tried.
    """

    read: tuple[Path, ...]
    write: tuple[Path, ...]
    limits: ResourceLimits = field(default_factory=ResourceLimits)
    cuda: bool = False
    box: Sandbox | None = None
    level: Isolation = "full"
    python: View = field(default_factory=View)


def confine(confinement: Confinement) -> Isolation:
    """Confine the calling process for good, and tell how far that got; never raises.

    Call it in the forked worker while it has one thread: Landlock would leave another thread free, so that is
    reported as `process`. `torch.set_num_threads` makes every later fork start a thread: call it after this.
    Root loses its powers over other users' files.
    """
    if sys.platform != "linux" or confinement.level == "process":
        resource_limits.apply(confinement.limits)
        return "process"
    own = os.getpid()
    box = confinement.box if confinement.level == "full" else None
    shut_in = False

    def enter() -> bool:
        nonlocal shut_in
        if box is not None:
            with contextlib.suppress(
                OSError
            ):  # then it is confined at most, with the machine's files in sight
                box.enter(confinement.read, confinement.write[0], confinement.limits, cuda=confinement.cuda)
                shut_in = True
        return True

    def limit() -> bool:
        bounds = confinement.limits
        if shut_in and box is not None and bounds.processes is None:
            bounds = replace(bounds, processes=box.threads())
        return resource_limits.apply(bounds, mapped)

    def lock() -> bool:
        python = confinement.python
        # In a sandbox what is hidden is not there, and a rule for each of its neighbours would cost a millisecond.
        if shut_in:
            return landlock.restrict((*python.places, *confinement.read), confinement.write, confinement.cuda)
        read = (*python.whole, *confinement.read)
        return landlock.restrict(read, confinement.write, confinement.cuda, python.beside, python.listed)

    try:
        alone, mapped = _single_threaded(), resource_limits.mapped_bytes()
    except OSError:  # no /proc
        alone, mapped = False, 0
    steps = (
        enter,
        limit,
        lambda: libc.prctl(libc.PR_SET_NO_NEW_PRIVS, 1) == 0,
        lock,
        lambda: box is None or not shut_in or box.become_user(),
        lambda: libc.drop_capabilities() == 0,
        lambda: seccomp.restrict(own, confinement.cuda),
    )
    complete = alone
    for step in steps:
        try:
            complete = step() and complete
        except Exception:
            complete = False
    if not complete:
        return "process"
    return "full" if shut_in else "confined"


def _single_threaded() -> bool:
    return len(os.listdir("/proc/self/task")) == 1
