"""`kata grade --scheduler`: a real scheduler and real workers, on loopback; one is killed in mid-run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.conftest import KATA, TINY, Run
from tests.grading.conftest import OTHER, RIGHT, STUB, WRONG, Hand
from tests.grading.test_grade_command import ONLY, reports, rows

pytestmark = pytest.mark.slow

pytest.importorskip("distributed")

START_S = 60.0
_QUIET = {"DASK_DISTRIBUTED__ADMIN__TICK__LIMIT": "60s", "DASK_DISTRIBUTED__DIAGNOSTICS__NVML": "False"}


class Cluster:
    """A scheduler and its workers, all processes of ours."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "scheduler.json"
        self._env = {**os.environ, **_QUIET, "KATA_PACKS": str(TINY)}
        self._log = (folder / "cluster.log").open("wb")
        self._scheduler = self._start(
            "dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--dashboard-address", "127.0.0.1:0"
        )
        wait_for(self._file.exists, self._scheduler)
        self.address: str = json.loads(self._file.read_text())["address"]
        self.workers = [self._start("dask_worker", *_WORKER) for _ in range(2)]

    def close(self) -> None:
        for process in (*self.workers, self._scheduler):
            process.kill()
            process.wait()
        self._log.close()

    def _start(self, tool: str, *arguments: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", f"distributed.cli.{tool}", "--scheduler-file", str(self._file)]
        return subprocess.Popen(
            [*command, *arguments], env=self._env, cwd=self._file.parent, stdout=self._log, stderr=self._log
        )


_WORKER = ("--nthreads", "1", "--no-nanny", "--no-dashboard", "--host", "127.0.0.1")


def wait_for(condition: Callable[[], bool], process: subprocess.Popen[bytes]) -> None:
    """Wait until something holds, as long as a process runs that should bring it about."""
    for _ in range(int(START_S / 0.05)):
        if condition():
            return
        with suppress(subprocess.TimeoutExpired):
            raise AssertionError(f"it ended with {process.wait(0.05)}")
    raise AssertionError("it did not come about in time")


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    made = Cluster(tmp_path)
    yield made
    made.close()


@pytest.mark.nightly
def test_a_worker_that_is_killed_in_mid_run_costs_nobody_a_row(
    cluster: Cluster, hand_in: Hand, warm: Path, kata: Run
) -> None:
    for number in range(40):
        hand_in(f"learner {number}", [RIGHT, OTHER, WRONG, STUB][number % 4] + f"\n# {number}\n")
    command = [
        str(KATA),
        "grade",
        "submissions",
        *ONLY,
        "--scheduler",
        cluster.address,
        "--json",
        "far.jsonl",
    ]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    wait_for(lambda: rows(warm) >= 4, running)
    cluster.workers[0].kill()
    told = running.communicate(timeout=120)[0].decode()
    assert running.returncode == 0, told
    assert "40 rows in gradebook.sqlite" in told
    far = {line["learner"]: line for line in map(json.loads, (warm / "far.jsonl").read_text().splitlines())}
    near = reports(
        kata("grade", "submissions", *ONLY, "--gradebook", "near.sqlite", "-j", "1", "--json", "-")
    )
    assert {who: (r["status"], r["score"]) for who, r in far.items()} == {
        who: (r["status"], r["score"]) for who, r in near.items()
    }


def test_a_scheduler_without_workers_is_said_so(cluster: Cluster, hand_in: Hand, kata: Run) -> None:
    hand_in("ada", RIGHT)
    for worker in cluster.workers:
        worker.kill()
        worker.wait()
    ran = kata("grade", "submissions", *ONLY, "--scheduler", cluster.address)
    assert ran.code == 3
    assert "has no workers" in ran.text
    assert "dask worker" in ran.text


def test_a_scheduler_that_is_not_there(kata: Run, hand_in: Hand, monkeypatch: pytest.MonkeyPatch) -> None:
    hand_in("ada", RIGHT)
    with monkeypatch.context() as patch:
        patch.setattr("distributed.Client", lambda *_args, **_more: pytest.fail("it tries for seconds"))
        ran = kata("grade", "submissions", *ONLY, "--scheduler", "tcp://127.0.0.1:1")
    assert ran.code == 3
    assert "No Dask scheduler answers at tcp://127.0.0.1:1" in ran.text
    ran = kata("grade", "submissions", *ONLY, "--scheduler", "nonsense://x")
    assert ran.code == 2
    assert kata("grade", "submissions", "-j", "2", "--scheduler", "tcp://127.0.0.1:1").code == 2
