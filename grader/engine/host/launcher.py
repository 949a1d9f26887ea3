"""Two ways to get a worker: fork one from a zygote, or start a fresh interpreter. Both give the same thing."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import msgspec

from grader import interpreter, machine
from grader.catalogue.catalogue import answers
from grader.devices import Device
from grader.engine import sandbox
from grader.engine.wire.messages import TakenAway
from grader.engine.worker.client import ENDING_S, TRACE, WorkerConfig, Zygote
from grader.errors import MachineFault, UsageError
from grader.malloc import NO_CACHE, keep_freed_memory

__all__ = [
    "ForkLauncher",
    "Launcher",
    "SpawnLauncher",
    "WorkerConfig",
    "WorkerProcess",
    "default_launcher",
    "launcher_name",
]

PATIENCE_S = 0.5
"""How long a worker whose channel closed may take to end by itself, so that we learn how it ended."""


WATCHED = sandbox.ResourceLimits(memory_bytes=None, processes=64)
"""What is watched from outside; memory only where the kernel cannot limit it."""
DRIVER_BYTES = 8 << 30
"""What a GPU's driver takes of the machine's memory for itself, generously."""


@dataclass
class WorkerProcess:
    """A running worker as the grader sees it."""

    pid: int
    channel: socket.socket
    output: int
    scratch: Path
    launcher: Launcher = field(repr=False)
    audit: int | None = None
    """Where it writes what it used that its kata excludes; see `grader.engine.wire.uses`."""
    pidfd: int | None = None
    """Stands for it even when its number is another's by now."""
    limits: sandbox.ResourceLimits = WATCHED
    """What `exceeded_limit` compares with."""
    celled: bool = False
    """Whether it has a scratch folder of its own file system, in a sandbox."""

    def kill(self) -> None:
        """End it now, with its process group."""
        if self.pidfd is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                # By the pidfd, which can mean nobody else; the number alone, below, reaches the group.
                signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)
        if self.pid > 1:  # 0 is our own group
            with contextlib.suppress(ProcessLookupError, PermissionError):
                # The group too: at `process` a worker may have started others.
                os.killpg(self.pid, signal.SIGKILL)

    def ask_where(self) -> None:
        """Let it write a traceback to its output."""
        self._signal(TRACE)

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
            elif self.pid > 1:
                os.kill(self.pid, number)

    def exceeded_limit(self) -> str | None:
        """Say what it uses too much of; see `sandbox.exceeded_limit`."""
        return sandbox.exceeded_limit(self.pid, None if self.celled else self.scratch, self.limits)

    def end(self, patience_s: float = 0.0) -> int | None:
        """Collect it and remove its scratch folder; see `ForkLauncher.reap` for what is returned and raised."""
        # First: a worker that waits for its next request ends by itself when this is gone.
        self.channel.close()
        try:
            return self.launcher.reap(self.pid, patience_s)
        finally:
            for descriptor in (self.output, self.audit, self.pidfd):
                if descriptor is not None:
                    os.close(descriptor)
            sandbox.remove_folder(self.scratch)


