"""What submissions compute on: the CPU, CUDA, or any other accelerator that torch has.

The one place that knows kinds of devices. An accelerator is reached through the module that torch keeps under its
kind's name (`torch.cuda`, `torch.xpu`, …): they have the functions that are used here.
(`torch.accelerator` says the same in fewer words, but torch 2.5 lacks it, and in 2.13 it knows no fraction of memory.)

Nothing here imports torch before it is needed, and only a worker or a grading process may call what touches a device: a
fork server that has done so leaves its children a broken runtime.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from grader.errors import UsageError

_SHAPE = re.compile(r"[a-z][a-z0-9_]{0,31}(:(0|[1-9][0-9]{0,3}))?")
_DOCTOR = "kata doctor says what is there; leave out --device for the CPU."


@dataclass(frozen=True)
class Device:
    """A device by its name, as torch writes it: `cpu`, `cuda`, `cuda:1`."""

    name: str

    def __str__(self) -> str:
        return self.name

    @property
    def kind(self) -> str:
        """Its kind: `cuda` of `cuda:1`."""
        return self.name.partition(":")[0]

    @property
    def index(self) -> int:
        """Which of its kind; the first where the name does not say."""
        return int(self.name.partition(":")[2] or 0)

    @property
    def place(self) -> str:
        """One name for one device, whichever of its names it was given: `cuda:0` for `cuda`, too."""
        return f"{self.kind}:{self.index}" if self.accelerates else self.name

    @property
    def accelerates(self) -> bool:
        """Whether it is anything but the CPU."""
        return self.kind != "cpu"

    @cached_property
    def module(self) -> Any:
        """What torch keeps for an accelerator of this kind; None where it has nothing."""
        import torch

        return getattr(torch, self.kind, None)

    def absent(self) -> str | None:
        """Say why nothing can be computed on it here; None where something can. Touches no driver's memory."""
        import torch

        if not _SHAPE.fullmatch(self.name):
            return f"{self.name!r} names no device: it is cpu, cuda, cuda:1 or the like."
        if not self.accelerates:
            return None if self.index == 0 else f"There is no {self.name}: a CPU is cpu."
        try:
            torch.device(self.name)
        except RuntimeError:
            return f"This torch ({torch.__version__}) knows no device of the kind {self.kind!r}."
        module = self.module
        count = module.device_count() if hasattr(module, "device_count") else 0
        if not count or not getattr(module, "is_available", lambda: True)():
            return f"This torch ({torch.__version__}) can use no {_SPOKEN.get(self.kind, self.kind)} on this machine."
        if self.index >= count:
            names = ", ".join(f"{self.kind}:{index}" for index in range(count))
            return f"There is no {self.name} on this machine: there is {names}."
        return None

    def require(self) -> None:
        """Refuse to begin where nothing can be computed on it.

        Raises:
            UsageError: it is not here, or torch knows no such thing.
        """
        if self.name == "cpu":
            return
        why = self.absent()
        if why is not None:
            raise UsageError(why, _DOCTOR)

    def describe(self) -> str:
        """Return its maker's name for it."""
        return str(self.module.get_device_name(self.index)) if self.accelerates else "cpu"

    def names(self) -> list[str]:
        """Return what there is of its kind, each name once."""
        module = self.module
        # torch.mps has one device and no name for it
        name_of = getattr(module, "get_device_name", lambda index: self.kind)
        return sorted({str(name_of(index)) for index in range(module.device_count())})

    # What a worker does before it loads a submission ---------------------------------------------------------------

    def meet(self, limit_bytes: int | None) -> None:
        """Initialise it, which only a worker does: its context is there before anything is measured."""
        import torch

        # float32 products are float32: tf32 has the precision of float16, and the tolerances of checks tell
        # them apart.
        torch.set_float32_matmul_precision("highest")
        if self.kind == "cuda":
            torch.backends.cudnn.allow_tf32 = False
        self.module.set_device(self.index)
        if limit_bytes is not None and hasattr(self.module, "set_per_process_memory_fraction"):
            whole = self.module.get_device_properties(self.index).total_memory
            # torch's own bound: a driver knows no limit for a process, and a neighbour's submission needs its
            # share.
            self.module.set_per_process_memory_fraction(min(1.0, limit_bytes / whole), self.index)
        # The context is made with the first tensor.
        torch.empty(1, device=self.name)
        self.synchronize()

    def seed(self, seed: int) -> None:
        """Seed its random numbers."""
        if self.accelerates:
            self.module.manual_seed_all(seed)

    # What is asked while it is timed -------------------------------------------------------------------------------

    def synchronize(self) -> None:
        """Wait until what was handed to it is done."""
        if self.accelerates:
            self.module.synchronize(self.index)

    def taken_by_others(self) -> int:
        """Return the bytes of its memory that other processes hold, as its driver says; 0 for the CPU."""
        if not self.accelerates:
            return 0
        self.synchronize()  # the first time this makes our own context, which is not torch's to tell about
        # torch's allocators keep what they took, so what is taken after a call is its peak. What this process
        # holds, arguments and results, is its own affair.
        free, whole = self.module.mem_get_info(self.index)
        return int(whole - free - self.module.memory_reserved(self.index))


CPU = Device("cpu")
_SPOKEN = {"cuda": "GPU (cuda)"}


def named(name: str) -> Device:
    """Return the device of a command line's `--device`.

    Raises:
        UsageError: it is not a device's name.
    """
    device = Device(name)
    if not _SHAPE.fullmatch(name):
        raise UsageError(f"--device {name!r} names no device.", "It is cpu, cuda, cuda:1 or the like.")
    return device


def known(name: str) -> bool:
    """Return whether a tensor that says it lies there can be put there, now; nothing is loaded for it."""
    return bool(_SHAPE.fullmatch(name)) and Device(name).absent() is None


def kind_of(name: str) -> str:
    """Return the kind of a device: `cuda` of `cuda:1`."""
    return Device(name).kind


def accelerator_here() -> Device | None:
    """Return an accelerator that can be used on this machine; None where there is none."""
    for kind in ("cuda", "xpu", "mps"):
        device = Device(kind)
        if device.absent() is None:
            return device
    return None
