"""One lock per device: a process that is timed is alone on it, also among processes that know nothing of each other.

Those who only check for correctness may share it (`shared_lock`); who times, or whose neighbours on a GPU may have been
at fault, is alone (`exclusive_lock`): it waits for them, and they wait for it. Two files per device: the turnstile, so
that newcomers queue after those who want to be alone, and the device itself.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from grader.devices import Device
from grader.errors import EngineError

if sys.platform != "win32":
    import fcntl

_held: dict[str, int] = {}
"""Devices that this process shares, with the descriptor of the lock."""
_alone: set[str] = set()
"""Devices that this process has for itself."""


@contextmanager
def shared_lock(device: str) -> Iterator[None]:
    """Share a device with others, when nobody is being timed on it."""
    _held[device] = _share(device)
    try:
        yield
    finally:
        os.close(_held.pop(device))


@contextmanager
def exclusive_lock(device: str) -> Iterator[None]:
    """Have a device for oneself; a share that this process holds is given up meanwhile."""
    if device in _alone:
        yield
        return
    mine = _held.pop(device, None)
    if mine is not None:
        # A share of one's own would be waited for without end.
        os.close(mine)
    turnstile = _open(device, "turn")
    lock = _open(device, "device")
    try:
        # Shares pass the turnstile as well: without it, new ones could keep somebody waiting who wants all
        # of the device.
        fcntl.flock(turnstile, fcntl.LOCK_EX)
        fcntl.flock(lock, fcntl.LOCK_EX)
        _alone.add(device)
        yield
    finally:
        _alone.discard(device)
        os.close(lock)
        os.close(turnstile)
        if mine is not None:
            _held[device] = _share(device)


def _share(device: str) -> int:
    turnstile = _open(device, "turn")
    try:
        # Through the turnstile, and out of it at once: it stops only those who come while somebody waits to
        # be alone.
        fcntl.flock(turnstile, fcntl.LOCK_SH)
        lock = _open(device, "device")
        fcntl.flock(lock, fcntl.LOCK_SH)
        return lock
    finally:
        os.close(turnstile)


def _open(device: str, part: str) -> int:
    """Open a lock's file: the same for all users of this machine."""
    name = re.sub(r"[^A-Za-z0-9]+", "-", Device(device).place)
    path = Path(os.environ.get("KATA_LOCKS") or _folder(), f"kata-{name}-{part}.lock")
    try:
        with contextlib.suppress(FileNotFoundError):
            return os.open(path, os.O_RDWR | os.O_CLOEXEC)
        number = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        with contextlib.suppress(OSError):
            os.fchmod(number, 0o666)  # whatever the umask: a lock of everybody's
        return number
    except OSError as error:
        raise EngineError(
            f"The lock of {device} cannot be used: {path} ({error.strerror or error}).",
            "Remove that file, or name another folder for locks: KATA_LOCKS=…",
        ) from error


def _folder() -> str:
    # Not tempfile.gettempdir(): a grading process has its own, and a lock that nobody else sees is none.
    return "/tmp" if Path("/tmp").is_dir() else tempfile.gettempdir()
