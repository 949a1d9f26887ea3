"""The command's end: has the warm process run a command as this process would, or says that it is not to be had.

Imported by every command that could be had warm, so it imports next to nothing: no torch, no click, no engine.
"""

from __future__ import annotations

import os
import signal
import socket
import sys

from grader.standby import messages, place

TYPE_CHECKING = False  # `typing` takes longer than all the rest
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import TextIO

COMMANDS = frozenset({"check", "try", "demo"})
"""What imports torch, once. `watch` keeps it anyway, and no marks are made by a process that stands by."""
PATIENCE_S = 0.5
"""How long the warm process may take to answer the door: one that does not is stuck, or stopped."""
START_S = 3.0
"""How long it may take to look whether its code is still what lies on the disk, and to fork."""
INTERRUPTED = 130
_FORWARDED = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGWINCH")


def run(arguments: list[str]) -> int | None:
    """Have a command run by the warm process and return its exit code; None where it is to be run here, the cold way.

    Whatever is odd means the latter, without a word: up to the moment at which the other process is told to go on,
    nothing has happened.
    """
    if sys.platform != "linux" or not is_warm(arguments):
        return None
    try:
        looks = _own_streams()
        begun = _begin([sys.argv[0], *arguments], (0, 1, 2), looks, os.environb, place.facts())
        return None if begun is None else _follow(begun)
    except (OSError, ValueError, AttributeError, place.Odd):
        return None


class Begun:
    """A command that the warm process runs for this one."""

    def __init__(self, link: socket.socket, process: int) -> None:
        self.link, self.process = link, process

    def send(self, number: int) -> bool:
        """Send it a signal; return whether it still runs."""
        try:
            signal.pidfd_send_signal(self.process, number)
        except ProcessLookupError:
            return False
        return True

    def interrupt(self) -> None:
        """Interrupt it, as Ctrl-C does."""
        self.send(signal.SIGINT)

    def ended(self) -> tuple[bytes, int]:
        """Wait for its end and return how it ended: `CODE` with a code, or `SIGNAL` with a number."""
        try:
            kind, number = messages.unpack(self.link.recv(messages.MAX_BYTES))[0]
            return kind, int(number)
        except (OSError, ValueError):  # it ended, and so did the process that would have said how
            return messages.CODE, 3

    def wait(self) -> None:
        """Wait for its end, and let go of it."""
        self.ended()
        self.close()

    def close(self) -> None:
        """Let go of it: it is ended where it has not."""
        self.link.close()
        os.close(self.process)


def begin(arguments: list[str], streams: Sequence[int], environment: Mapping[str, str]) -> Begun | None:
    """Have the warm process run a command on streams that are not this process's own; None where there is none.

    For a process that lives on, such as a notebook's kernel: it is the one that `interpreter.command` would start.

    Args:
        arguments: the command and its arguments.
        streams: the descriptors that it has as stdin, stdout and stderr.
        environment: its variables.
    """
    if sys.platform != "linux" or not is_warm(arguments):
        return None
    looks = [
        [b"utf-8", b"strict", b"00"],
        [b"utf-8", b"strict", b"00"],
        [b"utf-8", b"backslashreplace", b"10"],
    ]
    variables = {os.fsencode(key): os.fsencode(value) for key, value in environment.items()}
    try:
        begun = _begin(["kata", *arguments], streams, looks, variables, place.facts(isolated=True))
    except (OSError, ValueError, place.Odd):
        return None
    if begun is not None:
        try:
            begun.link.send(messages.GO)
        except OSError:
            begun.close()
            return None
    return begun


def is_warm(arguments: list[str]) -> bool:
    """Return whether this is a command that a warm process may run, and there may be one."""
    if not arguments or arguments[0] not in COMMANDS or not place.wanted():
        return False
    # Descriptors beyond the three streams are not carried over, and these name some: `kata check <(…)`.
    return not any(part in argument for argument in arguments for part in ("/dev/fd", "/proc/"))


