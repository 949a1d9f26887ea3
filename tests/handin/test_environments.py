"""Packages for Inspect and verifiers: what is in them, and what their scorer says, without either framework."""

from __future__ import annotations

import importlib.util
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from grader.cli.main import cli
from tests import ours

pytestmark = pytest.mark.slow


def made(framework: str, target: Path, *ids: str) -> Path:
    done = CliRunner().invoke(cli, ["pack", "bundle", framework, *ids, "--out", str(target)])
    assert done.exit_code == 0, done.output
    return target


@pytest.fixture(scope="module")
def scoring(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The scorer of a package, imported as the framework does."""
    package = made("inspect", tmp_path_factory.mktemp("made") / "inspect", "masks")
    spec = importlib.util.spec_from_file_location("scoring", package / "kata_inspect" / "scoring.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(("framework", "needs"), [("inspect", "inspect-ai"), ("verifiers", "verifiers")])
def test_a_package_declares_what_it_needs_and_holds_no_answer(
    framework: str, needs: str, tmp_path: Path
) -> None:
    package = made(framework, tmp_path / "made", "masks", "layer-norm")
    project = tomllib.loads((package / "pyproject.toml").read_text())["project"]
    assert [one.partition(">")[0] for one in project["dependencies"]] == [needs]
    texts = {path.name: path.read_text() for path in package.rglob("*") if path.is_file()}
    compile(texts["tasks.py"], "tasks.py", "exec")
    for slug in ("masks", "layer-norm"):
        kata = ours.katas()[slug]
        assert kata.solution is not None
        assert kata.hidden_checks is not None
        for secret in (kata.solution, kata.hidden_checks):
            long = [
                line for line in secret.read_text().splitlines() if len(line) > 60 and "import" not in line
            ]
            stub = kata.stub.read_text() + kata.lesson.read_text()
            assert not [
                line for line in long if line.strip() not in stub and any(line in t for t in texts.values())
            ]
    again = CliRunner().invoke(cli, ["pack", "bundle", framework, "masks", "--out", str(package)])
    assert again.exit_code == 2


@pytest.mark.nightly
def test_the_reference_gets_everything_and_the_stub_nothing(scoring: Any) -> None:
    right = scoring.reference("masks")
    assert scoring.score("masks", "masks", right)["score"] == 1.0
    windows = f"Here it is:\r\n\r\n{right}\r\nDone.".replace("\n", "\r\n").replace("\r\r", "\r")
    assert scoring.score("masks", "masks", windows)["passed"]
    nothing = scoring.score("masks", "masks", scoring.TASKS[0]["prompt"])
    assert (nothing["score"], nothing["passed"]) == (0.0, False)
    assert scoring.score("masks", "masks", "no code at all")["score"] == 0.0


def test_what_cannot_be_graded_is_no_zero(scoring: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KATA_PYTHON", str(Path(sys.executable).with_name("kata")))
    with pytest.raises(RuntimeError):
        scoring.score("masks", "masks", "x = 1")
