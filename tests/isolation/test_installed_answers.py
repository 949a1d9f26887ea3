"""An instructors' pack is installed like any other package, and no submission reads a line of its answers."""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import subprocess
import sys
import venv
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from grader.author.build import build
from grader.catalogue import load_pack
from grader.engine import sandbox
from tests.conftest import TESTS, completed

pytestmark = pytest.mark.slow

ROOT = TESTS.parent

TINY = ROOT / "tests" / "packs" / "tiny"
SOLUTIONS = ROOT / "tests" / "packs" / "solutions"
KIND = "KATA-SECRET-"

WALKS = """
import gc, importlib.resources, os, re, sys, warnings

warnings.simplefilter("ignore")  # what torch says to who looks at its objects

KIND = re.compile(b"KATA-" + b"SECRET-[0-9a-f]{24}")
SEEN, FOUND, NAMES, WALKED = set(), set(), set(), set()
SMALL, MOST = 200_000, 30_000


def look(path):
    SEEN.add(path)
    try:
        if os.path.getsize(path) < SMALL:
            FOUND.update(KIND.findall(open(path, "rb").read()))
    except OSError:
        pass


def walk(top):
    for folder, folders, files in os.walk(top, followlinks=False):
        # What is found once is found: at 'process' a whole disk would else be walked against the time limit.
        if FOUND or folder.startswith(("/sys", "/proc/sys")) or folder in WALKED or len(SEEN) > MOST:
            folders.clear()
            continue
        WALKED.add(folder)
        for name in files:
            if "hidden_checks" in name:
                NAMES.add(os.path.join(folder, name))
            if name.endswith((".py", ".pyc", ".toml", ".md", ".txt", ".json", ".sqlite", "environ", "cmdline")):
                look(os.path.join(folder, name))


tops = {"/", "/proc", "/tmp", os.path.expanduser("~"), *sys.path, *getattr(sys.modules.get("grader"), "__path__", ())}
tops |= {os.path.dirname(os.path.dirname(sys.modules["torch"].__file__)), sys.prefix, sys.base_prefix}
for name in ("kata_pack_tiny_instructor", "grader"):
    try:
        top = importlib.resources.files(name)
        tops |= {str(top), str(top / "solutions"), str(top / "katas")}
    except Exception:
        pass
for top in sorted(tops, key=lambda top: (top == "/", "kata_pack" not in top, "environment" not in top)):
    walk(top)
for path in ("solutions/1.1-sorting/insertion-sort/hidden_checks.py", "katas/pack.toml"):
    for entry in sys.path:
        look(os.path.join(entry, "kata_pack_tiny_instructor", path))
for thing in gc.get_objects():
    if isinstance(thing, dict):
        for value in list(thing.values()):
            if isinstance(value, (str, bytes)):
                FOUND.update(KIND.findall(value.encode("utf-8", "replace") if isinstance(value, str) else value))
print("looked at", len(SEEN) > 1000, sorted(FOUND), sorted(NAMES))


def insertion_sort(values):
    return sorted(values)
"""


@dataclass(frozen=True)
class Install:
    """An environment with the instructors' bundle in it, and a class of one."""

    python: Path
    packages: Path
    folder: Path
    secret: str

    def grade(self, level: str, *extra: str, launcher: str = "fork") -> subprocess.CompletedProcess[str]:
        variables = {name: value for name, value in os.environ.items() if not name.startswith("KATA_")}
        variables |= {"KATA_ISOLATION": level, "KATA_LAUNCHER": launcher, "TOKEN": self.secret}
        command = ["-I", "-m", "grader", "grade", "class", "--only", "insertion-sort", "-j", "1", "--force"]
        return completed(
            [str(self.python), *command, "--timeout", "60", "--json", "-", *extra],
            cwd=self.folder,
            env=variables,
        )


@pytest.fixture(scope="module")
def install(tmp_path_factory: pytest.TempPathFactory) -> Install:
    folder = tmp_path_factory.mktemp("installed")
    folder.parent.chmod(0o755)
    secret = KIND + secrets.token_hex(12)
    shutil.copytree(TINY, folder / "course" / "katas")
    shutil.copytree(SOLUTIONS, folder / "course" / "solutions")
    about = folder / "course" / "katas" / "1.1-sorting" / "insertion-sort" / "kata.toml"
    about.write_text(re.sub(r"\[policy\]\n(?:(?!\[).*\n)*", "", about.read_text()))
    for path in (folder / "course" / "solutions").rglob("*.py"):
        path.write_text(f"{path.read_text()}\n\nKEPT_FROM_LEARNERS = {secret!r}\n")
    wheel = build(load_pack(folder / "course" / "katas"), folder / "dist", "instructor").path
    shutil.rmtree(folder / "course")
    home = folder / "environment"
    venv.create(home, with_pip=False, symlinks=True)
    (packages,) = home.glob("lib/python*/site-packages")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(packages)  # which is what pip does with a wheel such as this
    shutil.rmtree(folder / "dist")
    lent = [entry for entry in sys.path if entry.endswith("site-packages")]
    (packages / "lent.pth").write_text("\n".join([*lent, str(ROOT)]) + "\n")
    (folder / "class" / "eve").mkdir(parents=True)
    (folder / "class" / "eve" / "insertion_sort.py").write_text(WALKS)
    return Install(home / "bin" / "python", packages, folder, secret)


def report_of(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    assert done.returncode == 0, done.stdout + done.stderr
    (report,) = map(json.loads, done.stdout.splitlines())
    return dict(report)


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("level", "launcher"), [("full", "fork"), ("confined", "fork"), ("confined", "spawn")]
)
def test_nothing_of_an_installed_packs_answers_is_found(install: Install, level: Any, launcher: str) -> None:
    if not sandbox.reaches(sandbox.probe().level, level):
        pytest.skip(f"this machine does not offer {level}")
    done = install.grade(level, launcher=launcher)
    report = report_of(done)
    assert report["isolation"] == level
    assert report["status"] == "pass"
    assert any(check["hidden"] for check in report["checks"]), "it was graded with the bundle"
    assert "looked at True []" in report["output"], report["output"][:2000]
    assert install.secret not in done.stdout + done.stderr


@pytest.mark.nightly
def test_at_process_nothing_is_graded_unless_somebody_says_so(install: Install) -> None:
    done = install.grade("process")
    assert done.returncode == 2
    assert "At isolation 'process' every submission can read what you can" in done.stderr
    assert str(install.packages / "kata_pack_tiny_instructor" / "solutions") in done.stderr
    assert "gradebook.sqlite" in done.stderr
    assert "--require-isolation process" in done.stderr
    # What this test stands on: whoever agrees to that is walked all over.
    report = report_of(install.grade("process", "--require-isolation", "process"))
    assert report["status"] == "pass", report
    assert install.secret in report["output"]
