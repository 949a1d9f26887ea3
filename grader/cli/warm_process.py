"""The warm process: a daemon that has torch imported, and forks to run the next `kata check` at once.

`run` and `begin` are its clients, `spawner` starts it after a command that had to import torch, `main` is the daemon.
It listens on a socket in a folder of mode 0700; both sides ask the kernel whose the other is. Client and daemon have
three facts in common: the executable, the digest of what is installed, and the environment in which torch was loaded.
Of a pack or a submission the daemon holds nothing: what is forked for a request reads them, as a cold start does.

Every `kata check` imports this, so the top of the file imports next to nothing: no torch, no click, no `typing`.
"""

from __future__ import annotations

import marshal
import os
import signal
import socket
import stat
import struct
import sys
import zlib
from contextlib import suppress

from grader import interpreter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

COMMANDS = frozenset({"check", "try", "demo", "questions"})
"""What imports torch, once. `watch` keeps it anyway, and no marks are made by a warm process."""
SWITCH = "KATA_WARM"
IDLE_S = 20 * 60.0
"""After so long without a request the daemon ends."""
MOST = 8
"""So many requests at a time; the next client starts cold."""
PATIENCE_S, START_S = 0.5, 3.0
"""How long either waits for the other, and how long a client waits for the fork: before it, digests are compared."""
MAX_BYTES = 1 << 20
READY, STARTED, GO = b"ready", b"started", b"go"
"""READY comes first: streams that were sent to a stopped daemon would stay open. With STARTED comes a pidfd of what was
forked, which waits for GO: until then the client may still start cold."""
_FORWARDED = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGWINCH", "SIGTSTP")
_AT_IMPORT = (
    *("LANG", "TZ", "LC_", "LD_", "GLIBC_", "MALLOC_", "OMP_", "MKL_", "KMP_", "OPENBLAS_", "NUMEXPR_"),
    *("VECLIB_", "GOMP_", "ATEN_", "DNNL_", "ONEDNN_", "TORCH", "PYTORCH_", "TRITON_", "CUDA_", "NVIDIA_"),
    *("HIP_", "ROCR_"),
)
"""How variables begin that the C library, numpy or torch read while they are loaded."""
_HARMLESS = (
    *("PYTHONPATH", "PYTHONSAFEPATH", "PYTHONNOUSERSITE", "PYTHONDONTWRITEBYTECODE"),
    *("PYTHONPYCACHEPREFIX", "PYTHONUNBUFFERED", "PYTHONSTARTUP"),
)
"""Python's variables that change nothing of what is printed, or show in the search path."""
_IMPORTED = (
    *("torch", "torch._dynamo", "torch.nn.attention.flex_attention"),  # which some packs preload
    *(
        "grader.cli.main",
        "grader.cli.learner.check",
        "grader.cli.learner.try_",
        "grader.cli.learner.demo",
        "grader.engine.host.launcher",
    ),
    *("grader.engine.runner.suite", "grader.engine.runner.failure_context"),
    *("grader.report.terminal", "grader.report.json_text"),
)
"""What takes long; of the engine nothing that knows a pack."""


def wanted() -> bool:
    """Return whether there may be a warm process: on Linux, unless `KATA_WARM` is 0 or `CI` is set."""
    return sys.platform == "linux" and os.environ.get(SWITCH) != "0" and not os.environ.get("CI")


def is_warm(arguments: Sequence[str]) -> bool:
    """Return whether this is a command that a warm process may run, and there may be one."""
    if not arguments or arguments[0] not in COMMANDS or not wanted():
        return False
    # Descriptors beyond the three streams are not carried over, and these name some: `kata check <(…)`.
    return not any(part in argument for argument in arguments for part in ("/dev/fd", "/proc/"))


