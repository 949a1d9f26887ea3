"""The few C library calls that Python does not offer, each returning 0 or an errno."""

from __future__ import annotations

import ctypes
import errno
import functools
import sys

from grader.sandbox.system_calls import architecture, number

PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38
PR_CAP_AMBIENT = 47
PR_CAP_AMBIENT_CLEAR_ALL = 4

CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWNET = 0x40000000

_CAPABILITY_VERSION_3 = 0x20080522


@functools.cache
def _library() -> ctypes.CDLL:
    library = ctypes.CDLL(None, use_errno=True)
    library.syscall.restype = ctypes.c_long
    return library


def prctl(option: int, value: int = 0) -> int:
    """Call prctl(2) with unused arguments zero; return 0 or the errno."""
    if sys.platform != "linux":
        return errno.ENOSYS
    zero = ctypes.c_ulong(0)
    result = _library().prctl(option, ctypes.c_ulong(value), zero, zero, zero)
    return 0 if result == 0 else ctypes.get_errno()


def unshare(flags: int) -> int:
    """Leave the namespaces in `flags`; return 0 or the errno."""
    if sys.platform != "linux":
        return errno.ENOSYS
    return 0 if _library().unshare(flags) == 0 else ctypes.get_errno()


def system_call(name: str, *arguments: object) -> int:
    """Make a system call by name; return 0 or the errno (a positive result counts as EINVAL)."""
    machine = architecture()
    code = number(name, machine) if machine else None
    if code is None:
        return errno.ENOSYS
    result = int(_library().syscall(ctypes.c_long(code), *arguments))
    if result == 0:
        return 0
    return ctypes.get_errno() if result < 0 else errno.EINVAL


def drop_capabilities() -> int:
    """Give up every capability of this thread, root's included; return 0 or the errno."""
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL)
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    nothing = (ctypes.c_uint32 * 6)()
    return system_call("capset", ctypes.byref(header), ctypes.byref(nothing))
