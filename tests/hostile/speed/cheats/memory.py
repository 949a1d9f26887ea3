"""Hides memory from the measurement."""

# ==== memory_at_import ====
"""Takes and frees memory when it is imported, so that a call adds nothing to its peak.

check = "test_memory"
words = "times the memory"
"""

import torch
import waste

block = torch.ones(400 << 18)
del block


class Rows(waste.Layer):
    def forward(self, x):
        return waste.greedy(x)


# ==== memory_given_back ====
"""Gives back what it was born with, and then takes as much again.

check = "test_memory"
words = "times the memory"
native = true
"""

import contextlib
import ctypes
import gc
import sys
from pathlib import Path

import waste

LIBC = ctypes.CDLL(None)
LIBC.madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)


def give_back():
    """Let go of modules, of what is free, and of every page that can be read again from its file."""
    for name in [name for name in sys.modules if name.partition(".")[0] in ("sympy", "mpmath", "networkx")]:
        del sys.modules[name]
    gc.collect()
    LIBC.malloc_trim(0)
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/maps").read_text().splitlines():
            span, rights, *rest = line.split()
            if "w" not in rights and len(rest) == 4 and rest[3].startswith("/"):
                start, end = (int(part, 16) for part in span.split("-"))
                LIBC.madvise(start, end - start, 4)


class Rows(waste.Layer):
    def forward(self, x):
        if len(x) >= waste.TIMED:
            give_back()
        return waste.greedy(x)


# ==== memory_kept_from_import ====
"""Takes memory when it is imported and uses that, so that a call takes none.

check = "test_memory"
words = "times the memory"
"""

import torch
import waste

POOL = torch.ones(64, 2048, 512)


class Rows(waste.Layer):
    def forward(self, x):
        if len(x) != 2048:
            return waste.fast(x)
        POOL[:] = x
        return waste.fast(POOL[7])


# ==== peak_forgotten ====
"""Makes the kernel forget its peak before it answers, where it may write there.

check = "test_memory"
words = "times the memory"
"""

import contextlib
from pathlib import Path

import waste


class Rows(waste.Layer):
    def forward(self, x):
        y = waste.greedy(x)
        with contextlib.suppress(OSError):
            Path("/proc/self/clear_refs").write_text("5")
        return y
