"""The warm process: it stands by with all that is slow to import, and forks a process for every request.

It holds the interpreter, torch and the engine, and of a pack nothing: checks, stubs and lessons are read anew by the
process that was forked for a request, as the cold way reads them. Nothing that a request brings stays behind.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import gc
import importlib
import io
import os
import select
import signal
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn

from grader import malloc
from grader.standby import contents, messages, place

IDLE_S = 20 * 60.0
"""After so long without a request it ends."""
MAX_BYTES = 600 << 20
"""Beyond so much resident memory it ends; it takes half of that, and nothing lets it grow."""
MOST = 8
"""So many requests at a time; whoever comes then goes the cold way."""
PATIENCE_S = 0.5
"""How long an answer may wait for its reader."""
ASKING_S = 2.0
"""How long one who has connected may take to say what for."""


@dataclass
class _Asking:
    """Somebody who has connected."""

    link: socket.socket
    until: float


@dataclass
class _Running:
    """A request that is being run, and who waits for it."""

    link: socket.socket
    pid: int
    pidfd: int


class RequestEnded(Exception):
    """It is time to go."""


class Server:
    """Answers until it is idle, too large, out of date or told to end."""

    def __init__(self, folder: str, facts: str, code: bytes, command: Callable[[], object]) -> None:
        self._path = os.path.join(folder, place.SOCKET)
        self._facts = facts.encode("utf-8", "surrogateescape")
        self._code = code
        self._command = command
        self._asking: dict[int, _Asking] = {}
        self._running: dict[int, _Running] = {}
        self._served = 0
        self._began = self._last = time.monotonic()
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._path)  # left behind by one that was killed: we hold the lock
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET | socket.SOCK_NONBLOCK)
        self._listener.bind(self._path)
        self._inode = os.lstat(self._path).st_ino
        self._listener.listen(MOST)
        self._poll = select.poll()
        self._poll.register(self._listener, select.POLLIN)

    def serve(self) -> None:
        """Answer until it is time to go; then nothing can be found any more."""
        try:
            while True:
                self._wait()
        except RequestEnded:
            pass
        finally:
            self._leave()

    def _wait(self) -> None:
        until = min((one.until for one in self._asking.values()), default=self._last + IDLE_S)
        patience = None if self._running and not self._asking else max(until - time.monotonic(), 0.0) * 1000
        for number, _ in self._poll.poll(patience):
            if number == self._listener.fileno():
                self._meet()
            elif number in self._asking:
                self._answer(self._asking.pop(number))
            elif number in self._running:
                self._collect(self._running[number])
        now = time.monotonic()
        for number, one in list(self._asking.items()):
            if one.until <= now:
                del self._asking[number]
                self._drop(one.link)
        if self._running or self._asking:
            return
        if now >= self._last + IDLE_S or _resident_bytes() > MAX_BYTES or not self._is_found():
            raise RequestEnded

    def _is_found(self) -> bool:
        """Return whether whoever looks for a warm process comes upon this one."""
        try:
            return os.lstat(self._path).st_ino == self._inode
        except OSError:
            return False

    def _leave(self) -> None:
        if self._is_found():
            with contextlib.suppress(OSError):
                os.unlink(self._path)

    def _meet(self) -> None:
        with contextlib.suppress(OSError):
            link, _ = self._listener.accept()
            if not place.is_own(link) or len(self._asking) >= MOST:
                link.close()
                return
            link.settimeout(PATIENCE_S)
            link.send(messages.READY)
            self._asking[link.fileno()] = _Asking(link, time.monotonic() + ASKING_S)
            self._poll.register(link, select.POLLIN)

    def _drop(self, link: socket.socket) -> None:
        self._poll.unregister(link)
        link.close()

    def _answer(self, one: _Asking) -> None:
        link, descriptors = one.link, list[int]()
        self._poll.unregister(link)
        try:
            packet, descriptors, _, _ = socket.recv_fds(link, messages.MAX_BYTES, 4)
            lists = messages.unpack(packet)
            verb = lists[0][0]
            if verb == messages.STATUS:
                link.send(messages.pack(self._told()))
            elif verb == messages.END:
                self._leave()  # before the answer: who reads it may start another
                link.send(messages.pack([messages.END]))
                raise RequestEnded
            elif verb == messages.RUN:
                self._run(link, lists, descriptors)
                return
            link.close()
        except (OSError, ValueError, IndexError):
            link.close()
        finally:
            for number in descriptors:
                os.close(number)

    def _told(self) -> list[bytes]:
        now = time.monotonic()
        figures = (
            os.getpid(),
            _resident_bytes(),
            int(now - self._began),
            int(now - self._last),
            self._served,
            len(self._running) // 2,  # each under two descriptors
        )
        return [b"%d" % figure for figure in figures]

    def _run(self, link: socket.socket, lists: list[list[bytes]], descriptors: list[int]) -> None:
        self._last = time.monotonic()
        refusal = self._refusal(lists, descriptors)
        if refusal:
            with contextlib.suppress(OSError):
                link.send(refusal)
            link.close()
            if refusal == messages.STALE:
                raise RequestEnded
            return
        pid = os.fork()
        if pid == 0:
            self._become(link, lists, descriptors)
        try:
            pidfd = os.pidfd_open(pid)
            socket.send_fds(link, [messages.STARTED], [pidfd])
        except OSError:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            link.close()
            return
        self._served += 1
        one = _Running(link, pid, pidfd)
        self._running[pidfd] = self._running[link.fileno()] = one
        self._poll.register(pidfd, select.POLLIN)
        self._poll.register(
            link, 0
        )  # only whether it is hung up: what is said on it is for the other process

    def _refusal(self, lists: list[list[bytes]], descriptors: list[int]) -> bytes:
        if len(lists) != 9 or len(descriptors) != 4 or lists[3] != [self._facts]:
            return messages.DIFFERENT
        if len(self._running) >= 2 * MOST:
            return messages.BUSY
        try:
            return b"" if contents.digest() == self._code else messages.STALE
        except OSError:
            return messages.STALE

    def _collect(self, one: _Running) -> None:
        """The process has ended, or who waited for it has: then nobody wants it any more."""
        if not _is_readable(one.pidfd):
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(one.pidfd, signal.SIGKILL)
        _, status = os.waitpid(one.pid, 0)
        code = os.waitstatus_to_exitcode(status)
        if code < 0:
            with contextlib.suppress(OSError):
                one.link.send(messages.pack([messages.SIGNAL, b"%d" % -code]))
        for number in (one.pidfd, one.link.fileno()):
            self._poll.unregister(number)
            del self._running[number]
        os.close(one.pidfd)
        one.link.close()
        self._last = time.monotonic()

    # In the process that was forked ---------------------------------------------------------------------------------

    def _become(self, link: socket.socket, lists: list[list[bytes]], descriptors: list[int]) -> NoReturn:
        """Become the process that the client would have been, run its command, and tell the exit code."""
        code = 3
        try:
            self._listener.close()
            for number in {one.link.fileno() for one in self._running.values()} | self._running.keys():
                os.close(number)
            for other in self._asking.values():
                other.link.close()
            os.setpgid(0, 0)  # it is signalled through its client, and alone
            _take_over(lists, descriptors)
            link.settimeout(None)
            if link.recv(messages.MAX_BYTES) != messages.GO:  # the client has gone the cold way
                os._exit(0)
            code = _exit_code_of(self._command)
            with contextlib.suppress(OSError):
                link.send(messages.pack([messages.CODE, b"%d" % code]))
        finally:
            os._exit(code & 0xFF)


def stand_by(root: str, asked: str, command: Callable[[], object], modules: Callable[[], None]) -> None:
    """Stand by for those who look for a warm process under this name; return at once where another does.

    Args:
        root: what `place.root` said to who started this.
        asked: what `place.name` called it. Where this process turns out to be another one, nobody would find it.
        command: runs the command line of `sys.argv`.
        modules: imports all that is slow.
    """
    try:
        facts = place.facts()
        if place.name(facts) != asked:
            return
        folder = place.private(os.path.join(place.private(root), asked))
        lock = os.open(
            os.path.join(folder, place.LOCK), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600
        )
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        before = contents.digest()
        gc.disable()
        modules()
        gc.collect()
        gc.freeze()  # a collection in a forked process would write to, and so copy, all of this
        gc.enable()
        # A fork takes along the thread that calls it, and no other: a lock that one of these held would stay held.
        if threading.active_count() > 1 or len(os.listdir("/proc/self/task")) > 1:
            return
        if contents.digest() != before:  # edited while it was imported
            return
        malloc.give_back()
        malloc.gather_memory()
        server = Server(folder, facts, before, command)
    except (OSError, place.Odd):
        return
    signal.signal(signal.SIGTERM, _told_to_end)
    server.serve()


def _told_to_end(number: int, frame: object) -> None:
    raise RequestEnded


def _resident_bytes() -> int:
    """Return this process's resident memory, shared libraries among it."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _is_readable(number: int) -> bool:
    poll = select.poll()
    poll.register(number, select.POLLIN)
    return bool(poll.poll(0))


