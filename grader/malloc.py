"""Memory of this process: kept between calls, filled where nobody wrote, in huge pages before many forks (glibc)."""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path

UNWRITTEN = 0x7F
"""The byte that fills fresh memory: 3.4e38 as a float, 2,139,062,143 as an int, not a number as a half."""
NO_CACHE = {"GLIBC_TUNABLES": "glibc.malloc.tcache_count=0"}
"""Read by glibc when a program starts, and never after."""

_TRIM_THRESHOLD, _TOP_PAD, _MMAP_THRESHOLD, _PERTURB = -1, -2, -3, -6
"""Parameters of mallopt(3)."""
_LARGEST = 32 << 20
"""Threshold that glibc allows."""
_COLLAPSE = 25
"""MADV_COLLAPSE of Linux 6.1: put these pages together into huge ones, now."""
_HUGE = 2 << 20


def keep_freed_memory() -> None:
    """Tell malloc to reuse large blocks, in this process and those forked from it."""
    # By default a block of a megabyte goes back to the system when it is freed, and the next one is paid for
    # with 256 page faults: on a virtual machine that is half the price of a call that sends it over.
    _call("mallopt", _MMAP_THRESHOLD, _LARGEST)
    _call("mallopt", _TRIM_THRESHOLD, 256 << 20)
    _call("mallopt", _TOP_PAD, 16 << 20)


def give_back_freed_memory(most: int) -> None:
    """Let malloc return large blocks to the system, in a process that may have so many bytes."""
    # Small blocks that are kept lie between large ones that were freed. The next large one then needs new memory, and
    # which answer runs out of it is chance. So large begins where a thousand of them would fill the memory.
    _call("mallopt", _MMAP_THRESHOLD, min(most >> 10, _LARGEST))


def fill_fresh_memory() -> None:
    """Let malloc fill every new block with `UNWRITTEN`.

    What `torch.empty` gives is then the same in every run: an answer that forgets to write it fails each time, at the
    same place, and not only where a block happens to hold something else than zeros.
    """
    # Small blocks can come from the thread's own cache, which malloc does not fill: glibc 2.36 puts freed
    # blocks of just the size that torch asks for there, and gives one of them back with the byte of freed
    # memory in it. `NO_CACHE` prevents that; where no new interpreter is started it is rare, and nothing does.
    # glibc fills with the complement of this, and what is freed with this itself.
    _call("mallopt", _PERTURB, UNWRITTEN ^ 0xFF)


def trim() -> None:
    """Return freed blocks to the system."""
    _call("malloc_trim", 0)


def _call(name: str, *arguments: int) -> None:
    """Call a function of glibc's own; elsewhere, and with musl, which has neither, do nothing."""
    function = getattr(ctypes.CDLL(None), name, None) if sys.platform == "linux" else None
    if function is not None:
        function(*arguments)


def gather_memory() -> None:
    """Put this process's memory into huge pages, where the system can, for the sake of many forks to come.

    Takes up to a second, once.
    """
    if sys.platform != "linux":
        return
    # Python's `mmap.madvise` is for maps of Python's own, and these are the C library's.
    madvise = ctypes.CDLL(None).madvise
    madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    # A fork copies an entry for every page, and an end takes every one back: with torch imported, 9 ms of
    # processor time with small pages and 3 ms with huge ones (Linux 6.18), which every submission pays.
    for line in Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace").splitlines():
        span, mode = line.split()[:2]
        start, end = (int(part, 16) for part in span.split("-"))
        # A huge page begins at a multiple of its size; what lies before the first one stays in small ones.
        first = -(-start // _HUGE) * _HUGE
        # One by one: some are refused (no huge page is free, a page is pinned), and the others are worth it.
        for place in range(first, end - _HUGE + 1, _HUGE) if mode == "rw-p" else ():
            madvise(place, _HUGE, _COLLAPSE)  # may be refused: an older system, no huge page free
