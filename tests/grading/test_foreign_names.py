"""Names that learners choose never become code of the grader's: a class of them, graded from inside its folder."""

from __future__ import annotations

import importlib.metadata
import json
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from tests.conftest import TINY, Ran, Run
from tests.grading.conftest import MODULE, RIGHT, SOLUTIONS, WRONG

pytestmark = pytest.mark.gate  # who hands in such names means harm; 44 CPU seconds

GRADED = ("tempfile", "torch", "_pytest")
"""Who of the class is really graded; one would do, for their process is the same."""


def importable() -> list[str]:
    """Return every name that something of ours could import: Python's own modules, and all that is installed."""
    installed = importlib.metadata.packages_distributions()
    ours = {"conftest", "sitecustomize", "usercustomize", "grader", "kata", "checks", "hidden_checks"}
    return sorted(name for name in {*sys.stdlib_module_names, *installed, *ours} if name.isidentifier())


@pytest.fixture
def mark(tmp_path: Path) -> Path:
    """The file that is there as soon as anything of a learner's was imported by someone who may write."""
    return tmp_path / "mark"


@pytest.fixture
def plant(mark: Path) -> Callable[[Path, Iterable[str]], None]:
    """Put packages and modules into a folder that leave the mark when they are imported."""

    def put(folder: Path, forms: Iterable[str] = ("{}/__init__.py", "{}.py"), most: int = 10_000) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        for name in sorted(importable(), key=lambda name: name not in sys.modules)[:most]:
            for form in forms:
                path = folder / form.format(name)
                path.parent.mkdir(exist_ok=True)
                path.write_text(f"open({str(mark)!r}, 'a').write({name!r} + ' ')\n")
        settings = {
            "pytest.ini": "[pytest]\naddopts = -p conftest\npython_files = *.py\n",
            "tox.ini": "[pytest]\naddopts = -p conftest\n",
            "setup.cfg": "[tool:pytest]\naddopts = -p conftest\n",
            "pyproject.toml": "[tool.pytest.ini_options]\naddopts = '-p conftest'\n",
            "matplotlibrc": "backend: module://conftest\n",
        }
        for name, text in settings.items():
            (folder / name).write_text(text)

    return put


def graded(ran: Ran) -> dict[str, str]:
    assert ran.code == 0, ran.text
    rows = [json.loads(line) for line in ran.out.splitlines()]
    return {row["learner"]: row["message"] or row["status"] for row in rows}


def grade(run: Run, where: Path, folder: Path, *only: str, **extra: str) -> dict[str, str]:
    """Grade what is handed in at `where`, standing in `folder`, which is on `PYTHONPATH` as well."""
    words = [word for name in only for word in ("--only", name)]
    book = ("--gradebook", str(folder.parent / f"{folder.name}.sqlite"))
    variables = {
        "KATA_PACKS": str(TINY),
        "PYTEST_PLUGINS": "conftest",
        "PYTEST_ADDOPTS": "-p conftest",
        "MPLBACKEND": "module://conftest",
        **extra,
    }
    command = ("grade", where, "--only", "insertion-sort", *words, "-j", "1", "--json", "-", *book)
    return graded(run(*command, cwd=folder, env=variables))


STRAY = "open('mark', 'w')\n"
DOWNLOADS: dict[str, tuple[dict[str, str], dict[str, str]]] = {
    "canvas": (
        {
            f"tempfile_1234_5001_{MODULE}": RIGHT,
            "tempfile_1234_5002_shutil.py": STRAY,
            f"torch_1235_5003_{MODULE}": WRONG,
        },
        {"tempfile_1234": "pass", "torch_1235": "fail"},
    ),
    "moodle": (
        {
            f"tempfile_1_assignsubmission_file_/{MODULE}": RIGHT,
            "tempfile_1_assignsubmission_file_/shutil.py": STRAY,
            f"torch_2_assignsubmission_file_{MODULE}": WRONG,
        },
        {"tempfile": "pass", "torch": "fail"},
    ),
    "gradescope": (
        {
            "submission_metadata.yml": "---\nsubmission_1:\n  :submitters:\n  - :email: tempfile\n",
            f"submission_1/{MODULE}": RIGHT,
            "submission_1/shutil.py": STRAY,
        },
        {"tempfile": "pass"},
    ),
    "blackboard": (
        {
            "HW_tempfile_attempt_2026-01-02-03-04-05.txt": "Name: T (tempfile)\n",
            f"HW_tempfile_attempt_2026-01-02-03-04-05_{MODULE}": RIGHT,
            "HW_tempfile_attempt_2026-01-02-03-04-05_shutil.py": STRAY,
        },
        {"tempfile": "pass"},
    ),
}


def test_learners_called_like_modules(
    kata_process: Run, plant: Callable[..., None], mark: Path, tmp_path: Path
) -> None:
    room = tmp_path / "class"
    plant(room)
    for name in GRADED:
        (room / name / MODULE).write_text(RIGHT)
    found = grade(kata_process, Path(), room, *GRADED)
    assert {found[name] for name in GRADED} == {"pass"}
    assert not mark.exists(), mark.read_text()


@pytest.mark.parametrize("system", DOWNLOADS)
def test_a_download_with_learners_called_like_modules(
    kata_process: Run, mark: Path, tmp_path: Path, system: str
) -> None:
    """What a system's own names leave free is a learner's: each file that is handed in leaves the mark, too."""
    files, expected = DOWNLOADS[system]
    room = tmp_path / "class"
    for path, text in files.items():
        (room / path).parent.mkdir(parents=True, exist_ok=True)
        (room / path).write_text(text.replace("'mark'", repr(str(mark))))
    found = grade(kata_process, Path(), room)
    assert {learner: found.get(learner) for learner in expected} == expected
    assert not mark.exists(), mark.read_text()


def test_a_course_of_nbgraders(
    kata_process: Run, plant: Callable[..., None], mark: Path, tmp_path: Path
) -> None:
    room = tmp_path / "course" / "submitted"
    plant(room, ["{}/__init__.py"])
    (room / "tempfile" / "hw1").mkdir()
    (room / "tempfile" / "hw1" / MODULE).write_text(RIGHT)
    assert grade(kata_process, room, room, "tempfile") == {"tempfile": "pass"}
    assert not mark.exists(), mark.read_text()


def test_one_learner_with_files_called_like_modules(
    kata_process: Run, plant: Callable[..., None], mark: Path, tmp_path: Path
) -> None:
    room = tmp_path / "ada"
    plant(room, ["{}.py"], 200)  # so many files may go with a submission
    (room / MODULE).write_text(RIGHT)
    found = grade(kata_process, Path(), room, KATA_LAUNCHER="spawn")
    assert list(found.values()) == ["pass"]
    assert not mark.exists(), mark.read_text()


def test_a_workspace_with_files_called_like_modules(
    kata_process: Run, plant: Callable[..., None], mark: Path, tmp_path: Path
) -> None:
    room = tmp_path / "work"
    plant(room)
    (room / MODULE).write_text((SOLUTIONS / MODULE).read_text())
    variables = {"KATA_PACKS": str(TINY), "PYTEST_PLUGINS": "conftest", "PYTEST_ADDOPTS": "-p conftest"}
    kata_process("check", MODULE, cwd=room, env=variables).done()
    assert not mark.exists(), mark.read_text()
