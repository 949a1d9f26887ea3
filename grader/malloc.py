"""Memory that is kept between calls, and laid out for forks."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_TRIM_THRESHOLD, _TOP_PAD, _MMAP_THRESHOLD, _PERTURB = -1, -2, -3, -6
"""Parameters of glibc's mallopt."""


def keep_freed_memory() -> None:
    """Tell malloc to reuse large blocks, in this process and those forked from it; elsewhere than glibc do nothing.

    By default a block of a megabyte goes back to the system when it is freed, and the next one is paid for with 256
    page faults: on a virtual machine that is half the price of a call that sends it over.
    """
    _tell_malloc(_MMAP_THRESHOLD, 32 << 20)  # the largest that glibc allows
    _tell_malloc(_TRIM_THRESHOLD, 256 << 20)
    _tell_malloc(_TOP_PAD, 16 << 20)


UNWRITTEN = 0x7F
"""The byte that fills fresh memory: 3.4e38 as a float, 2,139,062,143 as an int, not a number as a half."""


def fill_fresh_memory() -> None:
    """Let malloc fill every new block with `UNWRITTEN`; elsewhere than glibc do nothing.

    What `torch.empty` gives is then the same in every run: an answer that forgets to write it fails each time, at the
    same place, and not only where a block happens to hold something else than zeros. Small blocks can come from the
    thread's own cache, which malloc does not fill: glibc 2.36 puts freed blocks of just the size that torch asks for
    there, and gives one of them back with the byte of freed memory in it. `NO_CACHE` prevents that; where no new
    interpreter is started it is rare, and nothing does.
    """
    _tell_malloc(_PERTURB, UNWRITTEN ^ 0xFF)  # glibc fills with the complement, and with this what is freed


NO_CACHE = {"GLIBC_TUNABLES": "glibc.malloc.tcache_count=0"}
"""Read by glibc when a program starts, and never after."""


def _tell_malloc(parameter: int, value: int) -> None:
    if sys.platform != "linux":
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:  # musl has none
        mallopt(parameter, value)


def _madvise() -> Any:
    madvise = ctypes.CDLL(None).madvise
    madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    return madvise


_COLLAPSE = 25
"""MADV_COLLAPSE of Linux 6.1: put these pages together into huge ones, now."""
_HUGE = 2 << 20


def gather_memory() -> None:
    """Put this process's memory into huge pages, where the system can, for the sake of many forks to come.

    A fork copies an entry for every page, and an end takes every one back: for 150 MB, most of what a short-lived
    worker costs. Takes a tenth of a second or two, once.
    """
    if sys.platform != "linux":
        return
    madvise = _madvise()
    for line in Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace").splitlines():
        span, mode = line.split()[:2]
        if mode != "rw-p":
            continue
        start, end = (int(part, 16) for part in span.split("-"))
        first = -(-start // _HUGE) * _HUGE
        for place in range(first, end - _HUGE + 1, _HUGE):
            madvise(
                place, _HUGE, _COLLAPSE
            )  # may be refused: not there yet, an older system, no huge page free


def trim() -> bool:
    """Return freed blocks to the system; False where this is not glibc."""
    malloc_trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    if malloc_trim is not None:  # musl has none
        malloc_trim(0)
    return malloc_trim is not None


def give_back() -> None:
    """Return to the system what was needed while modules were imported; elsewhere than on Linux with glibc do nothing.

    Freed blocks, and pages of libraries' files that nothing was written to: those are read again from the system's own
    cache when they are needed. A process that is forked maps them anew anyway.
    """
    if not trim():
        return
    madvise = _madvise()
    for begin, end in _unwritten_mappings(Path("/proc/self/smaps").read_text(errors="replace")):
        madvise(begin, end - begin, _DONTNEED)


_DONTNEED = 4


def _unwritten_mappings(smaps: str) -> Iterator[tuple[int, int]]:
    """Yield where files are mapped, not to be written to, with no page that differs from the file."""
    place: tuple[int, int] | None = None
    for line in smaps.splitlines():
        words = line.split()
        if not words[0].endswith(":"):
            begin, end = (int(part, 16) for part in words[0].split("-"))
            is_file = len(words) > 5 and words[5].startswith("/") and "w" not in words[1]
            place = (begin, end) if is_file else None
        elif words[0] == "Anonymous:" and place is not None and words[1] == "0":
            yield place