class ForkLauncher:
    """Fork workers from a zygote: about 10 ms each."""

    name: Literal["fork"] = "fork"

    def __init__(self, *, fill_memory: bool = False, many: bool = False) -> None:
        """`many` says that it pays to take away what a kata excludes once for all of its workers."""
        machine.prepare()
        keep_freed_memory()
        self._fill_memory, self._many = fill_memory, many
        self._level = sandbox.offered()
        # Now, while this process has read no check and no expected value.
        self._zygote = Zygote.fork(self._level, answers())
        self._zygotes: dict[tuple[str | TakenAway, ...], Zygote] = {(): self._zygote}
        """By what each has imported for its workers, and taken away: what one kata has is nobody else's."""
        self._homes: dict[int, Zygote] = {}

    def prepare(self, preload: tuple[str, ...]) -> None:
        """Fork the zygote that imports what workers will want imported; it does so while this process goes on.

        Raises:
            MachineFault: no process could be started for it.
        """
        self._zygote_with(preload)

    def launch(self, job: WorkerConfig) -> WorkerProcess:
        """Start a worker that is given this, a scratch folder and the launcher's isolation.

        Raises:
            MachineFault: it cannot be.
        """
        ends = _ends()
        job = msgspec.structs.replace(
            job, scratch=str(ends.scratch), isolation=self._level, fill_memory=self._fill_memory
        )
        try:
            # What is excluded a single worker takes away itself.
            zygote = self._zygote_with(
                tuple(part for part in job.preload if self._many or isinstance(part, str))
            )
            pid, pidfd = zygote.launch(job, ends.theirs, ends.output_write, ends.audit_write)
        except BaseException:
            ends.abandon()
            raise
        finally:
            ends.close_theirs()
        # Only the process that forked a worker can wait for it.
        self._homes[pid] = zygote
        return replace(ends.process(pid, self, pidfd), limits=_watched(job))

    def _zygote_with(self, parts: tuple[str | TakenAway, ...]) -> Zygote:
        if parts not in self._zygotes or self._zygotes[parts].refused:
            # One part after the other, so that katas share the branches of what they have in common.
            self._zygotes[parts] = self._zygote_with(parts[:-1]).branch(parts[-1])
        return self._zygotes[parts]

    def reap(self, pid: int, patience_s: float) -> int | None:
        """Collect a worker: its exit code (negative: the signal), None when it had to be killed.

        Raises:
            MachineFault: how it ended is lost.
        """
        return self._homes.pop(pid, self._zygote).reap(pid, patience_s)

    def close(self) -> None:
        """End the zygote and every worker."""
        for zygote in reversed(self._zygotes.values()):  # who was split off before whom they were split off
            zygote.close()


_ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
"""For imports that would start threads: a worker must be alone when it confines itself."""


class SpawnLauncher:
    """Start every worker in a fresh interpreter: slow, for systems where a fork cannot be trusted."""

    name: Literal["spawn"] = "spawn"

    def __init__(self, *, fill_memory: bool = False) -> None:
        machine.prepare()
        self._fill_memory = fill_memory
        self._running: dict[int, subprocess.Popen[bytes]] = {}
        self._level: sandbox.Isolation = sandbox.offered()
        if self._level == "full":
            if sandbox.forced() == "full":
                raise UsageError(
                    "KATA_ISOLATION is 'full', which workers that start as fresh interpreters cannot reach.",
                    "Unset KATA_LAUNCHER.",
                )
            # A sandbox starts from mounts that a zygote has prepared, and a fresh interpreter has no zygote.
            self._level = "confined"
        self._hidden = tuple(map(str, answers()))

    def prepare(self, preload: tuple[str, ...]) -> None:
        """Do nothing: each worker is an interpreter that imports for itself."""

    def launch(self, job: WorkerConfig) -> WorkerProcess:
        """Start a worker; see `ForkLauncher.launch`."""
        ends = _ends()
        job = msgspec.structs.replace(
            job,
            scratch=str(ends.scratch),
            isolation=self._level,
            fill_memory=self._fill_memory,
            hidden=self._hidden,
        )
        theirs = (ends.theirs.fileno(), ends.output_write, ends.audit_write)
        # glibc reads it when a program starts, so this is the only place where it can be set.
        cache = NO_CACHE if self._fill_memory else {}
        try:
            process = interpreter.start(
                "grader.engine.worker.process",
                [msgspec.json.encode(job).decode(), *map(str, theirs)],
                ends.scratch,
                variables={"PATH": os.environ.get("PATH", ""), "LANG": "C.UTF-8", **_ONE_THREAD, **cache},
                stdin=subprocess.DEVNULL,
                # Captured from the first moment: an interpreter that fails to start says why there.
                stdout=ends.output_write,
                stderr=ends.output_write,
                pass_fds=theirs,
                # A group of its own, by which it is killed with whatever it has started.
                start_new_session=True,
            )
        except OSError as error:
            ends.abandon()
            raise _not_started(error) from error
        except BaseException:
            ends.abandon()
            raise
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
        # One that the kernel holds back ends when it lets go.
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(ENDING_S)
        return code

    def close(self) -> None:
        """End every worker."""
        for pid in list(self._running):
            self.reap(pid, 0.0)