def facts() -> str:
    """Return what client and daemon have in common, but for the digest: only the daemon takes the time for that."""
    # There is no call that reads it without setting it.
    mask = os.umask(0o077)
    os.umask(mask)
    # A container may share the folder of the socket, and none of the files that a request names.
    namespaces = [os.readlink(f"/proc/self/ns/{name}") for name in ("mnt", "pid", "user", "net")]
    python = (interpreter.program(), sys.version, str(sys.flags.utf8_mode), *interpreter.search_path())
    return "\n".join((*python, *sorted(map("=".join, _variables().items())), *namespaces, oct(mask)))


def _variables() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name.startswith(_AT_IMPORT)}


def _folder(known: str | None = None) -> str:
    """Return the folder of this user's daemons, or of the one with these facts."""
    folder = os.environ.get("XDG_RUNTIME_DIR", "")
    if os.path.isabs(folder) and _is_private(folder):
        folder = os.path.join(folder, "kata")
    else:  # by hand: `import tempfile` takes longer than all the rest
        folder = os.path.join(os.environ.get("TMPDIR") or "/tmp", f"kata-warm-{os.geteuid()}")
    name = "" if known is None else f"{zlib.crc32(known.encode('utf-8', 'surrogateescape')):08x}"
    return os.path.join(_private(folder), name)


def _private(folder: str) -> str:
    """Return a folder that is this user's alone, made where it is not there; else raise PermissionError."""
    if not os.path.lexists(folder):
        os.mkdir(folder, 0o700)
    if not _is_private(folder):
        raise PermissionError(folder)
    return folder


def _is_private(folder: str) -> bool:
    with suppress(OSError):
        # lstat: a link in its place would lead into a folder that somebody else chose.
        status = os.lstat(folder)
        return (status.st_uid, status.st_mode) == (os.geteuid(), stat.S_IFDIR | 0o700)
    return False


def _is_own(link: socket.socket) -> bool:
    """Return whether the other end is this user's, by `struct ucred`: process, user, group."""
    ids = struct.unpack("3i", link.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i")))
    return int(ids[1]) == os.geteuid()


class Running:
    """A command that was forked for this process."""

    def __init__(self, link: socket.socket, process: int) -> None:
        self._link, self._process = link, process

    def send(self, number: int) -> None:
        """Send it a signal; nothing if it has ended."""
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._process, number)

    def wait(self) -> int:
        """Wait for its end, and return its exit code: negative where a signal ended it."""
        try:
            return int(self._link.recv(MAX_BYTES))
        except (OSError, ValueError):  # the daemon has ended as well, and nobody can tell how
            return 3
        finally:
            self._link.close()
            os.close(self._process)


def run(arguments: Sequence[str]) -> int | None:
    """Have a command run and return its exit code, or end as it did; None where it has to be run here."""
    # Options of the interpreter hold for this process: another one would run without them.
    unusual = sys.warnoptions or sys._xoptions or None in (sys.stdin, sys.stdout, sys.stderr)
    if not sys.flags.ignore_environment:
        unusual = unusual or any(name[:6] == "PYTHON" and name not in _HARMLESS for name in os.environ)
    running = None if unusual or not is_warm(arguments) else _ask(sys.argv, (0, 1, 2), os.environ)
    code = None if running is None else running.wait()
    if code is not None and code < 0:
        if -code != signal.SIGKILL:
            # Ended by a signal, so that a shell sees the same as in a cold start.
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    return code


def begin(arguments: Sequence[str], streams: Sequence[int], environment: Mapping[str, str]) -> Running | None:
    """Have a command run on other streams than this process's own, as a notebook's kernel does; None: start it cold."""
    return _ask(["kata", *arguments], streams, environment) if is_warm(arguments) else None


