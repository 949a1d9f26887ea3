"""Keep freed memory for the next tensor instead of giving it back to the system after every call."""

from __future__ import annotations

import ctypes
import sys

_TRIM_THRESHOLD, _TOP_PAD, _MMAP_THRESHOLD = -1, -2, -3
"""Parameters of glibc's mallopt."""


def keep_freed_memory() -> None:
    """Tell malloc to reuse large blocks, in this process and those forked from it; elsewhere than glibc do nothing.

    By default a block of a megabyte goes back to the system when it is freed, and the next one is paid for with 256
    page faults: on a virtual machine that is half the price of a call that sends it over.
    """
    if sys.platform != "linux":
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:  # musl
        return
    mallopt(_MMAP_THRESHOLD, 32 << 20)  # the largest that glibc allows
    mallopt(_TRIM_THRESHOLD, 256 << 20)
    mallopt(_TOP_PAD, 16 << 20)
