"""Two ways to get a worker: fork one from a zygote, or start a fresh interpreter. Both give the same thing."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

import msgspec

from grader.errors import EngineError, UsageError
from grader.worker.memory import keep_freed_memory
from grader.worker.process import Job
from grader.worker.zygote import Zygote

PATIENCE_S = 0.5
"""How long a worker whose channel closed may take to end by itself, so that we learn how it ended."""


@dataclass
class WorkerProcess:
    """A running worker as the grader sees it."""

    pid: int
    channel: socket.socket
    output: int
    scratch: Path
    launcher: Launcher = field(repr=False)

    def kill(self) -> None:
        """End it now, with its process group."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)

    def end(self, patience_s: float = 0.0) -> int | None:
        """Collect it and remove its scratch folder; see `Launcher.reap` for what is returned."""
        self.channel.close()
        code = self.launcher.reap(self.pid, patience_s)
        os.close(self.output)
        shutil.rmtree(self.scratch, ignore_errors=True)
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
        self._zygote = Zygote.fork()

    def launch(
        self,
        read: Iterable[Path],
        memory_bytes: int | None,
        *,
        cuda: bool = False,
        preload: tuple[str, ...] = (),
    ) -> WorkerProcess:
        """Start a worker that may read these folders and has these modules imported."""
        scratch, ours, theirs, output_read, output_write = _ends()
        job = Job(tuple(str(path) for path in read), str(scratch), memory_bytes, cuda=cuda, preload=preload)
        try:
            pid = self._zygote.launch(job, theirs, output_write)
        finally:
            theirs.close()
            os.close(output_write)
        return WorkerProcess(pid, ours, output_read, scratch, self)

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

    def launch(
        self,
        read: Iterable[Path],
        memory_bytes: int | None,
        *,
        cuda: bool = False,
        preload: tuple[str, ...] = (),
    ) -> WorkerProcess:
        """Start a worker that may read these folders and has these modules imported."""
        scratch, ours, theirs, output_read, output_write = _ends()
        job = Job(tuple(str(path) for path in read), str(scratch), memory_bytes, cuda=cuda, preload=preload)
        arguments = [
            sys.executable,
            "-I",
            "-m",
            "grader.worker.process",
            msgspec.json.encode(job).decode(),
            str(theirs.fileno()),
            str(output_write),
        ]
        try:
            process = subprocess.Popen(
                arguments,
                stdin=subprocess.DEVNULL,
                stdout=output_write,
                stderr=output_write,
                pass_fds=(theirs.fileno(), output_write),
                start_new_session=True,
                env={"PATH": os.environ.get("PATH", ""), "LANG": "C.UTF-8", **_ONE_THREAD},
            )
        except OSError as error:
            raise EngineError(f"No worker could be started: {error}.") from error
        finally:
            theirs.close()
            os.close(output_write)
        self._running[process.pid] = process
        return WorkerProcess(process.pid, ours, output_read, scratch, self)

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


def _ends() -> tuple[Path, socket.socket, socket.socket, int, int]:
    try:
        scratch = Path(tempfile.mkdtemp(prefix="kata-"))
        ours, theirs = socket.socketpair()
        output_read, output_write = os.pipe()
    except OSError as error:
        raise EngineError(
            f"No worker could be started: {error}.", "Free some space in the temporary folder."
        ) from error
    ours.setblocking(False)
    os.set_blocking(output_read, False)
    return scratch, ours, theirs, output_read, output_write
