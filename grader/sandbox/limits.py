"""Resource limits: what a worker may allocate and write before the kernel says no."""

from __future__ import annotations

import resource
import sys
from dataclasses import dataclass
from pathlib import Path

MEBIBYTE = 1024 * 1024


@dataclass(frozen=True)
class Limits:
    """What a worker may use; None leaves a resource alone.

    `memory_bytes` is address space on top of what the process already maps when it is confined. Every thread
    takes about 72 MiB of it (stack and allocator arena) before it has allocated anything. CUDA reserves
    terabytes: None.
    `processes` counts every thread of the user on the machine, and root is exempt, so it is a last resort.
    Core dumps are always off.
    """

    memory_bytes: int | None = 4096 * MEBIBYTE
    file_bytes: int | None = 64 * MEBIBYTE
    open_files: int | None = 256
    processes: int | None = None


def apply(limits: Limits) -> bool:
    """Lower the limits of this process for good, never raising one; return whether all of them took."""
    wanted: list[tuple[int, int | None]] = [
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, limits.file_bytes),
        (resource.RLIMIT_NOFILE, limits.open_files),
        (resource.RLIMIT_NPROC, limits.processes),
    ]
    if limits.memory_bytes is not None and sys.platform == "linux":
        wanted.append((resource.RLIMIT_AS, _mapped_bytes() + limits.memory_bytes))
    complete = True
    for kind, value in wanted:
        if value is None:
            continue
        try:
            _, hard = resource.getrlimit(kind)
            bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.setrlimit(kind, (bound, bound))
        except (OSError, ValueError):
            complete = False
    return complete


def _mapped_bytes() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    return pages * resource.getpagesize()
