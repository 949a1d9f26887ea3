"""The fork server's client: the only part of this folder that the grader imports.

It has to import it, and the server with it: a server is forked off the grader before that knows any answer.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
from collections.abc import Collection
from pathlib import Path

import msgspec

from grader.engine import sandbox
from grader.engine.wire import frames
from grader.engine.wire.messages import TakenAway
from grader.engine.worker.fork_server import (
    ENDING_S,
    Branch,
    Ended,
    Launch,
    Launched,
    Reap,
    Refused,
    become_fork_server,
    readable,
)
from grader.engine.worker.process import TRACE, WorkerConfig
from grader.errors import MachineFault

__all__ = ["ENDING_S", "TRACE", "WorkerConfig", "Zygote"]

_answers = frames.Decoder(Launched | Ended | Refused)


class Zygote:
    """The grader's end: one zygote, many workers."""

    def __init__(self, link: socket.socket, pid: int | None, origin: Zygote | None = None) -> None:
        self._link = link
        self._pid = pid
        self.refused = ""
        """Why there is no such branch after all."""
        self._origin = origin
        """What a branch was split off."""
        self._asked_for: list[Zygote] = []
        """Branches of which it is not known yet whether they are there."""
        self._numbers: dict[int, int] = {}
        """A worker's process number here, and what the zygote, which may count for itself, calls it."""

    @classmethod
    def fork(cls, level: sandbox.Isolation = "full", hidden: Collection[Path] = ()) -> Zygote:
        """Split a zygote off this process. Call it when torch is imported and no answer is.

        Its workers reach `level` at most, and what is `hidden` they cannot read.
        """
        view = sandbox.python_view(hidden)
        _ = view.siblings  # found out once, for all workers; it may refuse
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        pid = os.fork()
        if pid == 0:
            ours.close()
            # From here the two processes have nothing in common but this link: the zygote never sees what the
            # grader imports next.
            become_fork_server(theirs, level, view)
        theirs.close()
        return cls(ours, pid)

    def branch(self, part: str | TakenAway) -> Zygote:
        """Return a zygote that has imported a module as well, or lacks what a kata excludes, for its workers alone.

        Close the branch before this one.

        Raises:
            MachineFault: the zygote is gone.
        """
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            frames.send_packet(self._link, Branch(part), [theirs.fileno()])
        except OSError as error:
            ours.close()
            raise self._gone(error) from error
        finally:
            theirs.close()
        # No pid of its own here: the zygote forks it, and answers for it.
        branch = Zygote(ours, None, self)
        # It is not waited for: a zygote takes a while to get ready itself.
        self._asked_for.append(branch)
        return branch

    def _hear_of_branches(self) -> None:
        """Hear what became of the branches that were asked for: the zygote answers one message after the other."""
        while self._asked_for:
            answer = self._hear()
            branch = self._asked_for.pop(0)
            if not isinstance(answer, Launched):
                branch.refused = answer.reason if isinstance(answer, Refused) else str(answer)
                branch.close()

    def _hear(self) -> Launched | Ended | Refused:
        try:
            answer: Launched | Ended | Refused = _answers.decode(frames.receive_packet(self._link, 0)[0])
        except (OSError, msgspec.DecodeError) as error:
            raise self._gone(error) from error
        return answer

    def launch(self, job: WorkerConfig, channel: socket.socket, output: int, audit: int) -> tuple[int, int]:
        """Start a worker.

        It answers on `channel`, prints to `output`, and writes to `audit` what it used that its kata excludes.

        Returns:
            Its process number here, and a pidfd, which is the caller's to close.

        Raises:
            MachineFault: the zygote is gone, or it could not.
        """
        if self._origin is not None:
            # Only the zygote that forked a branch hears that it could not.
            self._origin._hear_of_branches()
        if self.refused:
            raise MachineFault(f"No process could be started for a kata's workers: {self.refused}.")
        self._hear_of_branches()
        try:
            # As descriptors: the far ends are never named in any file system.
            frames.send_packet(self._link, Launch(job), [channel.fileno(), output, audit])
            data, descriptors = frames.receive_packet(self._link, 1)
            answer = _answers.decode(data)
        except (OSError, msgspec.DecodeError) as error:
            raise self._gone(error) from error
        if not isinstance(answer, Launched):
            reason = answer.reason if isinstance(answer, Refused) else str(answer)
            raise MachineFault(f"No worker could be started: {reason}.")
        pid = _number_here(descriptors)
        if pid is None:
            # Its number over there may be anybody's here: nothing is ever sent to that one.
            for number in descriptors:
                os.close(number)
            self._reap(Reap(answer.pid, 0.0))
            raise MachineFault(
                "No worker could be started: /proc does not show it, or no more files can be opened.",
                "Mount /proc, and raise ulimit -n.",
            )
        # Two numbers of one process: ours is that of the machine, the zygote's that of its pid namespace.
        self._numbers[pid] = answer.pid
        return pid, descriptors[0]

    def reap(self, pid: int, patience_s: float) -> int | None:
        """Return a worker's exit code (negative: the signal), or None when it had to be killed.

        Raises:
            MachineFault: the zygote is gone: how the worker ended says nothing of the submission.
        """
        return self._reap(Reap(self._numbers.pop(pid, pid), patience_s))

    def _reap(self, request: Reap) -> int | None:
        self._hear_of_branches()
        try:
            # One message, one answer: what branches have to say is heard before, or it would be taken for
            # this answer.
            frames.send_packet(self._link, request)
        except OSError as error:
            raise self._gone(error) from error
        answer = self._hear()
        return answer.code if isinstance(answer, Ended) else None

    @staticmethod
    def _gone(error: Exception) -> MachineFault:
        why = error.strerror if isinstance(error, OSError) and error.strerror else "it hung up"
        return MachineFault(f"The process that starts workers is gone ({why}).")

    def close(self) -> None:
        """Let the zygote end; it takes its workers along."""
        self._link.close()
        if self._pid is None:  # a branch is waited for by the zygote that it was split off
            return
        with contextlib.suppress(OSError):
            pidfd = os.pidfd_open(self._pid)
            try:
                if not readable(pidfd, ENDING_S):  # somebody stopped it
                    os.kill(self._pid, signal.SIGKILL)
            finally:
                os.close(pidfd)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self._pid, 0)


def _number_here(descriptors: list[int]) -> int | None:
    """Return the process number that a pidfd stands for; None without one: what killpg(2) takes for 0 is ourselves."""
    if not descriptors:
        return None
    try:
        pid = sandbox.visible_pid(descriptors[0])
    except OSError:
        return None
    # 0 would be this process's own group, and 1 is the machine's first process.
    return pid if pid > 1 else None
