"""Submissions that try to reach, poison, imitate or exhaust the process that stands by, at every isolation level.

They are checked with `kata check`, as learners check theirs, by the warm process itself.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.engine import sandbox
from grader.engine.sandbox.levels import LEVELS
from tests.standby.conftest import RIGHT, Place, place, workspace, write

__all__ = ["place", "workspace"]

pytestmark = [
    pytest.mark.gate,
    pytest.mark.skipif(os.name != "posix" or not Path("/proc/self/ns").exists(), reason="Linux only"),
]

TRIES = {
    "connect": """
link = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
link.settimeout(5)
link.connect(SOCKET)
said = link.recv(100)
link.send(marshal.dumps(None))
if said:
    note("reached", said, link.recv(1000))
""",
    "have it run a command": """
link = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
link.settimeout(5)
link.connect(SOCKET)
said = link.recv(100)
if said:
    socket.send_fds(link, [marshal.dumps(("", [], {}))], [0, 1, 2])
    note("reached", said)
""",
    "end it": """
import signal
os.kill(PID, signal.SIGTERM)
note("ended")
""",
    "trace it": """
import ctypes
if ctypes.CDLL(None).ptrace(16, PID, 0, 0) == 0:
    note("traced")
""",
    "replace it": """
os.unlink(SOCKET)
mine = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
mine.bind(SOCKET)
note("replaced")
""",
    "write into its folder": """
open(os.path.join(os.path.dirname(SOCKET), "empty", "tempfile.py"), "w").write("raise SystemExit(0)")
note("written")
""",
    "exhaust it": """
kept = []
for _ in range(200):
    link = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    kept.append(link)
    link.settimeout(0.05)
    link.connect(SOCKET)
    if link.recv(100):
        note("reached")
""",
}
"""What is tried, with what it would say had it worked."""


def hostile(attempt: str, place: Place) -> str:
    standing = place.usual()[0]
    return (
        RIGHT
        + f"""
import marshal, os, socket
SOCKET, PID = {standing.path!r}, {standing.pid}
def note(*words):
    print("WORKED", *words)
try:
{"".join("    " + line + chr(10) for line in attempt.strip().splitlines())}
except BaseException as error:
    print("refused", type(error).__name__)
"""
    )


@pytest.fixture
def standing(place: Place, workspace: Path) -> Iterator[Place]:
    warm = place.warmed(workspace)
    yield place
    # At `process` it may have been ended, or stopped by who traced it.
    with contextlib.suppress(ProcessLookupError):
        os.kill(warm.pid, signal.SIGCONT)
    empty = [path for path in place.folder.rglob("empty/*")]
    for path in empty:
        path.unlink()


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", TRIES)
def test_a_submission_gets_nowhere(standing: Place, workspace: Path, name: str, level: str) -> None:
    if not sandbox.reaches(sandbox.probe().level, level):  # type: ignore[arg-type]
        pytest.skip(f"this machine does not offer {level}")
    before = standing.usual()[0]
    write(workspace, hostile(TRIES[name], standing))
    ran = standing.run("check", "--json", cwd=workspace, env={"KATA_ISOLATION": level})
    kata = json.loads(ran.out)["katas"][0]
    assert (kata["status"], kata["isolation"]) == ("pass", level)
    if level != "process":  # there a submission may do what its user may, and docs/security.md says so
        assert "WORKED" not in (kata["output"] or "")
        after = standing.usual()[0]
        assert (after.pid, after.served) == (before.pid, before.served + 1)
        assert not list(Path(before.path).with_name("empty").iterdir())
    # Whatever was done, the next verdict is the right one.
    write(workspace, RIGHT.replace("<=", ">"))
    ran = standing.run("check", "--json", cwd=workspace, env={"KATA_ISOLATION": level})
    assert json.loads(ran.out)["katas"][0]["status"] == "fail"


def test_who_is_not_this_user_is_not_served(standing: Place, workspace: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root to become somebody else")
    path = standing.warmed(workspace).path
    ours, theirs = os.pipe()
    pid = os.fork()
    if pid == 0:
        link = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        folder = os.open(os.path.dirname(path), os.O_PATH)
        os.setgid(65534)
        os.setuid(65534)
        try:
            link.settimeout(5)
            link.connect(f"/proc/self/fd/{folder}/socket")
            os.write(theirs, link.recv(100) or b"hung up")
        except OSError as error:
            os.write(theirs, type(error).__name__.encode())
        os._exit(0)
    os.waitpid(pid, 0)
    assert b"ready" not in os.read(ours, 100)
    os.close(ours)
    os.close(theirs)
