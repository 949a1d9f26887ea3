"""Turn a fresh process into a worker: cut every tie, confine, then serve."""

from __future__ import annotations

import contextlib
import faulthandler
import fcntl
import importlib
import os
import random
import signal
import socket
import sys
import tempfile
import types
import warnings
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import msgspec

from grader.devices import Device
from grader.engine import sandbox
from grader.engine.wire.messages import TakenAway
from grader.engine.worker.policy import taken_away
from grader.engine.worker.serve import Worker
from grader.malloc import fill_fresh_memory, give_back_freed_memory

CHANNEL = 3
"""The descriptor a worker answers on; 0 is empty, 1 and 2 are captured."""
AUDIT = sandbox.AUDIT
"""The descriptor it writes to what it used that its kata excludes."""


TRACE = signal.SIGUSR1
"""At this signal it writes to its output which line it is at, whatever it is doing."""


SPARE = 100
"""Descriptors from here on are free for moving others about."""


class WorkerConfig(msgspec.Struct, frozen=True):
    """Configuration of a worker: the folders it may touch and its limits.

    Its session says what the kata allows; its launcher adds the rest.
    """

    read: tuple[str, ...]
    memory_bytes: int | None
    threads: int = 1
    device: str = "cpu"
    """What it computes on; anything but the CPU widens what it may touch."""
    gpu_bytes: int | None = None
    """What torch may take of that device's own memory."""
    preload: tuple[str | TakenAway, ...] = ()
    """Modules to import before the submission, for those that take long, and what the kata excludes, to take away."""
    scratch: str = ""
    """Where it may write."""
    isolation: sandbox.Isolation = "full"
    """The level that was promised."""
    hidden: tuple[str, ...] = ()
    """What it must not read although it lies among what is installed."""
    fill_memory: bool = False
    """Whether memory that nobody wrote is the same in every run."""


@dataclass(frozen=True)
class Room:
    """What a zygote has prepared for a worker: where Python is, and a sandbox to live in."""

    view: sandbox.View | None = None
    box: sandbox.Sandbox | None = None


def preload(parts: Iterable[str | TakenAway]) -> None:
    """Import what a kata names, and take away what it excludes.

    A branch of the zygote does it for that kata's workers, a fresh interpreter for itself. The names are the pack's.
    """
    for name in parts:
        if isinstance(name, TakenAway):
            taken_away(name)
        elif name not in sys.modules:
            # One that cannot be imported is passed over here: `kata pack check` tells its author.
            with contextlib.suppress(Exception):
                importlib.import_module(name)


def become_worker(job: WorkerConfig, ends: Sequence[int], room: Room = Room()) -> NoReturn:
    """Never return: the process ends when the grader hangs up, or when the submission ends it.

    `ends` are the descriptors of channel, output and audit.
    """
    status = 1
    try:
        worker = _prepare(job, ends, room)
        worker.run()
        status = 0
    except sandbox.ConfinementError as error:
        print(f"it could not be confined to {job.isolation!r}: {error}", file=sys.stderr, flush=True)
    # The grader has hung up: that is how a worker's life ends.
    except (BrokenPipeError, ConnectionError):
        status = 0
    except Exception as error:
        # What a machine lacks (memory of a GPU, a library of its driver) is shown as the reason of the fault.
        print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
    finally:
        # No atexit handlers, no threads to join: the grader decides when a worker is over.
        os._exit(status)


