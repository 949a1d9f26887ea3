"""Resource limits: what a worker may allocate and write before the kernel says no."""

from __future__ import annotations

import resource
import sys
from dataclasses import dataclass
from pathlib import Path

MEBIBYTE = 1024 * 1024


@dataclass(frozen=True)
class ResourceLimits:
    """What a worker may use; None leaves a resource alone.

    `memory_bytes` is address space on top of what the process already maps when it is confined. Every thread
    takes about 72 MiB of it (stack and allocator arena) before it has allocated anything. CUDA reserves
    terabytes: None.
    `processes` counts every thread of the user on the machine, and root is exempt (RLIMIT_NPROC, getrlimit(2)): it is
    for a user of the worker's own. `scratch_bytes` and `scratch_files` bound the scratch folder, `output_bytes` what
    one check prints, `cpu_s` the processor time of all threads together. Core dumps are always off.
    """

    memory_bytes: int | None = 4096 * MEBIBYTE
    file_bytes: int | None = 64 * MEBIBYTE
    open_files: int | None = 256
    processes: int | None = None
    scratch_bytes: int = 256 * MEBIBYTE
    scratch_files: int = 2_000
    output_bytes: int = 256 * MEBIBYTE
    cpu_s: int | None = 3600


def apply(limits: ResourceLimits, mapped: int | None = None) -> None:
    """Lower the limits of this process for good, never raising one.

    `mapped` is what `mapped_bytes` returned, for a process that has lost /proc since.

    Raises:
        OSError: one could not be set.
        ValueError: as well.
    """
    wanted: list[tuple[int, int | None]] = [
        # A dump would hold the submission's whole memory, next to whatever it was started from.
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, limits.file_bytes),
        (resource.RLIMIT_NOFILE, limits.open_files),
        (resource.RLIMIT_NPROC, limits.processes),
    ]
    if limits.memory_bytes is not None and sys.platform == "linux":
        # On top of what is there: torch alone maps gigabytes, and how many depends on its version and on the
        # machine.
        mapped = mapped_bytes() if mapped is None else mapped
        wanted.append((resource.RLIMIT_AS, mapped + limits.memory_bytes))
    # A fresh interpreter has inherited the grader's own bound, see `machine.bounded_memory`.
    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    for kind, value in wanted:
        if value is not None:
            _lower(kind, value, value)
    if limits.cpu_s is not None:
        # At the first SIGXCPU, which says why; a second later, for who ignores it, SIGKILL.
        _lower(resource.RLIMIT_CPU, limits.cpu_s, limits.cpu_s + 1)


def _lower(kind: int, soft: int, hard: int) -> None:
    _, most = resource.getrlimit(kind)
    if most != resource.RLIM_INFINITY:
        # To raise a hard limit takes powers, and setrlimit(2) would refuse the whole call.
        soft, hard = min(soft, most), min(hard, most)
    resource.setrlimit(kind, (soft, hard))


def mapped_bytes() -> int:
    """Return how much address space this process takes.

    Raises:
        OSError: /proc is not there.
    """
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    return pages * resource.getpagesize()
