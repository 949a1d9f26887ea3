"""A workspace's checks as pytest's items: collected without running anything, judged by `kata check`."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Printed, Ran
from tests.standby.conftest import RIGHT, WRONG

pytestmark = pytest.mark.slow

TINY = Path(__file__).parents[1] / "packs" / "tiny"
FILE = "1.1-sorting/insertion-sort/insertion_sort.py"
CHECKS = ["test_three_numbers", "test_empty", "test_equal_numbers"]
Tests = Callable[..., Ran]


@pytest.fixture
def space(kata: Tests, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace as `kata start --vscode` lays it."""
    monkeypatch.setenv("KATA_PACKS", str(TINY))
    monkeypatch.chdir(tmp_path)
    assert kata("start", "1.1", "--vscode").code == 0
    return tmp_path


@pytest.fixture
def tests(space: Path) -> Tests:
    """Run pytest there as a learner or an editor does."""

    def run(*arguments: str, cwd: Path = space) -> Ran:
        variables = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments],
            cwd=cwd, env=variables, capture_output=True, text=True, check=False,
        )  # fmt: skip
        return Ran(done.returncode, Printed(done.stdout), Printed(done.stderr))

    return run


def answer(space: Path, source: str) -> None:
    (space / FILE).write_text(source)


@pytest.mark.nightly
def test_the_checks_are_collected_and_nothing_is_run(tests: Tests, space: Path) -> None:
    marker = space / "imported"
    answer(space, f"open({str(marker)!r}, 'w')\nraise SystemExit\n")
    for where in (space, space / "1.1-sorting"):
        found = tests("--collect-only", "-q", cwd=where)
        assert found.code == 0, found.out
        assert [line.partition("::")[2] for line in found.out.splitlines() if "::" in line] == CHECKS
    assert not marker.exists()


@pytest.mark.nightly
def test_each_check_has_the_verdict_that_kata_check_gives(tests: Tests, space: Path, kata: Tests) -> None:
    answer(space, WRONG)
    found = tests("-v", "--tb=long")
    report = kata("check", "--json").json["katas"][0]
    words = {"pass": "PASSED", "fail": "FAILED", "skipped": "SKIPPED"}
    assert {check["status"] for check in report["checks"]} == set(words)
    for check in report["checks"]:
        assert f"{FILE}::{check['id']} {words[check['status']]}" in found.out
        assert check["status"] != "fail" or check["message"] in found.out
    assert "pytest_plugin.py" not in found.out.partition("FAILURES")[2].partition("short test summary")[0]
    answer(space, RIGHT)
    assert tests().code == 0


@pytest.mark.nightly
def test_one_check_by_its_name_runs_nothing_of_the_file_in_pytest(tests: Tests, space: Path) -> None:
    """Named, a file is a test module to pytest, which imports those."""
    marker = space / "imported"
    attempt = f"try:\n    open({str(marker)!r}, 'w')\nexcept OSError:\n    pass\n"
    answer(space, attempt + WRONG)
    found = tests("-v", f"{FILE}::test_empty", f"{FILE}::test_three_numbers")
    assert "1 failed, 1 passed" in found.out
    assert not marker.exists()


@pytest.mark.nightly
def test_what_is_not_written_is_skipped_and_what_does_not_load_fails(tests: Tests, space: Path) -> None:
    found = tests("-rs")
    assert (found.code, f"{len(CHECKS)} skipped" in found.out, "not written yet" in found.out) == (
        0,
        True,
        True,
    )
    answer(space, "def insertion_sort(:\n")
    found = tests()
    assert (found.code, f"{len(CHECKS)} failed" in found.out) == (1, True)
    assert "insertion_sort.py, line 1" in found.out


def test_own_tests_are_collected_as_ever_and_backups_are_not(tests: Tests, space: Path) -> None:
    (space / "1.1-sorting" / "test_mine.py").write_text("def test_mine(): pass\n")
    old = space / "backups" / "insertion-sort"
    old.mkdir(parents=True)
    (old / "insertion_sort.py").write_text(WRONG)
    (space / "elsewhere.py").write_text("raise SystemExit\n")
    found = tests("--collect-only", "-q")
    assert {line.partition("::")[2] for line in found.out.splitlines() if "::" in line} == {
        *CHECKS,
        "test_mine",
    }


@pytest.mark.nightly
def test_what_cannot_be_checked_says_why(tests: Tests, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KATA_ISOLATION", "perfect")
    found = tests(f"{FILE}::test_empty")
    assert found.code == 1
    assert "full, confined or process" in found.out
