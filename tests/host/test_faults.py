"""Faults of the machine where a worker is started: they are the machine's, and leave nothing behind."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from grader.engine import sandbox
from grader.engine.host.launcher import ForkLauncher
from grader.engine.host.session import Session
from grader.engine.host.source import Source, Terms
from grader.engine.worker import fork_server, process
from grader.errors import MachineFault

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="workers are forked on Linux only"),
]


def refused(*_: Any, **__: Any) -> Any:
    raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))


def no_more_files(*_: Any, **__: Any) -> Any:
    raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The temporary folder, which nothing else uses."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


@pytest.fixture
def start(launcher: Any, place: Path) -> Iterator[Callable[[], ForkLauncher]]:
    """Start a fork server, with whatever has been patched until then."""
    started = []

    def begin() -> ForkLauncher:
        started.append(ForkLauncher())
        return started[-1]

    yield begin
    for one in started:
        one.close()


def begin(launcher: Any) -> None:
    session = Session(launcher, Source(Path("/nowhere/answer.py"), b"x = 1\n"), Terms("answer", ()))
    try:
        session.begin(0)
    finally:
        session.close()


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


FAULTS: dict[str, tuple[Any, str, Any]] = {
    "no process can be forked": (fork_server.ForkServer, "_fork", refused),
    "no pidfd can be opened": (fork_server.os, "pidfd_open", no_more_files),
    "no descriptor arrives": (fork_server.socket, "recv_fds", None),
    "a worker cannot get ready": (process, "_prepare", refused),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_at_the_start_is_the_machines_and_leaves_nothing(
    start: Callable[[], ForkLauncher], place: Path, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    owner, name, does = FAULTS[fault]
    if does is None:
        before = fork_server.socket.recv_fds

        def does(link: Any, size: int, most: int) -> Any:
            message, descriptors, flags, address = before(link, size, most)
            for number in descriptors:
                os.close(number)
            return message, [], flags, address

    with monkeypatch.context() as patch:
        patch.setattr(owner, name, does)
        launcher = start()
    files = open_files()
    for _ in range(3):
        with pytest.raises(MachineFault):
            begin(launcher)
    assert open_files() == files
    assert not [path for path in place.iterdir() if not path.name.startswith("kata-cells-")]
    server = psutil.Process(launcher._zygote._pid)
    below = [one for one in server.children(recursive=True) if one.status() != psutil.STATUS_ZOMBIE]
    assert len(below) <= 1  # where there is a pid namespace, the fork server itself


@pytest.mark.parametrize("number", [0, -1, 1])
def test_a_number_that_is_nobodys_is_never_signalled(
    start: Callable[[], ForkLauncher], monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    launcher = start()
    signalled: list[int] = []
    with monkeypatch.context() as patch:
        patch.setattr(sandbox, "visible_pid", lambda descriptor: number)
        patch.setattr(os, "killpg", lambda group, _: signalled.append(group))
        patch.setattr(os, "kill", lambda pid, _: signalled.append(pid))
        with pytest.raises(MachineFault, match="/proc"):
            begin(launcher)
    assert not signalled
    begin(launcher)


def test_a_fork_server_that_is_gone_is_no_end_of_a_worker(start: Callable[[], ForkLauncher]) -> None:
    launcher = start()
    session = Session(launcher, Source(Path("/nowhere/answer.py"), b"x = 1\n"), Terms("answer", ()))
    session.begin(0)
    for one in psutil.Process(launcher._zygote._pid).children(recursive=True):
        # A namespace that loses its first process takes the rest along.
        with contextlib.suppress(psutil.NoSuchProcess):
            one.kill()
    psutil.Process(launcher._zygote._pid).kill()
    with pytest.raises(MachineFault, match="gone"):
        session.sync()
    session.close()
