"""A lab for every user and isolation level that this machine has: graders in processes of their own."""

from __future__ import annotations

import contextlib
import functools
import os
import shutil
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest

from grader.engine import sandbox
from grader.engine.sandbox import libc
from grader.engine.sandbox.levels import LEVELS, VARIABLE
from tests.sandbox.conftest import NOBODY, become

collect_ignore_glob = [] if sys.platform == "linux" else ["test_*.py"]

MEMORY = 1 << 30


@dataclass(frozen=True)
class Answer:
    """What became of a call: a value, or how it went wrong, as the report would say it."""

    value: Any = None
    error: str | None = None
    lines: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


class Lab:
    """A grader in a process of its own, as some user, at some level."""

    def __init__(self, level: sandbox.Isolation | None, user: int | None) -> None:
        self.level, self.user = level, user
        self.folder = Path(tempfile.mkdtemp(prefix="kata-lab-"))
        self.folder.chmod(0o755)
        # As it would be handed in: nobody else may read it.
        if user is not None:
            os.chown(self.folder, user, user)
        (self.folder / "own").mkdir(mode=0o700)
        if user is not None:
            os.chown(self.folder / "own", user, user)
        import torch  # once, for all labs

        torch.set_num_threads(1)  # no thread may exist when a zygote forks
        self._ours, theirs = Pipe()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                self._ours.close()
                _work(theirs, level, user, self.folder)
            finally:
                os._exit(0)
        theirs.close()
        self.ask("ready")

    def ask(self, *request: Any) -> Any:
        self._ours.send(request)
        answer = self._ours.recv()
        if isinstance(answer, Exception):
            raise answer
        return answer

    def open(self, source: str, name: str = "answer", expect: str | None = None, **terms: Any) -> Submission:
        """Load a submission; its file lies in a folder that only its owner may read."""
        level, pid, scratch, answer = self.ask("open", name, textwrap.dedent(source), terms)
        if answer is not None:
            raise AssertionError(answer.text)
        assert level == (expect or self.level)
        return Submission(self, name, pid, Path(scratch))

    def close(self) -> None:
        self._ours.close()
        os.waitpid(self.pid, 0)
        shutil.rmtree(self.folder, ignore_errors=True)


@dataclass(frozen=True)
class Submission:
    """A submission in a lab: `submission("function", …)` calls it."""

    lab: Lab
    name: str
    pid: int
    scratch: Path

    def __call__(self, function: str, *arguments: Any, timeout_s: float = 20.0) -> Answer:
        answer: Answer = self.lab.ask("call", self.name, function, arguments, timeout_s)
        return answer

    def close(self) -> None:
        self.lab.ask("close", self.name)


def _work(link: Connection, level: str | None, user: int | None, folder: Path) -> None:
    from grader.engine.host.calls import Calls
    from grader.engine.host.launcher import ForkLauncher
    from grader.engine.runner.outcome import MessageContext, judge
    from tests.conftest import open_submission

    if user is not None:
        _let_others_reach_python()
        become(user)
    os.environ.pop(VARIABLE, None)
    if level is not None:
        os.environ[VARIABLE] = level
    launcher = ForkLauncher()
    sessions: dict[str, Any] = {}

    def attempt(opened: Any, body: Any, timeout_s: float) -> Answer:
        try:
            return Answer(value=body())
        except Exception as error:
            calls = opened.calls if opened is not None else Calls()
            lines = judge(error, calls, MessageContext("answer.py", timeout_s=timeout_s)).lines
            return Answer(error=type(error).__name__, lines=tuple(lines))

    def answer(what: str, *rest: Any) -> Any:
        match what, rest:
            case "ready", ():
                return True
            case "open", (name, source, terms):
                one = folder / "own" / f"{name}.py"
                failed = attempt(
                    None,
                    lambda: sessions.update(
                        {name: open_submission(launcher, one, source, **{"memory_bytes": MEMORY, **terms})}
                    ),
                    0.0,
                )
                if failed.error:
                    return None, 0, "", failed
                one.chmod(0o600)
                session = sessions[name].session
                process = session._channel.process
                return session.isolation, process.pid, str(process.scratch), None
            case "call", (name, function, arguments, timeout_s):
                opened = sessions[name]

                def call() -> Any:
                    opened.begin(0, timeout_s)
                    return getattr(opened.submission, function)(*arguments)

                return attempt(opened, call, timeout_s)
            case "close", (name,):
                sessions.pop(name).session.close()
        return None

    with contextlib.suppress(EOFError):
        while True:
            request = link.recv()
            try:
                link.send(answer(*request))
            except Exception as error:
                link.send(RuntimeError(repr(error)))
    for opened in sessions.values():
        opened.session.close()
    launcher.close()


def _let_others_reach_python() -> None:
    """Make way to a Python that lies in a home nobody else may enter, in mounts of this process's own."""
    for place in {Path(sys.base_prefix).resolve(), Path(sys.prefix).resolve()}:
        closed = [folder for folder in reversed(place.parents) if not folder.stat().st_mode & 0o001]
        if not closed:
            continue
        assert libc.unshare(libc.CLONE_NEWNS) == 0
        libc.mount("none", "/", None, libc.MS_REC | libc.MS_PRIVATE)
        tree = libc.copy_tree(str(place))
        libc.mount("kata", str(closed[0]), "tmpfs", 0, "mode=0755")
        place.mkdir(parents=True)
        libc.attach(tree, str(place))
        os.close(tree)


@functools.cache
def _configurations() -> list[tuple[sandbox.Isolation, str]]:
    found = sandbox.probe() if sys.platform == "linux" else None
    levels = [level for level in LEVELS if found is not None and sandbox.reaches(found.level, level)]
    users = ("root", "an ordinary user") if os.geteuid() == 0 else ("an ordinary user",)
    return [(level, user) for user in users for level in levels]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "lab" not in metafunc.fixturenames:
        return
    at_least: sandbox.Isolation = "process"
    if "confined" in metafunc.fixturenames:
        at_least = "confined"
    if "shut_in" in metafunc.fixturenames:
        at_least = "full"
    chosen = [pair for pair in _configurations() if sandbox.reaches(pair[0], at_least)]
    names = [f"{level} as {user}" for level, user in chosen]
    metafunc.parametrize("lab", chosen, ids=names, indirect=True, scope="session")


@pytest.fixture(scope="session")
def lab(request: pytest.FixtureRequest) -> Iterator[Lab]:
    """A grader at each level that this machine has, as root and as an ordinary user."""
    level, name = request.param
    user = NOBODY if name == "an ordinary user" and os.geteuid() == 0 else None
    lab = Lab(level, user)
    yield lab
    lab.close()


@pytest.fixture
def confined(lab: Lab) -> Lab:
    """The labs where the kernel keeps a submission from what is not its own."""
    return lab


@pytest.fixture
def shut_in(lab: Lab) -> Lab:
    """The labs at level *full*."""
    return lab
