"""Imports run one way: what pyproject.toml says of it holds, and is noticed where it does not."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LINT = Path(sys.executable).with_name("lint-imports")


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([LINT, "--no-cache"], cwd=folder, capture_output=True, text=True)


def test_imports_run_one_way() -> None:
    found = lint(ROOT)
    assert found.returncode == 0, found.stdout + found.stderr


BREACHES = {
    "the wire knows the grader": (
        "wire/uses.py",
        "from grader.errors import KataError",
        "only from those below",
    ),
    "the author's interface knows how checks are run": (
        "checks/marks.py",
        "def late():\n    from grader.running import suite",
        "only from those below",
    ),
    "a worker knows katas": (
        "worker/loader.py",
        "from grader.catalogue import Kata",
        "knows nothing of katas",
    ),
    "the grader loads untrusted code": (
        "running/suite.py",
        "def late():\n    from grader.worker import serve",
        "imports the fork server's client",
    ),
    "a circle of two modules, one way inside a function": (
        "host/calls.py",
        "def late():\n    from grader.host import session",
        "import each other",
    ),
    "a folder without a place": ("newcomer/__init__.py", "", "newcomer"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", BREACHES)
def test_a_breach_is_found(name: str, tmp_path: Path) -> None:
    file, text, told = BREACHES[name]
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    shutil.copytree(
        ROOT / "grader", tmp_path / "grader", ignore=shutil.ignore_patterns("__pycache__", "_katas")
    )
    broken = tmp_path / "grader" / file
    broken.parent.mkdir(exist_ok=True)
    with broken.open("a", encoding="utf-8") as out:
        out.write(f"\n{text}\n")
    found = lint(tmp_path)
    words = " ".join(found.stdout.split())
    assert found.returncode != 0, words
    assert told in words