def ask(path: str, question: bytes) -> list[bytes]:
    """Ask a warm process something other than a run.

    Raises:
        Odd: it is not ours, or answers nothing of that kind.
        OSError: there is none.
    """
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as link:
        _connect(link, path)
        link.send(messages.pack([question]))
        link.settimeout(START_S)
        try:
            return messages.unpack(link.recv(messages.MAX_BYTES))[0]
        except (ValueError, IndexError) as error:
            raise place.Odd(path) from error


def _connect(link: socket.socket, path: str) -> None:
    link.settimeout(PATIENCE_S)
    link.connect(path)
    if not place.is_own(link) or link.recv(messages.MAX_BYTES) != messages.READY:
        raise place.Odd(path)


def _begin(
    words: list[str],
    streams: Sequence[int],
    looks: list[list[bytes]],
    variables: Mapping[bytes, bytes],
    facts: str,
) -> Begun | None:
    """Ask for a command to be run; it waits for `GO`. None where the warm process will not."""
    mask = os.umask(0)
    os.umask(mask)
    ignored = [name for name in messages.SIGNALS if _disposition(name) is signal.SIG_IGN]
    request = messages.pack(
        [messages.RUN],
        [os.fsencode(word) for word in words],
        [key + b"=" + value for key, value in variables.items()],
        [facts.encode("utf-8", "surrogateescape")],
        [b"%o" % mask],
        [name.encode() for name in ignored],
        *looks,
    )
    link = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    try:
        _connect(link, os.path.join(place.root(), place.name(facts), place.SOCKET))
        folder = os.open(".", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            socket.send_fds(link, [request], [*streams, folder])
        finally:
            os.close(folder)
        link.settimeout(START_S)
        answer, descriptors, _, _ = socket.recv_fds(link, messages.MAX_BYTES, 1)
        if answer == messages.STARTED and len(descriptors) == 1:
            link.settimeout(None)
            return Begun(link, descriptors[0])
    except BaseException:
        link.close()
        raise
    link.close()
    return None


def _own_streams() -> list[list[bytes]]:
    """Return what this process's streams look like.

    Raises:
        Odd: they are not where they are usually.
        AttributeError: one is closed.
    """
    streams = (sys.stdin, sys.stdout, sys.stderr)
    if [stream.fileno() for stream in streams] != [0, 1, 2]:
        raise place.Odd("streams")
    return [_looks(stream) for stream in streams]


def _looks(stream: TextIO) -> list[bytes]:
    """Return what else makes a stream than its descriptor: Python went by the variables of this process."""
    flags = (stream.line_buffering, getattr(stream, "write_through", False))
    return [stream.encoding.encode(), (stream.errors or "strict").encode(), b"%d%d" % flags]


def _disposition(name: str) -> object:
    return signal.getsignal(getattr(signal, name))


def _follow(begun: Begun) -> int:
    """Let the other process go on, hand signals over, and return its exit code; end as it does."""

    def forward(number: int, frame: object) -> None:
        if not begun.send(
            number
        ):  # it has just ended, so the signal is for what is left of the command: this process
            if number == signal.SIGINT:
                os._exit(INTERRUPTED)
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)

    def stop(number: int, frame: object) -> None:
        begun.send(signal.SIGSTOP)  # in a session of its own SIGTSTP would stop nothing
        os.kill(os.getpid(), signal.SIGSTOP)
        begun.send(signal.SIGCONT)

    for name in _FORWARDED:
        if _disposition(name) is not signal.SIG_IGN:
            signal.signal(getattr(signal, name), forward)
    if _disposition("SIGTSTP") is not signal.SIG_IGN:
        signal.signal(signal.SIGTSTP, stop)
    begun.link.send(messages.GO)
    kind, number = begun.ended()
    if kind == messages.SIGNAL:
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    return number
