"""Faults of the machine, put on a grading process from outside: none is booked as a learner's, all are tried again."""

from __future__ import annotations

import contextlib
import json
import resource
import shutil
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from grader.instructor.grading import processes
from tests.conftest import Ran, Run
from tests.grading.conftest import RIGHT, Hand

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="limits of other processes"),
]

GRADE = ("grade", "submissions", "--only", "insertion-sort", "-j", "1", "--force", "--json", "-")
Inject = Callable[[processes.GradingProcess], object]


def limited(kind: int, value: int) -> Inject:
    """Lower a limit of the grading process."""
    return lambda process: resource.prlimit(process._process.pid, kind, (value, value))


def fork_server_limited(value: int) -> Inject:
    """Lower how many files the fork server may have open."""

    def inject(process: processes.GradingProcess) -> None:
        for below in psutil.Process(process._process.pid).children(recursive=True):
            resource.prlimit(below.pid, resource.RLIMIT_NOFILE, (value, value))

    return inject


def kill(process: processes.GradingProcess) -> None:
    process.kill()


def kill_fork_server(process: processes.GradingProcess) -> None:
    for below in psutil.Process(process._process.pid).children(recursive=True):
        below.kill()


def kill_a_worker(process: processes.GradingProcess) -> None:
    """End the first worker that comes, as the kernel does when memory runs out."""
    servers = psutil.Process(process._process.pid).children(recursive=True)

    def wait_for_it() -> None:
        while process._process.poll() is None:
            for server in servers:
                with contextlib.suppress(psutil.Error):
                    for worker in server.children():
                        if worker not in servers and worker.num_threads() and worker.ppid() == server.pid:
                            worker.send_signal(signal.SIGKILL)
                            return

    threading.Thread(target=wait_for_it, daemon=True).start()


def memory_as_it_is(process: processes.GradingProcess) -> None:
    """Let it have what it has and no more."""
    pages = int(Path(f"/proc/{process._process.pid}/statm").read_text().split()[0])
    limited(resource.RLIMIT_AS, pages * resource.getpagesize())(process)


def remove_its_folder(process: processes.GradingProcess) -> None:
    shutil.rmtree(process._folder)


LASTING = {
    "no descriptor is left": limited(resource.RLIMIT_NOFILE, 8),
    "few descriptors are left": limited(resource.RLIMIT_NOFILE, 10),
    "the fork server has no descriptor left": fork_server_limited(6),
    "the fork server has few descriptors left": fork_server_limited(10),
    "nothing can be written": limited(resource.RLIMIT_FSIZE, 0),
    "no memory is left": memory_as_it_is,
    "the temporary folder is gone": remove_its_folder,
}
PASSING = {
    "it is killed": kill,
    "its fork server is killed": kill_fork_server,
    "a worker is killed": kill_a_worker,
}
ALIKE = ("few descriptors are left", "the fork server has few descriptors left")
"""Ends as the one before, a few calls later: `make everything` tries them, too."""


@pytest.fixture
def put(monkeypatch: pytest.MonkeyPatch, hand_in: Hand, kata: Run) -> Iterator[Callable[[Inject], None]]:
    """Return what puts a fault on the next grading process that is asked; put twice, on the next two."""
    for learner in ("ada", "bob"):
        hand_in(learner, f"{RIGHT}\nimport time\n\ntime.sleep(0.2)\n")
    assert kata(*GRADE).code == 0
    before, due = processes.GradingProcess.run_task, []

    def ask(process: processes.GradingProcess, task: bytes) -> bytes:
        if due:
            due.pop()(process)
        return before(process, task)

    monkeypatch.setattr(processes.GradingProcess, "run_task", ask)
    yield due.append
    assert not due


def reports(ran: Ran) -> dict[str, dict[str, object]]:
    return {report["learner"]: report for report in map(json.loads, ran.out.splitlines())}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Hand out the faults; each grading after one begins with new processes, seconds each."""
    if "fault" in metafunc.fixturenames:
        faults = PASSING if metafunc.function is test_what_passes_is_not_seen_in_any_mark else LASTING
        whole = metafunc.config.getoption("--everything")
        metafunc.parametrize("fault", [fault for fault in faults if whole or fault not in ALIKE])


@pytest.mark.nightly
def test_what_lasts_is_said_and_tried_again(
    kata: Run, put: Callable[[Inject], None], monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    put(LASTING[fault])
    put(LASTING[fault])  # and the reference is not graded either
    with monkeypatch.context() as patch:
        patch.setattr(processes, "ATTEMPTS", 1)
        ran = kata(*GRADE)
    found = reports(ran)
    # Memory that it has already may do, and the process of the control has a fork server of its own.
    assert ran.code == 3 or fault == "no memory is left" or fault.startswith("the fork server")
    assert ("not graded" in ran.err.casefold()) is (ran.code == 3)
    for report in found.values():
        if report["status"] != "pass":
            assert "it is not the submission's fault" in report["message"]  # type: ignore[operator]
            assert (report["status"], report["score"], report["max_score"]) == (
                "error",
                0,
                found["bob"]["max_score"],
            )
    assert found["bob"]["status"] == "pass"
    ran = kata(*[word for word in GRADE if word != "--force"]).done()
    assert {report["status"] for report in reports(ran).values()} == {"pass"}


@pytest.mark.nightly
def test_what_passes_is_not_seen_in_any_mark(kata: Run, put: Callable[[Inject], None], fault: str) -> None:
    put(PASSING[fault])
    ran = kata(*GRADE).done()
    assert {report["status"] for report in reports(ran).values()} == {"pass"}
