"""The desk as it runs: a process of its own, spoken to as a browser does, or as somebody who means harm."""

from __future__ import annotations

import http.client
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from grader.instructor.gradebook.database import DEFAULT
from tests.extras.desk import made_class
from tests.gradebook import conftest as gradebook_conftest

KATA = Path(sys.executable).with_name("kata")


def turned_to(page: Any, selector: str) -> None:
    """Wait for a page that shows this and listens: a key that comes before it was drawn is heard by nobody."""
    page.wait_for_selector(selector)
    page.wait_for_selector("html[data-keys]")


def heard(page: Any, address: Callable[[str], bool]) -> None:
    """Wait until another page is there and listens."""
    page.wait_for_url(address)
    page.wait_for_selector("html[data-keys]")


@dataclass
class Answer:
    """What the desk said."""

    status: int
    headers: dict[str, str]
    text: str


class Running:
    """A desk that runs."""

    def __init__(self, where: str, folder: Path, author: str = "kim") -> None:
        # A file is named as people name it, by what it is called in the folder where they are.
        named = [] if Path(where) == folder / DEFAULT else ["--gradebook", where, "--course", "course.toml"]
        command = [KATA, "desk", "--no-browser", "--author", author, *named]
        self._process = subprocess.Popen(
            [str(word) for word in command], cwd=folder, text=True, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )  # fmt: skip
        assert self._process.stdout is not None
        said = self._process.stdout.readline()
        self.where = where
        self.address = said.split()[1]
        self.base, _, self.secret = self.address.partition("/enter?key=")
        self.port = int(self.base.rpartition(":")[2])
        self.cookie = (
            self.ask("GET", f"/enter?key={self.secret}", cookie="").headers["set-cookie"].split(";")[0]
        )

    def ask(
        self, method: str, path: str, body: str = "", *, cookie: str | None = None, **headers: str
    ) -> Answer:
        """Send a request; headers are given with underscores, and replace what a browser would send."""
        sent = {"Host": f"127.0.0.1:{self.port}", "Cookie": self.cookie if cookie is None else cookie}
        if method == "POST":
            sent |= {"Origin": self.base, "Content-Type": "application/x-www-form-urlencoded"}
            sent["Content-Length"] = str(len(body.encode()))
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        line.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        for name, value in sent.items():
            if value:
                line.putheader(name, value)
        line.endheaders(body.encode())
        got = line.getresponse()
        answer = Answer(
            got.status, {name.lower(): value for name, value in got.getheaders()}, got.read().decode()
        )
        line.close()
        return answer

    def page(self, path: str, **query: object) -> str:
        """Return a page that must be there."""
        answer = self.ask("GET", path + ("?" + urlencode(query) if query else ""))
        assert answer.status == 200, answer.text
        return answer.text

    def mark(self, learner: str = "ada.0000", kata: str = "masks", **query: object) -> str:
        """Return the page of a mark."""
        return self.page("/mark", learner=learner, of=kata, **query)

    def do(self, action: str, **form: object) -> Answer:
        """Send a form from the page of a mark, as it stands now unless a version is given."""
        form = {"learner": "ada.0000", "of": "masks", "back": "/log", **form}
        if "version" not in form:
            form["version"] = version_of(self.mark(str(form["learner"]), str(form["of"])))
        return self.ask("POST", f"/do/{action}", urlencode(form))

    def close(self) -> tuple[int, str]:
        """End it as Ctrl-C does; return the exit code and what it said."""
        self._process.send_signal(signal.SIGINT)
        _, said = self._process.communicate(timeout=30)
        return self._process.returncode, said


def version_of(page: str) -> int:
    found = re.search(r'name="version" value="(\d+)"', page)
    assert found is not None
    return int(found[1])


Open = Callable[..., Running]


@pytest.fixture(scope="module")
def running() -> Iterator[Open]:
    """Start desks; all of them end with the module."""
    started: list[Running] = []

    def start(where: str, folder: Path, author: str = "kim") -> Running:
        started.append(Running(where, folder, author))
        return started[-1]

    yield start
    for one in started:
        one.close()


@pytest.fixture
def desk(running: Open, tmp_path: Path) -> Running:
    """A desk over a small class of its own."""
    return running(made_class.make(tmp_path, 6), tmp_path)


postgres = gradebook_conftest.postgres
"""The server that tests of the gradebook start."""
