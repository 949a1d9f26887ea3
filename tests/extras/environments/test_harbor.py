"""Tasks for Harbor: what the agent sees, and what the verifier says, which runs as in its image but without one."""

from __future__ import annotations

import json
import os
import py_compile
import shutil
import sys
import tomllib
from pathlib import Path

import pytest

from tests import ours
from tests.conftest import TESTS, completed, invoke

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("harbor")]

TINY, SOLUTIONS = TESTS / "packs" / "tiny", TESTS / "packs" / "solutions"


@pytest.fixture(scope="module")
def tasks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A task of our own pack and one of somebody's."""
    course = tmp_path_factory.mktemp("course")
    shutil.copytree(TINY, course / "katas")
    shutil.copytree(SOLUTIONS, course / "solutions")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KATA_PACKS", str(course / "katas"))
        patch.chdir(course)
        for id_ in ("masks", "insertion-sort"):
            done = invoke("pack", "bundle", "harbor", id_, "--out", "tasks")
            assert done.code == 0, done.text
        again = invoke("pack", "bundle", "harbor", "masks", "--out", "tasks")
        assert again.code == 2
        assert "already holds masks" in " ".join(again.text.split())
    return course / "tasks"


class Trial:
    """A root folder with /app as the agent leaves it, and /logs."""

    def __init__(self, task: Path, root: Path) -> None:
        self.task, self.root = task, root
        self.app = root / "app"
        shutil.copytree(task / "environment" / "app", self.app)
        (config,) = tomllib.loads((task / "task.toml").read_text())["artifacts"]
        self.answer = root / config.lstrip("/")

    def verify(self) -> dict[str, float]:
        command = [sys.executable, "-I", "-B", str(self.task / "tests" / "verify.py"), str(self.root)]
        done = completed(command)
        assert done.returncode == 0, done.stderr
        found: dict[str, float] = json.loads((self.root / "logs" / "verifier" / "reward.json").read_text())
        return found


@pytest.mark.nightly
@pytest.mark.parametrize("slug", ["masks", "insertion-sort"])
def test_what_was_not_touched_earns_nothing_and_the_solution_all(
    tasks: Path, tmp_path: Path, slug: str
) -> None:
    trial = Trial(tasks / slug, tmp_path)
    assert set(trial.verify().values()) == {0.0}
    shutil.copyfile(trial.task / "solution" / trial.answer.name, trial.answer)  # what solve.sh does
    rewards = trial.verify()
    assert set(rewards.values()) == {1.0}
    assert {"score", "passed"} < rewards.keys()


@pytest.mark.nightly
def test_other_right_answers_earn_all_and_a_wrong_one_a_part(tasks: Path, tmp_path: Path) -> None:
    trial, kata = Trial(tasks / "masks", tmp_path), ours.katas()["masks"]
    for right in kata.alternatives:
        shutil.copyfile(right, trial.answer)
        assert trial.verify()["score"] == 1.0, right.name
    assert kata.solution is not None
    wrong = kata.solution.read_text() + "\n\ndef causal_mask(seq_len, *, device=None):\n    return None\n"
    trial.answer.write_text(wrong)
    rewards = trial.verify()
    assert 0 < rewards["score"] < 1
    assert rewards["passed"] == 0


@pytest.mark.nightly
def test_a_link_to_the_solution_earns_nothing(tasks: Path, tmp_path: Path) -> None:
    trial = Trial(tasks / "masks", tmp_path)
    trial.answer.unlink()
    assert trial.verify()["score"] == 0  # nothing there
    trial.answer.symlink_to(tasks / "masks" / "solution" / "masks.py")
    assert trial.verify()["score"] == 0


@pytest.mark.nightly
def test_nothing_beside_the_answer_gets_to_the_verifier(tasks: Path, tmp_path: Path) -> None:
    trial = Trial(tasks / "masks", tmp_path)
    right, stub = trial.task / "solution" / trial.answer.name, trial.answer.read_text()
    # Python takes byte code for current whose source had the same size and time.
    longest = max(len(stub), right.stat().st_size)
    trial.answer.write_text(right.read_text().ljust(longest))
    os.utime(trial.answer, (0, 0))
    py_compile.compile(str(trial.answer), doraise=True)
    trial.answer.write_text(stub.ljust(longest))
    os.utime(trial.answer, (0, 0))
    (trial.app / "torch.py").write_text("raise SystemExit(0)\n")
    assert trial.verify()["score"] == 0
    shutil.copyfile(right, trial.answer)
    assert trial.verify()["score"] == 1


def test_what_cannot_be_graded_is_an_error_and_no_zero(tasks: Path, tmp_path: Path) -> None:
    task = shutil.copytree(tasks / "insertion-sort", tmp_path / "task")
    shutil.rmtree(task / "tests" / "pack")
    trial = Trial(task, tmp_path / "root")
    with pytest.raises(AssertionError):
        trial.verify()
    assert not (trial.root / "logs" / "verifier" / "reward.json").exists()


def test_the_agent_gets_the_lesson_and_the_stub_alone(tasks: Path) -> None:
    kata = ours.katas()["masks"]
    app = tasks / "masks" / "environment"
    assert sorted(path.name for path in app.rglob("*") if path.is_file()) == ["Dockerfile", "masks.py"]
    assert (app / "app" / "masks.py").read_bytes() == kata.stub.read_bytes()
    told = (tasks / "masks" / "instruction.md").read_text()
    assert "## Pitfalls" in told
    assert "*Figure: Four square masks" in told
    assert kata.stub.read_text().strip() in told
    assert "## Reflect" not in told
    assert "@" not in (tasks / "masks" / "task.toml").read_text()


def test_a_reward_that_lies_there_before_does_not_count(tasks: Path, tmp_path: Path) -> None:
    trial = Trial(tasks / "insertion-sort", tmp_path / "root")
    reward = trial.root / "logs" / "verifier" / "reward.json"
    reward.parent.mkdir(parents=True, exist_ok=True)
    reward.write_text('{"score": 1.0, "passed": 1.0}')
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("mine")
    (reward.parent / "reward.new").symlink_to(elsewhere)
    assert trial.verify()["score"] == 0
    assert elsewhere.read_text() == "mine"


@pytest.mark.parametrize(("score", "most"), [("NaN", "10"), ("15", "10"), ("1", "0")])
def test_points_that_are_not_a_share_leave_no_reward(
    score: str, most: str, tasks: Path, tmp_path: Path
) -> None:
    trial = Trial(tasks / "insertion-sort", tmp_path / "root")
    reward = trial.root / "logs" / "verifier" / "reward.json"
    reward.parent.mkdir(parents=True, exist_ok=True)
    reward.write_text('{"score": 1.0, "passed": 1.0}')
    fake = tmp_path / "python"
    report = f'{{"status": "pass", "score": {score}, "max_score": {most}, "checks": []}}'
    fake.write_text(f"#!/bin/sh\necho '{report}' >reports.jsonl\n")
    fake.chmod(0o755)
    verify = tasks / "insertion-sort" / "tests" / "verify.py"
    code = (
        f"import runpy, sys; sys.executable = {str(fake)!r}; sys.argv = ['verify.py', {str(trial.root)!r}]; "
        f"runpy.run_path({str(verify)!r}, run_name='__main__')"
    )
    done = completed([sys.executable, "-c", code])
    assert done.returncode != 0
    assert "is not a share from 0 to 1" in done.stderr
    assert not reward.exists()
