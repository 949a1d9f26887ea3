"""A network of one's own: nothing to talk to, for the zygote and for all it forks."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from grader.engine.sandbox import landlock, libc

_FLAGS = {"net": libc.CLONE_NEWNET, "ipc": libc.CLONE_NEWIPC}
_NAMES = ("user", *_FLAGS)


def enter_namespaces() -> frozenset[str]:
    """Leave the machine's network and shared memory; return what was renewed: of "user", "net", "ipc".

    For the zygote, once, while it has one thread. An ordinary user needs a user namespace for that; where the
    system refuses one, or takes its powers away, nothing changes. User ids, files, forks and signals from
    outside stay as they were. Never raises.
    """
    # Asked before the fork, since it takes milliseconds, and remembered for all workers.
    landlock.abi()
    if sys.platform != "linux":
        return frozenset()
    try:
        bits = allowed(os.geteuid())
    except OSError:
        return frozenset()
    return frozenset(name for bit, name in enumerate(_NAMES) if bits >> bit & 1 and _enter(name))


@cache
def allowed(user: int) -> int:
    """Return which of `_NAMES` this user can renew, as bits; tried once, for this process and those that it forks.

    Raises:
        OSError: no process could be forked to try it, and the next call tries again.
    """
    # A user namespace without powers is worse than none, and there is no way back: a child tries first.
    return in_child(lambda: sum(1 << _NAMES.index(name) for name in _attempt()))


def renew_processes() -> bool:
    """Let the next process that this one forks be the first of a pid namespace; return whether that worked.

    For good: that process has to do what else there is to do.
    """
    # unshare(2) moves the children alone: a process keeps its own number all its life.
    return libc.unshare(libc.CLONE_NEWPID) == 0


def _attempt() -> list[str]:
    entered = [name for name in _FLAGS if _enter(name)]
    # Root, and a container that allows it, need no user namespace.
    if not entered and _enter("user"):
        entered = [name for name in _FLAGS if _enter(name)]
        return ["user", *entered] if entered else []
    return entered


def _enter(name: str) -> bool:
    return enter_user_namespace() if name == "user" else libc.unshare(_FLAGS[name]) == 0


def enter_user_namespace() -> bool:
    """Enter a user namespace in which this user is still the same user; return whether that worked."""
    # Read before: inside, until the maps are written, this process is the overflow user 65534.
    user, group = os.geteuid(), os.getegid()
    if libc.unshare(libc.CLONE_NEWUSER) != 0:
        return False
    try:
        # Since Linux 3.19 nobody without powers may write gid_map before setgroups(2) is denied for good.
        Path("/proc/self/setgroups").write_text("deny")
        # The same number inside and outside, so that files stay one's own; a process may write this map once.
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    except OSError:
        return False
    return True


@contextmanager
def waiting_in(flags: int) -> Iterator[int]:
    """Hold a child in the new namespaces of `flags` (CLONE_NEW*) for as long as the block runs; yield its pidfd.

    Raises:
        OSError: it was refused.
    """
    # A pipe: what the child found out has to come before it is of use, and its exit would end the namespace.
    receive, send = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            # An errno fits into a byte. Then it waits to be killed: namespaces last as long as somebody is
            # in them.
            os.write(send, bytes([libc.unshare(flags)]))
            signal.pause()
        finally:
            os._exit(1)
    try:
        os.close(send)
        # Nothing to read: the child died before it could say why.
        code = (os.read(receive, 1) or b"\xff")[0]
        if code:
            raise OSError(code, os.strerror(code))
        pidfd = os.pidfd_open(pid)
        try:
            yield pidfd
        finally:
            os.close(pidfd)
    finally:
        os.close(receive)
        # By number, which is its own until it is reaped below; the namespaces last, where a descriptor holds
        # them.
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def in_child(action: Callable[[], int]) -> int:
    """Run `action() -> int` in a forked child; return its result (0 to 127), or 0 when the child broke."""
    pid = os.fork()
    if pid == 0:
        code = 0
        try:
            code = action()
        finally:
            # Without exit handlers and buffers: these are the parent's, and would run or be written twice.
            os._exit(code)
    _, status = os.waitpid(pid, 0)
    return max(0, os.waitstatus_to_exitcode(status))
