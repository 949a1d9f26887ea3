"""Files for editors and forges, and what completes on the command line."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from grader.learner.workspace.tools import template
from grader.report.annotations import WRITERS
from grader.report.report import CheckReport, KataReport
from tests.conftest import completed, invoke

pytestmark = pytest.mark.slow

TINY = Path(__file__).parents[1] / "packs" / "tiny"
_MATCHER = json.loads(template("tasks.json"))["tasks"][1]["problemMatcher"]
PROBLEM = _MATCHER["pattern"]["regexp"]
BEGINS, ENDS = (_MATCHER["background"][name] for name in ("beginsPattern", "endsPattern"))
Type = Callable[..., Any]


@pytest.fixture
def type_(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Type:
    monkeypatch.chdir(tmp_path)
    for name, value in {"HOME": str(tmp_path), "KATA_PACKS": str(TINY), "SHELL": "/bin/bash"}.items():
        monkeypatch.setenv(name, value)
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "ZDOTDIR"):
        monkeypatch.delenv(name, raising=False)
    return invoke


def test_tasks_and_a_workflow_are_laid_once(type_: Type, tmp_path: Path) -> None:
    told = type_("start", "1.1", "--vscode", "--actions").out
    tasks, workflow = tmp_path / ".vscode/tasks.json", tmp_path / ".github/workflows/kata.yml"
    assert "written  .vscode/  tasks.json, settings.json" in told
    assert "written  .github/workflows/  kata.yml" in told
    labels = [task["label"] for task in json.loads(tasks.read_text())["tasks"]]
    assert labels == ["kata: check", "kata: watch this file"]
    assert "kata check --format github" in workflow.read_text()
    tasks.write_text("mine")
    again = type_("start", "1.1", "--vscode", "--json").json["tools"]
    assert [one["action"] for one in again] == ["kept"] * 4
    assert tasks.read_text() == "mine"


@pytest.mark.parametrize(
    ("course", "says"),
    [
        ("", "Be a tutor"),
        ('name = "ML"\n[ai]\npolicy = "tutor"', "Be a tutor"),
        ('name = "ML"\n[ai]\npolicy = "open"', "allows your help with everything"),
        ('[ai]\npolicy = "none"', "allows no help by an assistant"),
    ],
)
def test_assistants_are_told_what_the_course_allows(
    type_: Type, tmp_path: Path, course: str, says: str
) -> None:
    if course:
        (tmp_path / "course.toml").write_text(course)
    agents = tmp_path / "AGENTS.md"
    assert "written  AGENTS.md" in type_("start", "1.1").out
    assert says in agents.read_text()
    agents.write_text("mine")
    assert "AGENTS.md" not in type_("start", "1.1").out
    assert agents.read_text() == "mine"


def test_what_all_katas_ask_for_has_a_page_that_is_shown_and_started(
    type_: Type, pack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KATA_PACKS", str(pack))
    (pack / "contract.md").write_text("# The contract\n\nEvery list comes back in order.\n")
    assert "Every list comes back in order." in type_("show", "contract").out
    assert "Every list" in type_("show", "contract", "--json").json["lesson"]
    assert "written  contract.md" in type_("start", "1.1").out
    assert (tmp_path / "contract.md").read_text() == (pack / "contract.md").read_text()


def test_a_policy_that_there_is_not_is_refused_before_anything_is_written(
    type_: Type, tmp_path: Path
) -> None:
    (tmp_path / "course.toml").write_text('[ai]\npolicy = "forbidden"')
    type_("start", "1.1").refused("policy")
    assert [path.name for path in tmp_path.iterdir()] == ["course.toml"]


def test_what_is_printed_for_vscode_fits_the_pattern_of_the_tasks() -> None:
    check = CheckReport(
        name="order", id="test_order", aspect="values", hidden=False, status="fail", points=0, max_points=1,
        message="called  insertion_sort([3, 1])\ngot [3, 1]",
    )  # fmt: skip
    report = KataReport(
        kata="insertion-sort", number="1.1.1", status="fail", score=0, max_score=1, seed=0,
        file=str(TINY / "1.1-sorting/insertion-sort/insertion_sort.py"), checks=[check],
    )  # fmt: skip
    lines = WRITERS["vscode"]([report]).splitlines()
    assert lines
    assert all(re.fullmatch(PROBLEM.strip("^$"), line) for line in lines)


@pytest.mark.nightly
def test_watch_says_where_a_check_begins_and_ends(
    kata_process: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KATA_PACKS", str(TINY))
    assert kata_process("start", "1.1", cwd=tmp_path).code == 0
    from tests.conftest import KATA

    with subprocess.Popen(
        [str(KATA), "watch", "--format", "vscode"], cwd=tmp_path, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        lines = [process.stdout.readline().rstrip()]
        assert re.search(BEGINS, lines[0])
        while not re.search(ENDS, lines[-1]):
            lines.append(process.stdout.readline().rstrip())
            assert lines[-1]
        process.terminate()
    assert all(re.match(PROBLEM, line) for line in lines[1:-1])


@pytest.mark.parametrize(
    ("shell", "file"),
    [
        ("bash", ".local/share/bash-completion/completions/kata"),
        ("fish", ".config/fish/completions/kata.fish"),
        ("zsh", ".zshrc"),
    ],
)
def test_completion_is_installed_where_the_shell_looks_and_once(
    type_: Type, tmp_path: Path, shell: str, file: str
) -> None:
    if shell == "zsh":
        (tmp_path / file).write_text("alias ll='ls -l'")
    assert type_("completion", shell, "--install").code == 0
    once = (tmp_path / file).read_text()
    assert "_KATA_COMPLETE" in once
    assert type_("completion", shell, "--install").code == 0
    assert (tmp_path / file).read_text() == once
    if shell == "zsh":
        assert once.startswith("alias ll='ls -l'\n")


def test_bash_knows_the_ids(type_: Type, tmp_path: Path) -> None:
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("no bash here")
    assert "complete" in type_("completion").out
    words = {"COMP_WORDS": "kata check insertion", "COMP_CWORD": "2", "_KATA_COMPLETE": "bash_complete"}
    from tests.conftest import KATA

    done = completed([str(KATA)], env={**os.environ, **words})
    assert "insertion-sort" in done.stdout


def test_a_shell_that_nobody_knows(type_: Type, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHELL", "/bin/tcsh")
    type_("completion", "--install").refused("kata completion bash|zsh|fish --install")