def _prepare(job: WorkerConfig, ends: Sequence[int], room: Room) -> Worker:
    with contextlib.suppress(PermissionError):  # a fresh interpreter leads its session already
        # A session and group of its own: it is killed as a group, and a terminal's Ctrl-C does not reach it.
        os.setsid()
    if job.fill_memory:
        fill_fresh_memory()
    _rewire(ends, room.box.owners.values() if room.box is not None else ())
    # A zygote ignores some of them, and Python's handler for SIGINT would raise in the middle of the loop: a
    # worker ends by a signal as any program does.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGPIPE, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    # Wherever it was started: a relative path means a file of its own.
    os.chdir(job.scratch)
    sandbox.replace_environment(
        {
            "PATH": "/usr/bin:/bin",
            "HOME": job.scratch,
            "TMPDIR": job.scratch,
            "USER": "submission",
            "LANG": "C.UTF-8",
            "OMP_NUM_THREADS": str(job.threads),
            # There is no compiler in here; see `run_compiled_eagerly` for `torch.compile` itself.
            "TORCHDYNAMO_DISABLE": "1",
        }
    )
    tempfile.tempdir = None  # the process that forked us may have looked it up in another environment
    sys.argv = ["submission"]
    # Here Python may say of the submission what it likes: the grader's process, which was forked, has it silent.
    warnings.filterwarnings("default", category=SyntaxWarning)
    sys.breakpointhook = _no_breakpoint
    # It would lie next to what is imported: at 'process' that folder is the grader's, and shared.
    sys.dont_write_bytecode = True
    # New objects over the descriptors: the old ones have the grader's buffers, and may hold text that it has
    # not written yet.
    sys.stdin = open(0, encoding="utf-8", errors="replace", closefd=False)  # noqa: SIM115 - lives as long as we do
    sys.stdout = open(1, "w", encoding="utf-8", errors="replace", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", errors="replace", closefd=False)  # noqa: SIM115
    # Python's own handlers run between instructions; this one interrupts torch, too, and a lock that nobody gives back.
    faulthandler.register(TRACE, file=2, all_threads=False)
    random.seed()
    import torch

    # torch.manual_seed leaves a note for each kind of accelerator, with a traceback, for which files are read.
    for module in (torch.cuda, torch.mtia, torch.xpu):
        vars(module)["traceback"] = types.SimpleNamespace(format_stack=list)
    preload(job.preload)
    if job.memory_bytes is not None:
        give_back_freed_memory(job.memory_bytes)
    device = Device(job.device)
    device.module  # noqa: B018 - a fresh interpreter has to load it while it may still read everything
    worker = Worker(socket.socket(fileno=CHANNEL), AUDIT, device)
    sandbox.confine(
        sandbox.SandboxConfig(
            read=tuple(Path(folder) for folder in job.read),
            python=room.view or sandbox.python_view(map(Path, job.hidden)),
            write=(Path(job.scratch),),
            # CUDA reserves terabytes of address space: there the grader watches what is really used.
            limits=sandbox.ResourceLimits(memory_bytes=None if device.accelerates else job.memory_bytes),
            cuda=device.accelerates,
            box=room.box,
            level=job.isolation,
        )
    )
    # After confinement: it prepares threads, which Landlock would not hold.
    torch.set_num_threads(job.threads)
    if device.accelerates and device.absent() is None:
        device.meet(job.gpu_bytes)
    worker.greet(job.isolation)
    return worker


def _no_breakpoint(*_: object, **__: object) -> None:
    """Say what to type: pdb would only tell that the input has ended."""
    raise RuntimeError("nobody is at a keyboard here: for breakpoint() type  kata check --pdb -k CHECK")


def _rewire(ends: Sequence[int], keep: Collection[int]) -> None:
    """Put channel, output and audit where they belong and close everything else that was inherited."""
    # Out of the way first: each may have the number that another one is to get.
    channel, output, audit = (fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, SPARE) for number in ends)
    # Empty at once: code that reads from a keyboard learns that there is none, instead of waiting.
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.dup2(channel, CHANNEL, inheritable=False)
    os.dup2(audit, AUDIT, inheritable=False)
    # All that lies between what stays open: sockets to other workers, the grader's files, whatever else was
    # open.
    first = AUDIT + 1
    for number in (*sorted(set(keep)), min(os.sysconf("SC_OPEN_MAX"), 65536)):
        os.closerange(first, number)
        first = number + 1


def main() -> NoReturn:
    """Entry of a fresh interpreter: `python -m grader.engine.worker.process JOB CHANNEL OUTPUT AUDIT`."""
    job = msgspec.json.decode(sys.argv[1], type=WorkerConfig)
    become_worker(job, [int(number) for number in sys.argv[2:5]])


if __name__ == "__main__":
    main()
