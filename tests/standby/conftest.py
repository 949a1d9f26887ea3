"""A warm process of the tests' own, and commands that are run cold and warm."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from grader.cli.warm_process import WarmProcess, end_all, running_daemons
from grader.interpreter import command

collect_ignore_glob = [] if sys.platform == "linux" else ["test_*.py"]

PATIENCE_S = 120.0
"""For what has to come: an import of torch on a machine that has other things to do."""
TINY = Path(__file__).parents[1] / "packs" / "tiny"


@dataclass(frozen=True)
class Ran:
    code: int
    out: bytes
    err: bytes


class Place:
    """Where warm processes of these tests lie, and the variables that lead there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._path = ""
        self.variables = {
            name: value
            for name, value in os.environ.items()
            if name not in ("CI", "KATA_WARM", "COLUMNS", "LINES")
            and not name.startswith(("PYTHON", "PYTEST"))
        }
        self.variables |= {"XDG_RUNTIME_DIR": str(folder), "KATA_PACKS": str(TINY)}

    def command(self, *arguments: str) -> list[str]:
        return command("grader", *arguments)

    def env(self, warm: bool = True) -> dict[str, str]:
        return self.variables if warm else self.variables | {"KATA_WARM": "0"}

    def start(self, *arguments: str, cwd: Path, warm: bool = True, **extra: Any) -> subprocess.Popen[bytes]:
        variables = self.env(warm) | extra.pop("env", {})
        return subprocess.Popen(self.command(*arguments), cwd=cwd, env=variables, **extra)

    def run(self, *arguments: str, cwd: Path, warm: bool = True, given: bytes = b"", **extra: Any) -> Ran:
        streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | extra
        with self.start(*arguments, cwd=cwd, warm=warm, **streams) as process:
            out, err = process.communicate(given, timeout=PATIENCE_S)
        return Ran(process.returncode, out or b"", err or b"")

    def standing(self) -> list[WarmProcess]:
        before = os.environ.get("XDG_RUNTIME_DIR")
        os.environ["XDG_RUNTIME_DIR"] = str(self.folder)
        try:
            return running_daemons()
        finally:
            _put_back(before)

    def end(self) -> list[int]:
        before = os.environ.get("XDG_RUNTIME_DIR")
        os.environ["XDG_RUNTIME_DIR"] = str(self.folder)
        try:
            return end_all()
        finally:
            _put_back(before)

    def warmed(self, cwd: Path, **extra: Any) -> WarmProcess:
        """Return the process that stands by; a command, started with `extra`, leaves one behind where there is none.

        Others may stand by beside it: of another locale, of another place for modules.
        """
        if not self.usual():
            before = {one.path for one in self.standing()}
            self.run("check", cwd=cwd, **extra)
            self._path = (
                self._path
                or wait_for(lambda: [one.path for one in self.standing() if one.path not in before])[0]
            )
            wait_for(self.usual)
        return self.usual()[0]

    def usual(self) -> list[WarmProcess]:
        """Return the one that commands of these variables ask, if it stands by."""
        return [one for one in self.standing() if one.path == self._path]


def _put_back(before: str | None) -> None:
    if before is None:
        del os.environ["XDG_RUNTIME_DIR"]
    else:
        os.environ["XDG_RUNTIME_DIR"] = before


def wait_for(what: Callable[[], Any]) -> Any:
    """Return what becomes true of something that has to come."""
    until = time.monotonic() + PATIENCE_S
    while not (found := what()):
        assert time.monotonic() < until, "it did not come"
        time.sleep(0.05)
    return found


@contextmanager
def a_place() -> Iterator[Place]:
    """Make a place for warm processes; at the end nothing stands by there."""
    folder = Path(tempfile.mkdtemp(prefix="kata-t-"))  # short: the name of a socket has 108 bytes at most
    made = Place(folder)
    try:
        yield made
    finally:
        made.end()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def place() -> Iterator[Place]:
    with a_place() as made:
        yield made


@pytest.fixture
def workspace(tmp_path: Path, place: Place) -> Path:
    """A folder in which the tiny kata was started, with a right answer."""
    folder = tmp_path / "work"
    folder.mkdir()
    assert place.run("start", "1.1", cwd=folder).code == 0
    write(folder, RIGHT)
    return folder


def write(folder: Path, source: str) -> None:
    (folder / "1.1-sorting" / "insertion-sort" / "insertion_sort.py").write_text(source)


RIGHT = """\
def insertion_sort(numbers):
    done = []
    for number in numbers:
        place = sum(other <= number for other in done)
        done.insert(place, number)
    return done
"""
WRONG = RIGHT.replace("<=", ">")


def alike(ran: Ran) -> Ran:
    """Return it without what differs from run to run: seconds, and folders that are drawn."""

    def told(text: bytes) -> bytes:
        text = re.sub(rb'"duration_s": ?[0-9.e-]+', b'"duration_s":0', text)
        return re.sub(rb'time="[0-9.]+"', b'time="0"', text)

    return Ran(ran.code, told(ran.out), told(ran.err))
