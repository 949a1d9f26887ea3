"""Imports run one way: what pyproject.toml says of it holds, and is noticed where it does not."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.conftest import completed

ROOT = Path(__file__).parents[2]
OURS = {"grader", "kata", "blocks"}
WITH_JINJA = "markupsafe"  # what its templates are made of
LINT = Path(sys.executable).with_name("lint-imports")


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    return completed([LINT, "--no-cache"], cwd=folder)


def test_imports_run_one_way() -> None:
    found = lint(ROOT)
    assert found.returncode == 0, found.stdout + found.stderr


BREACHES = {
    "the wire knows the grader": (
        "engine/wire/uses.py",
        "from grader.errors import KataError",
        "grader.engine.wire.uses -> grader.errors",
    ),
    "the author's interface knows how checks are run": (
        "engine/checks/decorators.py",
        "def late():\n    from grader.engine.runner import suite",
        "grader.engine.checks.decorators -> grader.engine.runner.suite",
    ),
    "a worker knows katas": (
        "engine/worker/loader.py",
        "from grader.catalogue import Kata",
        "grader.engine.worker.loader -> grader.catalogue",
    ),
    "the grader loads untrusted code": (
        "engine/runner/suite.py",
        "def late():\n    from grader.engine.worker import serve",
        "grader.engine.runner.suite -> grader.engine.worker.serve",
    ),
    "a circle of two modules, one way inside a function": (
        "engine/host/calls.py",
        "def late():\n    from grader.engine.host import session",
        ".calls -> .session",
    ),
    "a folder without a place": ("newcomer/__init__.py", "", "- grader.newcomer"),
}


@pytest.mark.slow
def test_every_breach_is_found(tmp_path: Path) -> None:
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    shutil.copytree(
        ROOT / "grader", tmp_path / "grader", ignore=shutil.ignore_patterns("__pycache__", "_katas")
    )
    for file, text, _ in BREACHES.values():
        broken = tmp_path / "grader" / file
        broken.parent.mkdir(parents=True, exist_ok=True)
        with broken.open("a", encoding="utf-8") as out:
            out.write(f"\n{text}\n")
    found = lint(tmp_path)
    words = " ".join(found.stdout.split())
    assert found.returncode != 0, words
    for name, (_, _, told) in BREACHES.items():
        assert told in words, f"{name}: {words}"


@pytest.mark.slow
def test_what_is_imported_is_a_dependency() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lines = [
        *project["dependencies"],
        *(line for extra in project["optional-dependencies"].values() for line in extra),
    ]
    required = {Requirement(line).name.lower().replace("-", "_") for line in lines}
    packages = metadata.packages_distributions()
    for file in (ROOT / "grader").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            for top in (
                {name.partition(".")[0] for name in names} - sys.stdlib_module_names - OURS - {WITH_JINJA}
            ):
                given = {one.lower().replace("-", "_") for one in packages.get(top, [top])}
                assert given & required, f"{file.relative_to(ROOT)} imports {top}"
