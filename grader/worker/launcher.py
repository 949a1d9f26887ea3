"""Two ways to get a worker: fork one from a zygote, or start a fresh interpreter. Both give the same thing."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, Protocol

import msgspec

from grader import interpreter, sandbox
from grader.errors import EngineError, UsageError
from grader.worker.memory import keep_freed_memory
from grader.worker.process import Job
from grader.worker.zygote import Zygote

PATIENCE_S = 0.5
"""How long a worker whose channel closed may take to end by itself, so that we learn how it ended."""


WATCHED = sandbox.Limits(memory_bytes=None, processes=64)
"""What is watched from outside; memory only where the kernel cannot limit it."""
CUDA_OWN_BYTES = 8 << 30
"""What the driver takes of the machine's memory for itself, generously."""


@dataclass
class WorkerProcess:
    """A running worker as the grader sees it."""

    pid: int
    channel: socket.socket
    output: int
    scratch: Path
    launcher: Launcher = field(repr=False)
    witness: int | None = None
    """Where it writes what it used that its kata excludes; see `grader.boundary.witness`."""
    pidfd: int | None = None
    """Stands for it even when its number is another's by now."""
    limits: sandbox.Limits = WATCHED
    """What `overrun` compares with."""

    def kill(self) -> None:
        """End it now, with its process group."""
        if self.pidfd is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)

    def freeze(self) -> None:
        """Stop it, all its threads, where it stands."""
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let it go on."""
        self._signal(signal.SIGCONT)

    def _signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if self.pidfd is not None:
                signal.pidfd_send_signal(self.pidfd, number)
            else:
                os.kill(self.pid, number)

    def overrun(self) -> str | None:
        """Say what it uses too much of; see `sandbox.overrun`."""
        return sandbox.overrun(self.pid, self.scratch, self.limits)

    def end(self, patience_s: float = 0.0) -> int | None:
        """Collect it and remove its scratch folder; see `Launcher.reap` for what is returned."""
        self.channel.close()
        code = self.launcher.reap(self.pid, patience_s)
        os.close(self.output)
        if self.witness is not None:
            os.close(self.witness)
        if self.pidfd is not None:
            os.close(self.pidfd)
        sandbox.remove_folder(self.scratch)
        return code


class Launcher(Protocol):
    """Start and collect workers."""

    name: Literal["fork", "spawn"]

    def launch(
        self,
        read: Iterable[Path],
        memory_bytes: int | None,
        *,
        cuda: bool = False,
        gpu_bytes: int | None = None,
        preload: tuple[str, ...] = (),
    ) -> WorkerProcess:
        """Start a worker that may read these folders and has these modules imported."""
        ...

    def reap(self, pid: int, patience_s: float) -> int | None:
        """Collect a worker: its exit code (negative: the signal), None when it had to be killed."""
        ...

    def close(self) -> None:
        """End every worker."""
        ...


class ForkLauncher:
    """Fork workers from a zygote: about 10 ms each."""

    name: Literal["fork", "spawn"] = "fork"

    def __init__(self) -> None:
        keep_freed_memory()
        self._level = sandbox.strongest_wanted()
        self._zygote = Zygote.fork(self._level)

    def launch(
        self,
        read: Iterable[Path],
        memory_bytes: int | None,
        *,
        cuda: bool = False,
        gpu_bytes: int | None = None,
        preload: tuple[str, ...] = (),
    ) -> WorkerProcess:
        """Start a worker that may read these folders and has these modules imported."""
        ends = _ends()
        job = Job(
            read=tuple(str(path) for path in read),
            scratch=str(ends.scratch),
            memory_bytes=memory_bytes,
            cuda=cuda,
            gpu_bytes=gpu_bytes,
            preload=preload,
            isolation=self._level,
        )
        try:
            pid, pidfd = self._zygote.launch(job, ends.theirs, ends.output_write, ends.witness_write)
        finally:
            ends.close_theirs()
        return replace(ends.process(pid, self, pidfd), limits=_watched(job))

    def reap(self, pid: int, patience_s: float) -> int | None:
        """Collect a worker: its exit code (negative: the signal), None when it had to be killed."""
        return self._zygote.reap(pid, patience_s)

    def close(self) -> None:
        """End the zygote and every worker."""
        self._zygote.close()


_ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
"""For imports that would start threads: a worker must be alone when it confines itself."""


class SpawnLauncher:
    """Start every worker in a fresh interpreter: slow, for systems where a fork cannot be trusted."""

    name: Literal["fork", "spawn"] = "spawn"

    def __init__(self) -> None:
        self._running: dict[int, subprocess.Popen[bytes]] = {}
        self._level = sandbox.strongest_wanted()

    def launch(
        self,
        read: Iterable[Path],
        memory_bytes: int | None,
        *,
        cuda: bool = False,
        gpu_bytes: int | None = None,
        preload: tuple[str, ...] = (),
    ) -> WorkerProcess:
        """Start a worker that may read these folders and has these modules imported."""
        ends = _ends()
        job = Job(
            read=tuple(str(path) for path in read),
            scratch=str(ends.scratch),
            memory_bytes=memory_bytes,
            cuda=cuda,
            gpu_bytes=gpu_bytes,
            preload=preload,
            isolation=self._level,
        )
        theirs = (ends.theirs.fileno(), ends.output_write, ends.witness_write)
        try:
            process = interpreter.start(
                "grader.worker.process",
                [msgspec.json.encode(job).decode(), *map(str, theirs)],
                ends.scratch,
                variables={"PATH": os.environ.get("PATH", ""), "LANG": "C.UTF-8", **_ONE_THREAD},
                stdin=subprocess.DEVNULL,
                stdout=ends.output_write,
                stderr=ends.output_write,
                pass_fds=theirs,
                start_new_session=True,
            )
        except OSError as error:
            raise EngineError(f"No worker could be started: {error}.") from error
        finally:
            ends.close_theirs()
        self._running[process.pid] = process
        return replace(ends.process(process.pid, self), limits=_watched(job))

    def reap(self, pid: int, patience_s: float) -> int | None:
        """Collect a worker: its exit code (negative: the signal), None when it had to be killed."""
        process = self._running.pop(pid)
        code: int | None = None
        with contextlib.suppress(subprocess.TimeoutExpired):
            code = process.wait(patience_s)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)
        process.wait()
        return code

    def close(self) -> None:
        """End every worker."""
        for pid in list(self._running):
            self.reap(pid, 0.0)


def launcher_name() -> Literal["fork", "spawn"]:
    """Say how workers are started: forked on Linux, else a fresh interpreter; `KATA_LAUNCHER` decides otherwise.

    Raises:
        UsageError: `KATA_LAUNCHER` is neither fork nor spawn.
    """
    wanted = os.environ.get("KATA_LAUNCHER") or ("fork" if sys.platform == "linux" else "spawn")
    if wanted not in ("fork", "spawn"):
        raise UsageError(f"KATA_LAUNCHER is {wanted!r}; it may be fork or spawn.")
    return "fork" if wanted == "fork" else "spawn"


def default_launcher() -> Launcher:
    """Return the launcher of `launcher_name`."""
    return ForkLauncher() if launcher_name() == "fork" else SpawnLauncher()


def _watched(job: Job) -> sandbox.Limits:
    if job.cuda and job.memory_bytes is not None:
        return replace(WATCHED, memory_bytes=job.memory_bytes + CUDA_OWN_BYTES)
    return WATCHED


@dataclass
class _Ends:
    """Both ends of everything that ties a worker to its grader."""

    scratch: Path
    ours: socket.socket
    theirs: socket.socket
    output_read: int
    output_write: int
    witness_read: int
    witness_write: int

    def close_theirs(self) -> None:
        self.theirs.close()
        os.close(self.output_write)
        os.close(self.witness_write)

    def process(self, pid: int, launcher: Launcher, pidfd: int | None = None) -> WorkerProcess:
        return WorkerProcess(
            pid, self.ours, self.output_read, self.scratch, launcher, self.witness_read, pidfd
        )


def _ends() -> _Ends:
    try:
        ends = _Ends(Path(tempfile.mkdtemp(prefix="kata-")), *socket.socketpair(), *os.pipe(), *os.pipe())
    except OSError as error:
        raise EngineError(
            f"No worker could be started: {error}.", "Free some space in the temporary folder."
        ) from error
    ends.ours.setblocking(False)
    # A full pipe must stop neither side: who used that much has left evidence enough.
    for descriptor in (ends.output_read, ends.witness_read, ends.witness_write):
        os.set_blocking(descriptor, False)
    return ends
