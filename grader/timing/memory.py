"""How much memory a worker takes, as the kernel or the driver counts it: the worker is not asked."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import NamedTuple


class Resident(NamedTuple):
    """Bytes of memory in use; 0 where the system does not say."""

    now: int
    peak: int


def resident(pid: int) -> Resident:
    """Return what a process holds now, and held at most since it was forked."""
    found = {"VmRSS": 0, "VmHWM": 0}
    with contextlib.suppress(OSError, ValueError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            name, _, value = line.partition(":")
            if name in found:
                found[name] = int(value.split()[0]) << 10
    return Resident(found["VmRSS"], found["VmHWM"])


def free_on(device: str) -> int:
    """Return the free bytes of a GPU; 0 for what is none.

    torch's allocator keeps what it took, so what is gone after a call is its peak.
    """
    if not device.startswith("cuda"):
        return 0
    import torch

    torch.cuda.synchronize(device)
    return int(torch.cuda.mem_get_info(device)[0])
