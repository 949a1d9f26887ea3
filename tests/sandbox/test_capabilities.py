from __future__ import annotations

import dataclasses
import os
import socket
import sys
from pathlib import Path

import pytest

from grader.engine.sandbox import landlock, probe
from tests.conftest import completed


@pytest.mark.slow
def test_the_probe_says_what_confining_reaches(worker):
    assert worker(lambda: 1).value == 1
    found = worker(lambda: dataclasses.asdict(probe()), confined=False).value
    assert found["level"] == ("full" if found["cells"] else "confined")
    assert found["platform"] == "linux"
    assert found["landlock_abi"] >= 1
    assert found["seccomp"] is True
    assert found["cgroup"] in ("v1", "v2", "none")


@pytest.mark.slow
def test_the_probe_knows_root(worker, user):
    found = worker(lambda: probe().root, confined=False).value
    assert found == (os.geteuid() == 0 and user is None)


@pytest.mark.slow
def test_the_probe_changes_nothing(worker):
    def work() -> list[object]:
        before = {name: os.readlink(f"/proc/self/ns/{name}") for name in ("user", "net", "ipc")}
        probe()
        after = {name: os.readlink(f"/proc/self/ns/{name}") for name in ("user", "net", "ipc")}
        socket.socket().close()
        return [before == after, len(Path("/etc/passwd").read_text()) > 0]

    assert worker(work, confined=False).value == [True, True]


def test_what_is_missing_is_said_with_a_remedy(monkeypatch):
    monkeypatch.setattr(landlock, "abi", lambda: 0)
    monkeypatch.setattr("grader.engine.sandbox.libc.unshare", lambda flags: 1)
    found = probe()
    assert found.level == "process"
    assert not found.network_namespaces
    assert any("Landlock" in sentence and "Linux 5.13" in sentence for sentence in found.missing)
    assert any("user.max_user_namespaces" in sentence for sentence in found.missing)


def test_a_machine_that_confines_misses_neither_landlock_nor_filters():
    assert not [
        sentence for sentence in probe().missing if "not protected" in sentence or "filtered" in sentence
    ]


ELSEWHERE = """
import sys
sys.platform = "darwin"
from grader.engine.sandbox import *
found = probe()
print(found.level, len(found.missing), become_subreaper(), kill_descendants(), sorted(enter_namespaces()))
replace_environment({})
confine(SandboxConfig(python_read_paths(), (), level="process"))
print(offered())
"""


def test_elsewhere_everything_degrades_to_a_process():
    project = Path(__file__).resolve().parents[2]
    done = completed(
        [sys.executable, "-c", ELSEWHERE],
        cwd=project,
        env={name: value for name, value in os.environ.items() if name != "KATA_ISOLATION"},
    )
    assert done.stdout.splitlines() == ["process 1 False 0 []", "process"], done.stderr
