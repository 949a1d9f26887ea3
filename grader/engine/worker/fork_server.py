"""The zygote: a process that has imported torch, knows no answers, and forks workers on request.

It must stay single-threaded and must never touch a GPU, or its children inherit a broken runtime.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import select
import signal
import socket
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import msgspec

from grader import interpreter
from grader.engine import sandbox
from grader.engine.wire import frames
from grader.engine.wire.messages import TakenAway
from grader.engine.worker.process import Room, WorkerConfig, become_worker, preload

ENDING_S = 10.0
"""How long a zygote may take to end its workers and itself."""


class Launch(msgspec.Struct, tag="launch", frozen=True):
    """Fork a worker; channel and output travel with this message."""

    job: WorkerConfig


class Reap(msgspec.Struct, tag="reap", frozen=True):
    """Wait for a worker's end, at most `patience_s`; then kill its group and every process it left."""

    pid: int
    patience_s: float


class Branch(msgspec.Struct, tag="branch", frozen=True):
    """Fork a zygote that has imported a module as well, or that has no more what a kata excludes.

    Its link travels with this message.
    """

    part: str | TakenAway


class Launched(msgspec.Struct, tag="launched", frozen=True):
    """The process number of a new worker, or of a branch."""

    pid: int


class Ended(msgspec.Struct, tag="ended", frozen=True):
    """How a worker ended: its exit status as `os.waitstatus_to_exitcode` tells it, None when we killed it."""

    code: int | None


class Refused(msgspec.Struct, tag="refused", frozen=True):
    """The zygote could not do it."""

    reason: str


_requests = frames.Decoder(Launch | Reap | Branch)


def become_fork_server(link: socket.socket, level: sandbox.Isolation, view: sandbox.View) -> NoReturn:
    """Go on as a fork server that answers on `link`, and never return."""
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the grader's to answer
        _forget_the_grader()
        # The grader's files, and a terminal perhaps: a worker must not inherit them through this process.
        os.closerange(3, link.fileno())
        os.closerange(link.fileno() + 1, 4096)
        tempfile.gettempdir()  # found once, by the caller's variables
        # Before anything is forked: every worker inherits this process's memory.
        sandbox.replace_environment(interpreter.environment())
        renewed = sandbox.enter_namespaces() if level != "process" else frozenset()
        if level == "full" and "net" in renewed:
            _move_into_namespace(link, view)
        sandbox.become_subreaper()
        ForkServer(link, None, view).serve()
    finally:
        os._exit(0)


_THE_GRADERS = frozenset({"pytest", "_pytest", "pluggy", "iniconfig", "click", "rich"})
_OF_A_WORKER = frozenset(
    {"errors", "notebooks", "malloc", "interpreter", "machine", "devices"}
    | {"engine", "engine.wire", "engine.sandbox", "engine.worker"}
)


def _forget_the_grader() -> None:
    """Let a submission find the same modules in `sys.modules` whatever the grader had imported when this was forked."""
    # One that stood by has imported pytest, the command line has click: `if "pytest" in sys.modules` must mean
    # the same. All of these are pure Python, which may be imported again.
    sys.meta_path[:] = [
        finder for finder in sys.meta_path if type(finder).__module__.partition(".")[0] not in _THE_GRADERS
    ]
    for name in list(sys.modules):
        root, _, rest = name.partition(".")
        if root in _THE_GRADERS or (root == "grader" and rest and not _is_of_a_worker(rest)):
            del sys.modules[name]
            # A package keeps its parts as attributes, by which they would still be found.
            parent = sys.modules.get(name.rpartition(".")[0])
            if parent is not None:
                vars(parent).pop(name.rpartition(".")[2], None)


def _is_of_a_worker(module: str) -> bool:
    """Return whether a worker keeps a module of grader/: of the engine only some folders."""
    return ".".join(module.split(".")[: 2 if module.startswith("engine.") else 1]) in _OF_A_WORKER


def _move_into_namespace(link: socket.socket, view: sandbox.View) -> None:
    """Go on as the first process of a pid namespace, whose workers live in sandboxes, and never return."""
    # Made outside, and removed there: the zygote inside may be killed, and would tidy nothing up.
    anchor = Path(tempfile.mkdtemp(prefix="kata-cells-"))
    try:
        if not sandbox.renew_processes():
            return  # and no worker gets ready
        pid = os.fork()
        if pid == 0:
            ForkServer(link, sandbox.prepare(anchor, view), view).serve()
            os._exit(0)
        # This process, which was forked first, stays outside, and tidies up when the zygote has ended.
        link.close()
        for number in (signal.SIGTERM, signal.SIGHUP):  # it ends with the zygote, which ends with the grader
            signal.signal(number, signal.SIG_IGN)
        os.waitpid(pid, 0)
    finally:
        with contextlib.suppress(OSError):
            anchor.rmdir()
    os._exit(0)


@dataclass(frozen=True)
class _Child:
    """A worker as the zygote knows it."""

    slot: int
    """What the zygote calls its user by."""
    scratch: Path
    pidfd: int
    """Held until its end, for which there might be no free descriptor."""