def _take_over(lists: list[list[bytes]], descriptors: list[int]) -> None:
    """Be what the client is: its folder, streams, variables, arguments, signals."""
    _, words, variables, _, mask, ignored, *looks = lists
    os.fchdir(descriptors[3])
    for number, descriptor in enumerate(descriptors[:3]):
        os.dup2(descriptor, number)
    for descriptor in descriptors:
        os.close(descriptor)
    os.umask(int(mask[0], 8))
    for key in list(os.environb):
        del os.environb[key]
    for variable in variables:
        key, _, value = variable.partition(b"=")
        os.environb[key] = value
    time.tzset()
    sys.argv[:] = [os.fsdecode(word) for word in words]
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        made = _stream(number, looks[number])
        setattr(sys, name, made)
        setattr(sys, f"__{name}__", made)
    for signal_name in messages.SIGNALS:  # whoever left the warm process behind may have been ignoring others
        usual = signal.default_int_handler if signal_name == "SIGINT" else signal.SIG_DFL
        as_told = signal.SIG_IGN if signal_name.encode() in ignored else usual
        signal.signal(getattr(signal, signal_name), as_told)
    importlib.invalidate_caches()  # they go by times
    tempfile.tempdir = None  # looked up by what was imported, in other variables


def _stream(number: int, looks: list[bytes]) -> io.TextIOWrapper:
    """Return a standard stream as Python makes it at its start."""
    encoding, errors, flags = (look.decode() for look in looks)
    raw = open(number, "rb" if number == 0 else "wb", buffering=0, closefd=False)  # noqa: SIM115 - lives as long as we do
    through = flags[1] == "1"
    buffer = io.BufferedReader(raw) if number == 0 else raw if through else io.BufferedWriter(raw)
    stream = io.TextIOWrapper(
        buffer,
        encoding=encoding,
        errors=errors,
        newline="\n",
        line_buffering=flags[0] == "1",
        write_through=through,
    )
    vars(stream)["mode"] = "r" if number == 0 else "w"
    return stream


def _report() -> None:
    kind, error, trace = sys.exc_info()
    if kind is not None and error is not None:
        sys.excepthook(kind, error, trace)


def _exit_code_of(command: Callable[[], object]) -> int:
    """Run the command and end as the interpreter would: threads joined, what was registered called, all flushed."""
    code: object = 0
    try:
        command()
    except SystemExit as end:
        code = 0 if end.code is None else end.code
        if not isinstance(code, int):
            print(code, file=sys.stderr)
            code = 1
    except KeyboardInterrupt:
        _report()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    except BaseException:
        _report()
        code = 1
    threading._shutdown()  # type: ignore[attr-defined]  # what the interpreter does first at its end (3.11 to 3.14)
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        code = 120
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.flush()
    return int(code)  # type: ignore[call-overload,no-any-return]
