"""Whatever changes, something is run: the map from folders to tests has them all."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import of

ROOT = Path(__file__).parents[2]
ROOMS = ("engine", "extras", "instructor", "learner")
ENGINE = sorted(
    path.relative_to(ROOT).as_posix()
    for room in ("", *ROOMS)
    for path in (ROOT / "grader" / room).iterdir()
    if (path.suffix == ".py" or (path / "__init__.py").is_file())
    and path.name not in ROOMS
    and not (room and path.name == "__init__.py")
)
FOLDERS = sorted(
    path.relative_to(ROOT / "tests").as_posix()
    for folder in ("tests", "tests/extras")
    for path in (ROOT / folder).iterdir()
    if any(path.glob("test_*.py"))
)
APART = {"jupyter"}
"""It needs an environment of its own: `make jupyter`."""


def in_gate(file: Path) -> bool:
    return "pytestmark = pytest.mark.gate" in file.read_text(encoding="utf-8")


@pytest.mark.parametrize("part", [*ENGINE, "kata.py", "katas", "solutions", "demo", "docs", "benchmarks"])
def test_every_folder_and_module_is_in_the_map(part: str) -> None:
    assert of.TESTS[part]
    path = ROOT / part
    inside = path if path.is_file() else next(path.rglob("*.*"))
    tests = of.tests_of([inside.relative_to(ROOT).as_posix()])
    assert {f"tests/{name}" for name in of.TESTS[part].split()} <= set(tests)


def test_the_map_names_what_there_is_and_nothing_else() -> None:
    assert [part for part in of.TESTS if not (ROOT / part).exists()] == []
    named = {name for names in of.TESTS.values() for name in names.split()}
    assert named | APART == set(FOLDERS)
    for name in named:
        assert not all(map(in_gate, (ROOT / "tests" / name).glob("test_*.py"))), name


@pytest.mark.parametrize("name", FOLDERS)
def test_a_change_of_tests_runs_them(name: str) -> None:
    assert f"tests/{name}" in of.tests_of([f"tests/{name}/conftest.py"])


def test_a_change_of_a_kata_or_its_answers_examines_it() -> None:
    unit = "9.3-encoder-vs-decoder"
    paths = [
        f"katas/{unit}/masks/checks.py",
        f"solutions/{unit}/layer-norm/mutants/axes.py",
        f"katas/{unit}/unit.toml",
    ]
    assert of.katas_of(paths) == ["layer-norm", "masks"]
    assert "tests/katas" in of.tests_of(paths)
    assert of.katas_of(["katas/9.9-capstones/logs.py"]) == ["language-model-capstone", "translator-capstone"]


def test_what_differs_from_a_commit_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(of, "ROOT", tmp_path)
    of._git("init", "-q", "-b", "main")
    for name in ("user.name", "user.email"):
        of._git("config", name, "somebody")
    (tmp_path / "kept").write_text("1")
    (tmp_path / "edited").write_text("1")
    of._git("add", "-A")
    of._git("commit", "-q", "-m", "first")
    of._git("checkout", "-q", "-b", "own")
    (tmp_path / "edited").write_text("2")
    of._git("commit", "-q", "-a", "-m", "second")
    (tmp_path / "new").write_text("1")
    assert of.changed("main") == ["edited", "new"]