class ForkServer:
    """The zygote's end: forks workers, in sandboxes where it can, and collects them."""

    def __init__(
        self,
        link: socket.socket,
        shared: sandbox.BaseMounts | None,
        view: sandbox.View,
        inside: bool = False,
    ) -> None:
        self._link = link
        self._shared = shared
        self._inside = inside or os.getpid() == 1
        """Whether it lives in a pid namespace of the zygote's, where numbers are not those of /proc."""
        self._branches: dict[int, int] = {}
        """Process numbers and pidfds of zygotes that were split off this one."""
        self._children: dict[int, _Child] = {}
        self._view = view

    def serve(self) -> None:
        """Answer until the grader hangs up, then end every worker."""
        try:
            while True:
                message, descriptors = frames.receive_packet(self._link, 3)
                # The grader's end is closed: it has finished, or was killed.
                if not message:
                    break
                request = _requests.decode(message)
                if isinstance(request, Reap):
                    self._send(self._reap(request))
                elif isinstance(request, Branch):
                    self._branch(request.part, descriptors)
                else:
                    self._launch(request.job, descriptors)
        finally:
            # The grader is gone, or will be: what it would have cleared away is ours to clear.
            for pid, child in self._children.items():
                _end(Reap(pid, 0.0), child.pidfd)
                sandbox.remove_folder(child.scratch)
            for pid, pidfd in self._branches.items():
                # A branch has workers of its own to end, so it is given some time.
                _end(Reap(pid, ENDING_S / 2), pidfd)
            if not self._inside:  # with the first of a namespace everything in it ends
                sandbox.kill_descendants()

    def _send(self, answer: Launched | Ended | Refused, descriptors: tuple[int, ...] = ()) -> None:
        frames.send_packet(self._link, answer, descriptors)

    def _launch(self, job: WorkerConfig, descriptors: list[int]) -> None:
        # The least free one: users are a range, which must not run out in a large class.
        slot = self._free_slot()
        if started := self._started(descriptors, 3, lambda: self._fork(job, descriptors, slot)):
            pid, pidfd = started
            self._children[pid] = _Child(slot, Path(job.scratch), pidfd)
            self._send(Launched(pid), (pidfd,))

    def _started(self, descriptors: list[int], count: int, fork: Callable[[], int]) -> tuple[int, int] | None:
        """Fork, and return the process with its pidfd; None where that was refused, which is then said."""
        try:
            if len(descriptors) != count:  # the system drops those for which there is no room
                raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
            pid = fork()
            try:
                # Now, while it cannot have been reaped: later the number could be somebody else's.
                return pid, os.pidfd_open(pid)
            except OSError:
                _end(Reap(pid, 0.0), None)
                raise
        except OSError as error:
            self._send(Refused(error.strerror or str(error)))
            return None
        finally:
            # Here, whatever came of it: a forked worker has its own.
            for number in descriptors:
                os.close(number)

    def _fork(self, job: WorkerConfig, descriptors: list[int], slot: int) -> int:
        box = None
        if self._shared is not None:
            # Before the fork: whose files are mapped to whom takes powers that a worker is about to lose.
            box = sandbox.open_sandbox(self._shared, slot, map(Path, job.read))
        pid = os.fork()
        if pid == 0:
            self._link.close()
            become_worker(job, descriptors, Room(self._view, box))
        return pid

    def _branch(self, part: str | TakenAway, descriptors: list[int]) -> None:
        def fork() -> int:
            pid = os.fork()
            if pid == 0:
                self._become_branch(part, descriptors[0])
            return pid

        if started := self._started(descriptors, 1, fork):
            pid, pidfd = started
            self._branches[pid] = pidfd
            self._send(Launched(pid))

    def _become_branch(self, part: str | TakenAway, link: int) -> NoReturn:
        try:
            self._link.close()
            for number in (*self._branches.values(), *(child.pidfd for child in self._children.values())):
                os.close(number)
            # Other users for its workers: two zygotes with the same ones could signal each other's.
            shared = None if self._shared is None else sandbox.renewed(self._shared)
            if not self._inside:
                sandbox.become_subreaper()
            # In the branch and not in its zygote: another kata's workers must not find this kata's modules.
            preload((part,))
            ForkServer(socket.socket(fileno=link), shared, self._view, self._inside).serve()
        finally:
            os._exit(0)

    def _free_slot(self) -> int:
        taken = {child.slot for child in self._children.values()}
        return next(number for number in itertools.count() if number not in taken)

    def _reap(self, request: Reap) -> Ended:
        child = self._children.pop(request.pid, None)
        # By the pidfd: the number alone could be somebody else's by now.
        code = _end(request, None if child is None else child.pidfd)
        if child is not None:
            os.close(child.pidfd)
        # In a pid namespace every worker is confined, and none can have started anything.
        if not self._inside:
            sandbox.kill_descendants(exclude=frozenset((*self._children, *self._branches)))
        return Ended(code)


def _end(request: Reap, pidfd: int | None) -> int | None:
    ended = pidfd is not None and readable(pidfd, request.patience_s)
    if not ended:
        with contextlib.suppress(ProcessLookupError):
            os.kill(request.pid, signal.SIGKILL)
    # Before it is reaped: as long as the number is taken, the group cannot be anybody else's.
    _kill_group(request.pid)
    with contextlib.suppress(ChildProcessError):
        _, status = os.waitpid(request.pid, 0)
        # Where we had to kill it, SIGKILL says nothing about the submission.
        return os.waitstatus_to_exitcode(status) if ended else None
    return None


def readable(pidfd: int, patience_s: float) -> bool:
    """Return whether a process ends in time."""
    poll = select.poll()  # select(2) knows no descriptor above 1023
    poll.register(pidfd, select.POLLIN)
    return bool(poll.poll(patience_s * 1000))


def _kill_group(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
