"""Confine this process (namespaces, limits, Landlock, seccomp) before any submission is loaded.

First its environment goes: tokens and passwords of the person who grades may be in it.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from grader.engine.sandbox import landlock, libc, seccomp
from grader.engine.sandbox import limits as resource_limits
from grader.engine.sandbox.full import Sandbox
from grader.engine.sandbox.levels import Isolation
from grader.engine.sandbox.limits import ResourceLimits
from grader.engine.sandbox.read_paths import View
from grader.machine import stat_field


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


def replace_environment(variables: Mapping[str, str]) -> None:
    """Forget every environment variable and set `variables`; for a process that was forked, and before `confine`.

    Where the values lay is wiped too, because code may look through this process's memory or `/proc/<pid>/environ`:
    the block that the system handed over, the C library's copies, Python's own. Copies that other code made earlier
    are out of reach, so this is for processes in which little has run.
    """
    # As bytes, which are what the system handed over: a decoded string would be one more copy of each value.
    names = list(os.environb)
    strings = [*names, *(os.environb[name] for name in names)]
    # First, while the C library still finds its copies by their names.
    _wipe_in_c(names)
    for name in names:
        # One by one: `os.environ.clear` would look at each value, which makes one more string of it.
        del os.environb[name]
    _wipe_objects(strings)
    if sys.platform == "linux":
        start, end = stat_field("self", 50), stat_field("self", 51)  # env_start and env_end, since Linux 3.5
        if 0 < start < end:
            # /proc/PID/environ reads just this span, whatever the process has done to its variables since.
            ctypes.memset(start, 0, end - start)
    os.environ.update(variables)


def _wipe_in_c(names: Iterable[bytes]) -> None:
    """Wipe the values that the C library holds: `setenv` keeps copies, which `unsetenv` leaves where they are."""
    library = ctypes.CDLL(None)
    getenv, length = library.getenv, library.strlen
    getenv.restype, length.argtypes, length.restype = ctypes.c_void_p, [ctypes.c_void_p], ctypes.c_size_t
    for name in names:
        if value := getenv(name):
            ctypes.memset(value, 0, length(value))


_HEADER = bytes.__basicsize__ - 1
"""Where the characters of a bytes object begin (CPython, seen with 3.11 to 3.13)."""


def _wipe_objects(strings: Iterable[bytes]) -> None:
    """Overwrite bytes objects that nobody uses any more. Those of up to one byte are shared by everybody."""
    if sys.implementation.name == "cpython":
        for text in strings:
            if len(text) > 1:
                # Their reference count goes to 0 after this, and what is freed keeps its bytes until somebody
                # gets that memory.
                ctypes.memset(id(text) + _HEADER, 0, len(text))
