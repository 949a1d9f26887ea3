"""A wrong --device costs nobody a point: everything refuses before it starts, and says what is there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from grader.devices import Device, known
from grader.engine.wire import frames
from grader.errors import UsageError
from grader.instructor.grading.messages import NotGraded, Task, decode_answer
from grader.instructor.grading.processes import grade, grading_processes
from grader.instructor.grading.run import RunPolicy, setup_for
from tests.conftest import TINY, Run

ABSENT = "xpu" if torch.cuda.is_available() else "cuda"


@pytest.mark.parametrize(
    ("name", "told"),
    [
        (ABSENT, "on this machine"),
        (f"{ABSENT}:7", "on this machine"),
        ("meta", "on this machine"),
        ("cpu:1", "a CPU is cpu"),
        ("toaster", "knows no device of the kind 'toaster'"),
        ("nn", "knows no device of the kind 'nn'"),
        ("cuda:", "names no device"),
    ],
)
def test_a_device_that_is_not_here_is_told_apart_from_one_that_nobody_knows(name: str, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        Device(name).require()


def test_what_a_worker_says_of_its_device_loads_nothing() -> None:
    assert known("cpu")
    for name in ("meta", "onnx", "\0", "", "cuda:99", "nn", "cpu:3"):
        assert not known(name)


def test_one_device_has_one_lock_whatever_it_is_called() -> None:
    assert Device("cuda").place == Device("cuda:0").place != Device("cuda:1").place
    assert Device("cpu").place == "cpu"


@pytest.fixture
def class_of_one(tmp_path: Path) -> Path:
    (tmp_path / "class" / "ada").mkdir(parents=True)
    (tmp_path / "class" / "ada" / "masks.py").write_text("def causal_mask(seq_len, *, device=None): ...\n")
    return tmp_path


@pytest.mark.parametrize(
    "command", [("grade", "class", "--only", "masks"), ("check", "class/ada/masks.py", "--pdb", "--trust")]
)
def test_no_command_begins_without_its_device(
    command: tuple[str, ...], class_of_one: Path, kata: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(class_of_one)
    kata(*command, "--device", ABSENT).refused("on this machine")
    assert sorted(path.name for path in class_of_one.iterdir()) == ["class"]  # no gradebook, no row


@pytest.mark.nightly
def test_nor_does_one_that_measures(class_of_one: Path, kata_process: Run) -> None:
    kata_process("pack", "calibrate", "masks", "--device", ABSENT, cwd=class_of_one).refused(
        "on this machine"
    )


@pytest.mark.nightly
def test_a_machine_of_a_cluster_without_the_device_refuses_and_blames_nobody(monkeypatch: Any) -> None:
    from grader.catalogue import load_pack

    monkeypatch.setenv("KATA_PACKS", str(TINY))
    kata = load_pack(TINY).katas[0]
    setup = frames.encode(setup_for([kata], RunPolicy(device=ABSENT)))
    with grading_processes():
        with grading_processes():
            pass  # one use that ends leaves the others theirs
        answer = decode_answer(
            grade(setup, frames.encode(Task(kata=kata.slug, seed=0, bundle=None, status="missing")))
        )
    assert isinstance(answer, NotGraded)
    assert "on this machine" in answer.message
