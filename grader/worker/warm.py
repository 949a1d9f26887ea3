"""Warm a process up for grading, and split off what starts workers while it still knows no answers."""

from __future__ import annotations

import gc
import os
from typing import TYPE_CHECKING

from grader.errors import UsageError

if TYPE_CHECKING:
    from grader.worker.launcher import Launcher


def start_launcher(*, many: bool = False, device: str = "cpu") -> Launcher:
    """Import torch and split off what starts workers, before any answer is in memory.

    Args:
        many: whether there will be so many workers that it pays to prepare memory for their forks.
        device: what submissions will compute on.

    Raises:
        UsageError: there is no such device.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # no thread may exist when the zygote forks
    gc.disable()  # importing torch makes many objects and no garbage
    import torch

    from grader.worker.launcher import default_launcher
    from grader.worker.memory import gather_memory

    if many:
        gather_memory()
    launcher = default_launcher()
    torch.set_num_threads(1)  # after the fork: it prepares threads, which a zygote must not have
    if device.startswith("cuda") and not torch.cuda.is_available():
        launcher.close()
        raise UsageError("This torch can use no GPU.", "kata doctor says what is there; leave out --device.")
    gc.freeze()
    gc.enable()
    return launcher
