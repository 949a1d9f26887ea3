"""The environment a worker inherits: tokens and passwords of the person who grades may be in it."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterable, Mapping

from grader.machine import stat_field


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
