"""Each extra may be deleted, and the rest does without it; api.py is all that an extra imports of the rest."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from grader import api, commands
from grader.cli.main import cli
from tests.conftest import completed

ROOT = Path(__file__).parents[2]
EXTRAS = sorted(path.parent.name for path in ROOT.glob("grader/extras/*/__init__.py"))


@pytest.mark.nightly
@pytest.mark.parametrize("name", EXTRAS)
def test_the_rest_works_without_it(name: str, tmp_path: Path) -> None:
    listed = subprocess.check_output(["git", "ls-files", "-z"], cwd=ROOT, text=True).split("\0")
    for file in filter(None, listed):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / file, tmp_path / file)
    for folder in ("grader", "tests"):
        shutil.rmtree(tmp_path / folder / "extras" / name)
    command = ["-m", "pytest", "-q", "-n", "2", "--dist", "loadgroup", "--ignore", "tests/project", "-m"]
    done = completed([sys.executable, *command, "not slow and not gate"], cwd=tmp_path)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-1000:]


@pytest.mark.slow
def test_everything_that_is_public_is_there() -> None:
    names = api._HOMES  # type: ignore[attr-defined]
    assert [name for name in names if not hasattr(api, name)] == []
    used = "".join(path.read_text(encoding="utf-8") for path in ROOT.glob("grader/extras/*/*.py"))
    assert [name for name in names if name not in used] == []
    with pytest.raises(AttributeError):
        _ = api.nothing  # type: ignore[attr-defined]


def test_commands_of_other_peoples_extras_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    theirs = SimpleNamespace(ADDS={"more": "grader.cli.doctor:doctor", "check": "grader.cli.doctor:doctor"})
    entry = SimpleNamespace(load=lambda: theirs)
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: [entry] * (group == "kata.extras"))
    assert commands.others() == {"more": "grader.cli.doctor:doctor"}
    ran = CliRunner().invoke(cli, ["more", "--help"])
    assert "more [OPTIONS]" in ran.output
    assert "more " in CliRunner().invoke(cli, ["--help"]).output


def test_what_an_extra_adds_is_there() -> None:
    for target in commands.EXTRAS.values():
        commands.load(target)


def test_an_extra_may_import_nothing_else() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    (forbidden,) = (one for one in contracts if one.get("source_modules") == ["grader.extras"])
    rooms = {path.stem for path in (ROOT / "grader").iterdir() if path.suffix == ".py" or path.is_dir()}
    rooms -= {"__init__", "__main__", "__pycache__", "_katas", "api", "extras"}
    assert set(forbidden["forbidden_modules"]) == {f"grader.{room}" for room in rooms}