def _ask(words: list[str], streams: Sequence[int], variables: Mapping[str, str]) -> Running | None:
    link = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with suppress(OSError, ValueError):  # whatever is unusual is a reason to start cold
        known = facts()
        _connect(link, os.path.join(_folder(known), "socket"))
        # As a descriptor, not as a path: the folder may have been renamed, or be out of sight of the daemon's
        # mounts.
        here = os.open(".", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            socket.send_fds(link, [marshal.dumps((known, words, dict(variables)))], [*streams, here])
        finally:
            os.close(here)
        answer, descriptors, _, _ = socket.recv_fds(link, MAX_BYTES, 1)
        if answer == STARTED and len(descriptors) == 1:
            link.settimeout(None)
            running = Running(link, descriptors[0])
            if streams == (0, 1, 2):
                _forward_signals(running)
            # Last, when nothing can fail here any more: a process that ran without us would answer nobody.
            link.send(GO)
            return running
    link.close()
    return None


def _connect(link: socket.socket, path: str) -> None:
    link.settimeout(PATIENCE_S)
    link.connect(path)
    # Before anything is sent: it will have our streams.
    if not _is_own(link) or link.recv(MAX_BYTES) != READY:
        raise PermissionError(path)
    link.settimeout(START_S)


def _forward_signals(running: Running) -> None:
    """Hand on what a terminal sends: the other process is in another session, where Ctrl-C does not arrive."""

    def forward(number: int, frame: object) -> None:
        running.send(signal.SIGSTOP if number == signal.SIGTSTP else number)
        if number == signal.SIGTSTP:
            os.kill(os.getpid(), signal.SIGSTOP)
            running.send(signal.SIGCONT)

    for number in [getattr(signal, name) for name in _FORWARDED]:
        if signal.getsignal(number) is not signal.SIG_IGN:  # as under `nohup`: it reaches neither of the two
            signal.signal(number, forward)


class WarmProcess:
    """A daemon that answered."""

    def __init__(self, path: str, figures: Iterable[int]) -> None:
        self.path = path
        self.pid, self.resident_bytes, self.idle_s, self.served, self.running = figures


def running_daemons() -> list[WarmProcess]:
    """Return every warm process of this user that answers."""
    found, paths = [], list[str]()
    with suppress(OSError):
        paths = [os.path.join(_folder(), name, "socket") for name in sorted(os.listdir(_folder()))]
    for path in paths:
        link = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with link, suppress(OSError, ValueError, EOFError, TypeError):
            _connect(link, path)
            link.send(marshal.dumps(None))
            found.append(WarmProcess(path, marshal.loads(link.recv(MAX_BYTES))))
    return found


def end_all() -> list[int]:
    """End every warm process of this user, and return their numbers when they are gone; what they run goes on."""
    import time

    ended = [process.pid for process in running_daemons()]
    for pid in ended:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
    until = time.monotonic() + 5.0
    # Not its children, so that it cannot be waited for.
    while any(os.path.exists(f"/proc/{pid}") for pid in ended) and time.monotonic() < until:
        time.sleep(0.005)
    return ended


def spawner() -> Callable[[], None]:
    """Return what starts a daemon for the next command, if torch has been imported by then, and does not wait for it.

    It is a fresh interpreter, not a fork of this one, which will have seen a pack's checks and a worker's answers.
    """
    # What it is to be like is noted now: a command changes variables.
    known, variables = facts(), {**interpreter.environment(), **_variables()}

    def spawn() -> None:
        # A command that had no use for torch gains nothing by a process that holds it.
        if "torch" not in sys.modules:
            return
        from pathlib import Path
        from subprocess import DEVNULL

        from grader.errors import KataError

        streams: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), DEVNULL)
        with suppress(OSError, KataError):
            folder = _private(_folder(known))
            empty = Path(_private(os.path.join(folder, "empty")))
            interpreter.start(
                __name__, [folder], empty, variables=variables, start_new_session=True, **streams
            )

    return spawn


