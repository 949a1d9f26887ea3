"""The zygote: a process that has imported torch, knows no answers, and forks workers on request.

It must stay single-threaded and must never touch CUDA, or its children inherit a broken runtime.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
from typing import NoReturn

import msgspec

from grader import sandbox
from grader.errors import EngineError
from grader.worker.process import Job, become_worker, preload

MAX_MESSAGE = 1 << 16


class Launch(msgspec.Struct, tag="launch", frozen=True):
    """Fork a worker; channel and output travel beside this message."""

    job: Job


class Reap(msgspec.Struct, tag="reap", frozen=True):
    """Wait for a worker's end, at most `patience_s`; then kill its group and every process it left."""

    pid: int
    patience_s: float


class Launched(msgspec.Struct, tag="launched", frozen=True):
    """The process number of a new worker."""

    pid: int


class Ended(msgspec.Struct, tag="ended", frozen=True):
    """How a worker ended: its exit status as `os.waitstatus_to_exitcode` tells it, None when we killed it."""

    code: int | None


class Refused(msgspec.Struct, tag="refused", frozen=True):
    """The zygote could not do it."""

    reason: str


_requests = msgspec.json.Decoder(Launch | Reap)
_answers = msgspec.json.Decoder(Launched | Ended | Refused)


class Zygote:
    """The grader's end: one zygote, many workers."""

    def __init__(self, link: socket.socket, pid: int) -> None:
        self._link = link
        self._pid = pid

    @classmethod
    def fork(cls) -> Zygote:
        """Split a zygote off this process. Call it when torch is imported and no answer is."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        pid = os.fork()
        if pid == 0:
            ours.close()
            _serve(theirs)
        theirs.close()
        return cls(ours, pid)

    def launch(self, job: Job, channel: socket.socket, output: int, witness: int) -> int:
        """Return the process number of a new worker.

        It answers on `channel`, prints to `output`, and writes to `witness` what it used that its kata excludes.
        """
        message = msgspec.json.encode(Launch(job))
        try:
            socket.send_fds(self._link, [message], [channel.fileno(), output, witness])
            answer = _answers.decode(self._link.recv(MAX_MESSAGE))
        except (OSError, msgspec.DecodeError) as error:
            raise EngineError(f"The process that starts workers is gone ({error}).") from error
        if not isinstance(answer, Launched):
            raise EngineError(f"No worker could be started: {answer}.")
        return answer.pid

    def reap(self, pid: int, patience_s: float) -> int | None:
        """Return a worker's exit code (negative: the signal), or None when it had to be killed."""
        try:
            self._link.send(msgspec.json.encode(Reap(pid, patience_s)))
            answer = _answers.decode(self._link.recv(MAX_MESSAGE))
        except (OSError, msgspec.DecodeError):
            return None
        return answer.code if isinstance(answer, Ended) else None

    def close(self) -> None:
        """Let the zygote end; it takes its workers along."""
        self._link.close()
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self._pid, 0)


def _serve(link: socket.socket) -> NoReturn:
    children: set[int] = set()
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the grader's to answer
        os.closerange(3, link.fileno())
        os.closerange(link.fileno() + 1, 4096)
        sandbox.become_subreaper()
        sandbox.enter_namespaces()
        while True:
            message, descriptors, _, _ = socket.recv_fds(link, MAX_MESSAGE, 3)
            if not message:
                break
            link.send(msgspec.json.encode(_answer(link, message, descriptors, children)))
    finally:
        for pid in children:
            _kill_group(pid)
        sandbox.kill_descendants()
        os._exit(0)


def _answer(
    link: socket.socket, message: bytes, descriptors: list[int], children: set[int]
) -> Launched | Ended | Refused:
    request = _requests.decode(message)
    if isinstance(request, Reap):
        code = _reap(request)
        children.discard(request.pid)
        sandbox.kill_descendants(exclude=frozenset(children))
        return Ended(code)
    preload(request.job)
    try:
        pid = os.fork()
    except OSError as error:
        for number in descriptors:
            os.close(number)
        return Refused(error.strerror or str(error))
    if pid == 0:
        link.close()
        become_worker(request.job, *descriptors)
    for number in descriptors:
        os.close(number)
    children.add(pid)
    return Launched(pid)


def _reap(request: Reap) -> int | None:
    ended = _wait(request.pid, request.patience_s)
    if not ended:
        with contextlib.suppress(ProcessLookupError):
            os.kill(request.pid, signal.SIGKILL)
    _kill_group(request.pid)
    with contextlib.suppress(ChildProcessError):
        _, status = os.waitpid(request.pid, 0)
        return os.waitstatus_to_exitcode(status) if ended else None
    return None


def _wait(pid: int, patience_s: float) -> bool:
    """Return whether the process ended by itself in time; it stays a zombie for us to collect."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([descriptor], [], [], patience_s)[0])
    finally:
        os.close(descriptor)


def _kill_group(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
