from __future__ import annotations

import os
import signal
import socket

import pytest

from grader.engine.sandbox import enter_namespaces, probe

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _network_namespaces():
    if not probe().network_namespaces:
        pytest.skip("this machine does not allow network namespaces")


def test_the_network_is_gone(worker):
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = server.getsockname()

        def connect() -> None:
            socket.socket().connect(address)

        def enter_and_connect() -> None:
            enter_namespaces()
            connect()

        assert worker(connect, confined=False).error is None
        assert worker(enter_and_connect, confined=False).error in ("OSError", "ConnectionRefusedError")


def test_what_was_reached_is_told(worker, user):
    reached = set(worker(lambda: sorted(enter_namespaces()), confined=False).value)
    assert {"net", "ipc"} <= reached
    assert ("user" in reached) == (os.geteuid() != 0 or user is not None)


def test_the_user_and_the_files_stay(worker, scratch):
    def work() -> list[object]:
        before = os.getuid()
        enter_namespaces()
        (scratch / "mine").write_text("x")
        return [
            os.getuid() == before,
            (scratch / "mine").stat().st_uid == before,
            (scratch / "mine").read_text(),
        ]

    assert worker(work, confined=False).value == [True, True, "x"]


def test_forks_work_and_are_confined_in_turn(worker):
    from pathlib import Path

    from grader.engine.sandbox import SandboxConfig, confine

    def work() -> int:
        enter_namespaces()
        pid = os.fork()
        if pid == 0:
            confine(SandboxConfig((), ()))
            try:
                Path("/etc/hostname").read_text()
            except PermissionError:
                os._exit(7)
            os._exit(9)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

    assert worker(work, confined=False).value == 7


def test_the_grader_can_signal_into_it(user):
    from tests.sandbox.conftest import become

    receive, send = os.pipe()
    grader = os.fork()
    if grader == 0:
        become(user)
        child_receive, child_send = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.write(child_send, b"net" if "net" in enter_namespaces() else b"none")
            while True:
                signal.pause()
        ready = os.read(child_receive, 10)
        os.kill(pid, signal.SIGKILL)
        died_of = os.WTERMSIG(os.waitpid(pid, 0)[1])
        os.write(send, ready + str(died_of).encode())
        os._exit(0)
    os.waitpid(grader, 0)
    assert os.read(receive, 20) == b"net9"


def test_a_refusal_changes_nothing(worker, monkeypatch):
    monkeypatch.setattr("grader.engine.sandbox.libc.unshare", lambda flags: 1)
    assert worker(lambda: sorted(enter_namespaces()), confined=False).value == []


def test_a_user_namespace_without_powers_is_not_entered(worker, monkeypatch):
    """Some distributions let anyone make a user namespace and then do nothing in it."""
    monkeypatch.setattr("grader.engine.sandbox.namespaces._FLAGS", {"net": -1, "ipc": -1})

    def work() -> list[object]:
        before = os.readlink("/proc/self/ns/user")
        return [sorted(enter_namespaces()), os.readlink("/proc/self/ns/user") == before]

    assert worker(work, confined=False).value == [[], True]