def main() -> None:
    """Stand by in the folder of the first argument, until idle for long, out of date, or told to end."""
    import fcntl
    import weakref

    folder, known = sys.argv[1], facts()
    if os.path.basename(folder) != os.path.basename(_folder(known)):  # no client would find it
        return
    # A lock by the kernel, given up with the process, however that ends: a file of a number would outlive it.
    lock = os.open(os.path.join(folder, "lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    with suppress(BlockingIOError):  # another one stands by, or is about to
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        digest = _digest()
        _import()
        # No command takes apart at its end what was imported before the fork: torch's operators alone take 45 ms.
        for finalizer in weakref.finalize._registry:  # type: ignore[attr-defined]
            finalizer.atexit = False
        # A fork takes along the thread that calls it, and no other: a lock that one of these held would stay held.
        # And sources that were edited meanwhile may have been imported as they were or as they are.
        if len(os.listdir("/proc/self/task")) == 1 and _digest() == digest:
            _Daemon(os.path.join(folder, "socket"), known, digest).serve()


def _digest() -> bytes:
    """Return a digest of the engine's sources and of what is installed: of contents, since times can be equal."""
    from glob import escape, iglob
    from hashlib import blake2b

    # Escaped, as a folder called `[old]` would match something else.
    own = escape(os.path.dirname(os.path.dirname(__file__)))
    files = [file for file in iglob(f"{own}/**/*.py", recursive=True) if "/_katas/" not in file]
    # Of a package its RECORD is read, in which installers write a digest of each file: reading the files
    # themselves, gigabytes of torch, would take longer than importing them.
    for folder in map(escape, interpreter.search_path()):
        files += [*iglob(f"{folder}/*.dist-info/RECORD"), *iglob(f"{folder}/*.pth")]
    found = blake2b(digest_size=16)
    for path in sorted(files):
        with open(path, "rb") as file:
            content = file.read()
        found.update(b"%s\0%d\0%s" % (os.fsencode(path), len(content), content))
    return found.digest()


def _import() -> None:
    import gc
    import importlib

    from grader import malloc
    from grader.engine import sandbox
    from grader.errors import KataError

    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # no thread may exist when this process forks
    os.environ.setdefault("PYTORCH_NVML_BASED_CUDA_CHECK", "1")  # a driver does not survive a fork
    gc.disable()  # importing makes many objects and no garbage
    for name in _IMPORTED:
        with suppress(ImportError):  # one of torch's that this version lacks
            importlib.import_module(name)
    with suppress(KataError):  # the next command says so
        sandbox.offered()  # which remembers
    gc.collect()
    gc.freeze()  # a collection in a forked process would write to, and so copy, all of this
    gc.enable()
    malloc.trim()
    malloc.gather_memory()


class _Daemon:
    """Listens on a socket, and forks a process for each request."""

    def __init__(self, path: str, known: str, digest: bytes) -> None:
        import select
        import time

        self._path, self._known, self._digest = path, known, digest
        self._running: dict[int, tuple[int, int, socket.socket]] = {}
        """What was forked: number, pidfd, link to its client; there under both descriptors."""
        self._served, self._clock = 0, time.monotonic
        self._last = self._clock()
        with suppress(FileNotFoundError):
            os.unlink(path)  # left by one that has ended: this process holds the lock
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._listener.bind(path)
        self._inode = os.lstat(path).st_ino
        self._listener.listen(MOST)
        self._poll = select.poll()
        self._poll.register(self._listener, select.POLLIN)

    def serve(self) -> None:
        """Answer until nobody has asked for long, or the socket is not there any more, or another's."""
        while self._running or (self._is_found() and self._clock() < self._last + IDLE_S):
            for number, _ in self._poll.poll(None if self._running else IDLE_S * 1000):
                if number == self._listener.fileno():
                    self._answer(self._listener.accept()[0])
                elif number in self._running:
                    self._collect(*self._running[number])

    def _is_found(self) -> bool:
        with suppress(OSError):
            return os.lstat(self._path).st_ino == self._inode
        return False

    def _answer(self, link: socket.socket) -> None:
        """Read a request, and do as it says; the other end sees the link closed where that is not done."""
        link.settimeout(PATIENCE_S)
        descriptors: list[int] = []
        with suppress(OSError, ValueError, EOFError, TypeError):
            # Asked of the kernel, since anybody may connect who reaches the folder.
            if not _is_own(link):
                raise PermissionError(self._path)
            link.send(READY)
            packet, descriptors, _, _ = socket.recv_fds(link, MAX_BYTES, 4)
            request = marshal.loads(packet)
            if request is None:
                with open("/proc/self/statm", encoding="ascii") as file:
                    resident = int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
                idle, running = int(self._clock() - self._last), len(self._running) // 2
                link.send(marshal.dumps((os.getpid(), resident, idle, self._served, running)))
            elif self._is_fit(request[0]) and len(descriptors) == 4:
                self._fork(link, descriptors, request)
        for number in descriptors:
            os.close(number)
        if link.fileno() not in self._running:
            link.close()

    def _is_fit(self, known: str) -> bool:
        self._last = self._clock()
        if _digest() != self._digest and self._is_found():
            os.unlink(self._path)  # nobody shall find what is out of date
        return known == self._known and self._is_found() and len(self._running) < 2 * MOST

    def _fork(self, link: socket.socket, descriptors: list[int], request: tuple[Any, ...]) -> None:
        pid = os.fork()
        if pid == 0:
            try:
                _become(link, descriptors, *request[1:])
            finally:
                os._exit(3)
        pidfd = os.pidfd_open(pid)
        # Under both: either its end or its client's hang-up has to be noticed, and each is a descriptor that
        # poll(2) names.
        self._running[pidfd] = self._running[link.fileno()] = (pid, pidfd, link)
        self._poll.register(pidfd)
        self._poll.register(link, 0)  # whether it is hung up: what is said on it is for the other process
        self._served += 1
        socket.send_fds(link, [STARTED], [pidfd])

    def _collect(self, pid: int, pidfd: int, link: socket.socket) -> None:
        """Let go of a process that has ended, or whose client has."""
        signal.pidfd_send_signal(pidfd, signal.SIGKILL)  # one that has ended stays as it ended
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        if code < 0:  # else it has told its exit code itself
            with suppress(OSError):
                link.send(b"%d" % code)
        for number in (pidfd, link.fileno()):
            self._poll.unregister(number)
            del self._running[number]
        os.close(pidfd)
        link.close()
        self._last = self._clock()


def _become(link: socket.socket, descriptors: list[int], words: list[str], variables: Any) -> None:
    """Be the process that the client would have been, in the one that was forked for it, and run its command."""
    import importlib
    import tempfile

    for number, name in enumerate(("stdin", "stdout", "stderr")):
        os.dup2(descriptors[number], number)
        # Encoding and errors are what Python chose by the locale, which is one of the facts.
        before, mode, buffering = getattr(sys, name), "w" if number else "r", 1 if number == 2 else -1
        stream = open(number, mode, buffering, before.encoding, before.errors, "\n", closefd=False)  # noqa: SIM115
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    os.fchdir(descriptors[3])
    os.closerange(3, link.fileno())
    os.closerange(link.fileno() + 1, 4096)
    os.setpgid(0, 0)  # it is signalled through its client, and alone
    for name in _FORWARDED:  # the daemon has inherited what its first client ignored
        signal.signal(getattr(signal, name), signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # Not a new mapping: `os.environ` writes through to the C library's variables, by which other programs are
    # started.
    os.environ.clear()
    os.environ.update(variables)
    sys.argv[:] = words
    importlib.invalidate_caches()  # they go by times
    tempfile.tempdir = None  # looked up by what was imported, in other variables
    link.settimeout(None)
    if link.recv(MAX_BYTES) == GO:  # else the client has started cold
        code = _run_command()
        with suppress(OSError):
            link.send(b"%d" % code)  # the client need not wait until this process is taken apart
        os._exit(code)


def _run_command() -> int:
    """Run the command, and end as the interpreter would: threads joined, what was registered called, all flushed."""
    import atexit
    import threading

    from grader.cli.main import main as command

    code: object = 1
    try:
        command()
    except SystemExit as end:
        code = end.code
    except BaseException:
        sys.excepthook(*sys.exc_info())
    threading._shutdown()  # type: ignore[attr-defined]  # the interpreter's first act at its end (3.11 to 3.14)
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    return code & 0xFF if isinstance(code, int) else 1


if __name__ == "__main__":
    main()
