"""Warm a process up for grading, and split off what starts workers while it still knows no answers."""

from __future__ import annotations

import gc
import os
from typing import TYPE_CHECKING

from grader.devices import Device
from grader.errors import MachineFault, UsageError

if TYPE_CHECKING:
    from grader.engine.host.launcher import Launcher


def start_launcher(
    *, many: bool = False, timed: bool = False, device: str = "cpu", preload: tuple[str, ...] = ()
) -> Launcher:
    """Import torch and split off what starts workers, before any answer is in memory.

    Args:
        many: whether there will be so many workers that it pays to prepare memory for their forks.
        timed: whether some worker will be timed. Memory that nobody wrote is then as the system gives it, for all of
            them: filling it costs time, and one that could see it filled would know that it is not timed.
        device: what submissions will compute on.
        preload: what the first worker will want imported. It is imported while this process goes on.

    Raises:
        UsageError: there is no such device.
        MachineFault: no process could be started.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # no thread may exist when the zygote forks
    gc.disable()  # importing torch makes many objects and no garbage
    import torch

    from grader.engine.host.launcher import default_launcher
    from grader.malloc import gather_memory

    if many:
        gather_memory()
    on = Device(device)
    launcher = default_launcher(fill_memory=not timed)
    torch.set_num_threads(1)  # after the fork: it prepares threads, which a zygote must not have
    try:
        on.require()  # after it, too: the question may wake a driver
        launcher.prepare(preload)
    except (UsageError, MachineFault):
        launcher.close()
        raise
    gc.freeze()
    gc.enable()
    return launcher
