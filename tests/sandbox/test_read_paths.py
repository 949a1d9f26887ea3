from __future__ import annotations

import os
import sys
import sysconfig
from pathlib import Path

import numpy as np

from grader.engine.sandbox import python_read_paths
from tests.conftest import completed

PROJECT = Path(__file__).resolve().parents[2]


def covered(path: str | Path) -> bool:
    return any(Path(path).resolve().is_relative_to(folder) for folder in python_read_paths())


def test_python_and_its_packages_are_covered():
    assert covered(os.__file__)
    assert covered(np.__file__)
    assert covered(sysconfig.get_path("purelib"))


def test_nothing_private_is_covered():
    for path in (
        PROJECT,
        PROJECT / "pyproject.toml",
        Path.home(),
        "/etc/passwd",
        "/tmp",
        f"/proc/{os.getpid()}",
    ):
        assert not covered(path)
    assert not covered("/proc/self/environ")


def test_a_project_on_the_search_path_stays_closed(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(str(PROJECT))
    monkeypatch.syspath_prepend(str(tmp_path))
    assert not covered(PROJECT / "grader")
    assert not covered(tmp_path)


def test_a_project_below_the_prefix_stays_closed(monkeypatch, tmp_path):
    (tmp_path / "lib").mkdir()
    (tmp_path / "src" / "kata").mkdir(parents=True)
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.syspath_prepend(str(tmp_path / "src" / "kata"))
    assert covered(tmp_path / "lib")
    assert not covered(tmp_path / "src" / "kata")


def test_packages_installed_for_a_user_are_covered(monkeypatch, tmp_path):
    packages = tmp_path / "lib" / "python3" / "site-packages"
    packages.mkdir(parents=True)
    monkeypatch.syspath_prepend(str(packages))
    assert covered(packages)
    assert not covered(tmp_path)


def test_the_list_is_short_and_real():
    paths = python_read_paths()
    assert len(paths) < 40
    assert all(path.exists() and path == path.resolve() for path in paths)


def test_nothing_imports_torch():
    code = "import sys, grader.engine.sandbox as s; s.probe(); s.python_read_paths(); print('torch' in sys.modules)"
    done = completed([sys.executable, "-c", code], cwd=PROJECT)
    assert done.stdout == "False\n"
