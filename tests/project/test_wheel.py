"""What learners install: katas and engine, and nothing that gives an answer away."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import completed

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    completed(command, check=True)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def content(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def files(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)


@pytest.mark.slow
def test_holds_engine_and_katas(content: dict[str, bytes]) -> None:
    assert "grader/cli/main.py" in content
    for path in files(ROOT / "grader" / "extras"):
        assert path.relative_to(ROOT).as_posix() in content, path
    for path in files(ROOT / "katas"):
        name = f"grader/_katas/{path.relative_to(ROOT / 'katas').as_posix()}"
        assert content.get(name) == path.read_bytes(), name


def test_holds_no_file_of_the_solutions(content: dict[str, bytes]) -> None:
    known = {hashlib.sha256(data).digest(): name for name, data in content.items() if data.strip()}
    for path in files(ROOT / "solutions"):
        data = path.read_bytes()
        assert not data.strip() or hashlib.sha256(data).digest() not in known, path
    words = ("solutions", "mutants", "alternatives", "hidden_checks")
    packed = [name for name in content if name.startswith("grader/_katas/")]
    assert not [name for name in packed if any(word in name for word in words)]


@pytest.mark.slow
def test_holds_neither_tests_nor_demo_nor_benchmarks(content: dict[str, bytes]) -> None:
    tops = {name.split("/")[0] for name in content}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"grader", "kata.py"}
    assert not [name for name in content if "/tests/" in name or "__pycache__" in name]


@pytest.mark.slow
def test_lists_the_katas_once_installed(wheel: Path, tmp_path: Path) -> None:
    target = tmp_path / "site"
    pip = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--no-index",
        "--target",
        str(target),
    ]
    subprocess.run([*pip, str(wheel)], check=True, capture_output=True)
    elsewhere = tmp_path / "empty"
    elsewhere.mkdir()
    environment = {name: value for name, value in os.environ.items() if not name.startswith("KATA_")}
    environment["PYTHONPATH"] = str(target)
    done = completed(
        [sys.executable, "-m", "grader", "list", "--json"], cwd=elsewhere, env=environment, check=True
    )
    units = {unit["number"]: unit for unit in json.loads(done.stdout)["units"]}
    katas = [kata["kata"] for kata in units["9.3"]["katas"]]
    assert katas[:2] == ["masks", "masked-attention"]
    where = [sys.executable, "-c", "import grader; print(grader.__file__)"]
    found = completed(where, cwd=elsewhere, env=environment, check=True)
    assert Path(found.stdout.strip()).is_relative_to(target)
