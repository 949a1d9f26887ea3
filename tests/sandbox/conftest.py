"""Workers for the tests: forked children that confine themselves and tell over a pipe how it went."""

from __future__ import annotations

import ctypes
import faulthandler
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from grader.engine.sandbox import ResourceLimits, SandboxConfig, confine, python_read_paths

NOBODY = 65534
PR_SET_DUMPABLE = 4

collect_ignore_glob = [] if sys.platform == "linux" else ["test_*.py"]


@dataclass(frozen=True)
class Outcome:
    """What became of a worker: what its body returned, or which exception or signal ended it."""

    value: Any = None
    error: str | None = None
    errno: int | None = None
    signal: int = 0

    @property
    def refused(self) -> bool:
        return self.error == "PermissionError"


@dataclass(frozen=True)
class Worker:
    """Fork, become `user`, confine, run a body, report."""

    scratch: Path
    user: int | None

    def __call__(
        self,
        body: Callable[[], Any],
        *,
        limits: ResourceLimits | None = None,
        confined: bool = True,
        read: tuple[Path, ...] = (),
    ) -> Outcome:
        bounds = limits or ResourceLimits()
        confinement = SandboxConfig((*python_read_paths(), *read), (self.scratch,), bounds)
        receive, send = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                os.close(receive)
                faulthandler.disable()
                report = self._report(body, confinement if confined else None)
                os.write(send, json.dumps(report).encode())
            finally:
                os._exit(0)
        os.close(send)
        with os.fdopen(receive, "rb") as pipe:
            text = pipe.read()
        _, status = os.waitpid(pid, 0)
        if os.WIFSIGNALED(status):
            return Outcome(signal=os.WTERMSIG(status))
        return Outcome(**json.loads(text))

    def _report(self, body: Callable[[], Any], confinement: SandboxConfig | None) -> dict[str, Any]:
        become(self.user)
        try:
            if confinement:
                confine(confinement)
            return {"value": body()}
        except BaseException as error:
            return {"error": type(error).__name__, "errno": getattr(error, "errno", None)}


def become(user: int | None) -> None:
    """Turn the calling child into an ordinary user, as if it had been started as one."""
    if user is not None:
        os.setgroups([])
        os.setgid(user)
        os.setuid(user)
        ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user of the machine may read and write."""
    folder = Path(tempfile.mkdtemp(prefix="kata-test-"))
    folder.chmod(0o777)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def scratch(open_folder: Path) -> Path:
    folder = open_folder / "scratch"
    folder.mkdir()
    folder.chmod(0o777)
    return folder


@pytest.fixture(params=["this user", "an ordinary user"])
def user(request: pytest.FixtureRequest) -> int | None:
    """The id to change to: none, or nobody's where the tests run as root."""
    if request.param == "this user":
        return None
    if os.geteuid() != 0:
        pytest.skip("only root can become another user; the other variant is an ordinary user already")
    return NOBODY


@pytest.fixture
def worker(scratch: Path, user: int | None) -> Worker:
    return Worker(scratch, user)