Launcher = ForkLauncher | SpawnLauncher
"""Starts and collects workers."""


def launcher_name() -> Literal["fork", "spawn"]:
    """Say how workers are started: forked on Linux, else a fresh interpreter; `KATA_LAUNCHER` decides otherwise.

    Raises:
        UsageError: `KATA_LAUNCHER` is neither fork nor spawn.
    """
    wanted = os.environ.get("KATA_LAUNCHER") or ("fork" if sys.platform == "linux" else "spawn")
    if wanted not in ("fork", "spawn"):
        raise UsageError(f"KATA_LAUNCHER is {wanted!r}; it must be fork or spawn.")
    return "fork" if wanted == "fork" else "spawn"


def default_launcher(*, fill_memory: bool = False, many: bool = False) -> Launcher:
    """Return the launcher of `launcher_name`, for `many` workers; what nobody wrote may be filled for them."""
    if launcher_name() == "fork":
        return ForkLauncher(fill_memory=fill_memory, many=many)
    return SpawnLauncher(fill_memory=fill_memory)


def _watched(job: WorkerConfig) -> sandbox.ResourceLimits:
    if Device(job.device).accelerates and job.memory_bytes is not None:
        return replace(WATCHED, memory_bytes=job.memory_bytes + DRIVER_BYTES)
    return WATCHED


@dataclass
class _Ends:
    """Both ends of everything that ties a worker to its grader."""

    scratch: Path
    ours: socket.socket
    theirs: socket.socket
    output_read: int
    output_write: int
    audit_read: int
    audit_write: int

    def close_theirs(self) -> None:
        # With our copies open, a worker's death would never show as the end of a stream.
        self.theirs.close()
        os.close(self.output_write)
        os.close(self.audit_write)

    def abandon(self) -> None:
        """Give back our own ends: there is no worker."""
        self.ours.close()
        os.close(self.output_read)
        os.close(self.audit_read)
        sandbox.remove_folder(self.scratch)

    def process(self, pid: int, launcher: Launcher, pidfd: int | None = None) -> WorkerProcess:
        return WorkerProcess(pid, self.ours, self.output_read, self.scratch, launcher, self.audit_read, pidfd)


def _ends() -> _Ends:
    with ExitStack() as undo:
        try:
            scratch = Path(tempfile.mkdtemp(prefix="kata-"))
            undo.callback(sandbox.remove_folder, scratch)
            # A pair without a name: nobody can connect to it, or be taken for the other end.
            ours, theirs = socket.socketpair()
            undo.callback(ours.close)
            undo.callback(theirs.close)
            pipes = [_pipe(undo), _pipe(undo)]
        except OSError as error:
            raise _not_started(error) from error
        # All of it is there: from here on the worker's end closes it.
        undo.pop_all()
    ends = _Ends(scratch, ours, theirs, *pipes[0], *pipes[1])
    # The grader must never block in a read: it holds the clock.
    ends.ours.setblocking(False)
    # A full pipe must stop neither side: who used that much has left evidence enough.
    for descriptor in (ends.output_read, ends.audit_read, ends.audit_write):
        os.set_blocking(descriptor, False)
    return ends


def _pipe(undo: ExitStack) -> tuple[int, int]:
    read, write = os.pipe()
    undo.callback(os.close, read)
    undo.callback(os.close, write)
    return read, write


def _not_started(error: OSError) -> MachineFault:
    return MachineFault(f"No worker could be started: {error.strerror or error}.", machine.shortage(error))
