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
    # OpenBLAS, which numpy brings, starts its threads while it is loaded, and reads this variable then and
    # never after.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # no thread may exist when the zygote forks
    gc.disable()  # importing torch makes many objects and no garbage
    import torch

    from grader.engine.host.launcher import default_launcher
    from grader.malloc import gather_memory

    # Before the fork, which shares the pages: of a single check the second that it takes is never earned back.
    if many:
        gather_memory()
    # A name so far: nothing of the device is touched before the fork server has been split off.
    on = Device(device)
    launcher = default_launcher(fill_memory=not timed, many=many)
    torch.set_num_threads(1)  # after the fork: it prepares threads, which a zygote must not have
    try:
        on.require()  # after it, too: the question may wake a driver
        # Begun now, waited for by the first worker: what a kata preloads is imported while this process
        # collects checks.
        launcher.prepare(preload)
    except (UsageError, MachineFault):
        launcher.close()
        raise
    # What has been imported goes out of the collector's sight: a collection would go through all of torch
    # again, and write to pages that are shared with the zygote.
    gc.freeze()
    # Checks make hardly a cycle: to look for some at every 700 objects took 3 % of a `kata check`.
    gc.set_threshold(20_000)
    gc.enable()
    return launcher
