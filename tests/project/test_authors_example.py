"""The example of docs/authors.md is a pack that works, and its shell lines do what the page says."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "authors.md").read_text(encoding="utf-8")
FILE = re.compile(r"(?ms)^`([\w./-]+)`\n\n```\w+\n(.*?)^```$")
SHELL = re.compile(r"(?ms)^```sh\n(.*?)^```$")
KATA = [sys.executable, "-m", "grader"]


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    for name, text in FILE.findall(PAGE):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path


def run(folder: Path, *command: str, packs: Path) -> subprocess.CompletedProcess[str]:
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("KATA_", "PYTEST_"))
    }
    environment |= {"KATA_PACKS": str(packs / "katas"), "PYTHONPATH": str(ROOT), "COLUMNS": "200"}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_the_reference_passes(pack: Path) -> None:
    done = run(pack, *KATA, "check", "solutions/1.1-vectors/center/center.py", packs=pack)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1.1.1 center   4/4 points" in done.stdout


def test_the_stub_is_not_started(pack: Path) -> None:
    space = pack / "space"
    space.mkdir()
    assert run(space, *KATA, "start", "1.1.1", packs=pack).returncode == 0
    done = run(space, *KATA, "check", packs=pack)
    assert done.returncode == 1
    assert "not started" in done.stdout


def test_the_mutant_fails_as_its_docstring_says(pack: Path) -> None:
    submission = pack / "elsewhere" / "center.py"
    submission.parent.mkdir()
    shutil.copy(pack / "solutions/1.1-vectors/center/mutants/whole_mean.py", submission)
    done = run(pack, *KATA, "check", str(submission), packs=pack)
    assert done.returncode == 1
    assert "FAIL 1.1.1 each row loses its own mean" in done.stdout


def test_plain_pytest_shows_the_failure(pack: Path) -> None:
    (line,) = [
        line for block in SHELL.findall(PAGE) for line in block.splitlines() if line.startswith("pytest ")
    ]
    done = run(pack, sys.executable, "-m", *line.split(), packs=pack)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "first difference" in done.stdout
    assert "2 passed" in done.stdout or "3 passed" in done.stdout
