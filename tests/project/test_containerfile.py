"""The Containerfile, followed step by step without an image builder: what it installs checks a kata."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from grader import TRIED
from tests.conftest import completed

ROOT = Path(__file__).resolve().parents[2]
FILE = ROOT / "Containerfile"
ANSWER = ROOT / "solutions" / "9.3-encoder-vs-decoder" / "masks" / "masks.py"


def instructions() -> list[tuple[str, str]]:
    lines = [line for line in FILE.read_text().splitlines() if line and not line.startswith("#")]
    assert not any(line.endswith("\\") for line in lines)
    return [(line.partition(" ")[0], line.partition(" ")[2]) for line in lines]


@dataclass
class Image:
    """A folder for an image's root, and a virtual environment for the Python that the base image brings."""

    root: Path
    where: Path = Path("/")
    user: str = "root"
    entry: list[str] = field(default_factory=list)
    usual: list[str] = field(default_factory=list)

    @property
    def python(self) -> Path:
        return self.root / "python"

    def inside(self, path: str) -> Path:
        """Return where a path of the image lies here."""
        return self.root / "image" / str(self.where / path).lstrip("/")

    def begin(self, base: str) -> None:
        assert base == f"python:{TRIED['Python']}-slim"
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(self.python)], check=True)
        # In place of downloads: what this environment has, under whatever is installed.
        (packages,) = self.python.glob("lib/python*/site-packages")
        lent = [entry for entry in sys.path if entry.endswith("site-packages")]
        (packages / "lent.pth").write_text("\n".join(lent) + "\n")
        shim = self.python / "bin" / "useradd"  # nobody is added to this machine
        shim.write_text('#!/bin/sh\n[ "$1" = --create-home ] && mkdir -p "$HOME_OF_IMAGE/$4"\n')
        shim.chmod(0o755)

    def copy(self, words: str) -> None:
        *sources, target = words.split()
        for source in sources:
            found, place = ROOT / source, self.inside(target)
            if found.is_dir():
                shutil.copytree(found, place, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                place.mkdir(parents=True, exist_ok=True)
                shutil.copy(found, place)

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        folder = self.inside(".")
        folder.mkdir(parents=True, exist_ok=True)
        variables = {
            "PATH": f"{self.python / 'bin'}:{os.environ['PATH']}",
            "HOME_OF_IMAGE": str(self.root / "image" / "home"),
            "PIP_NO_INDEX": "1",
            "PIP_NO_BUILD_ISOLATION": "0",  # so pip spells "none of it"
            "KATA_WARM": "0",
        }
        return completed(command, cwd=folder, env=variables)

    def follow(self, name: str, words: str) -> None:
        """Do what an instruction says."""
        if name == "FROM":
            self.begin(words)
        elif name == "WORKDIR":
            self.where = self.where / words
        elif name == "COPY":
            self.copy(words)
        elif name == "RUN":
            assert self.user == "root"
            done = self.run("sh", "-c", words)
            assert done.returncode == 0, f"{words}\n{done.stdout}{done.stderr}"
        elif name == "USER":
            assert (self.root / "image" / "home").is_dir()
            self.user = words
        elif name == "ENTRYPOINT":
            self.entry = json.loads(words)
        elif name == "CMD":
            self.usual = json.loads(words)
        else:
            assert (name, words) == ("ARG", "PIP_EXTRA_INDEX_URL")


def test_what_it_copies_reaches_the_builder() -> None:
    lines = (ROOT / ".containerignore").read_text().splitlines()
    assert lines[0] == "*"
    sent = {line.removeprefix("!") for line in lines if line.startswith("!")}
    copied = {source for name, words in instructions() if name == "COPY" for source in words.split()[:-1]}
    assert copied == sent
    assert all((ROOT / source).exists() for source in copied)
    assert not any("solutions" in source for source in copied)


@pytest.mark.nightly
def test_its_steps_make_an_image_that_checks(tmp_path: Path) -> None:
    image = Image(tmp_path)
    for name, words in instructions():
        image.follow(name, words)
    assert image.user == "learner"
    told = image.run(*image.entry, *image.usual)
    assert "solutions not here" in told.stdout, told.stderr
    assert image.run(*image.entry, "start", "masks").returncode == 0
    shutil.copy(ANSWER, image.inside("9.3-encoder-vs-decoder/masks"))
    done = image.run(*image.entry, "check", "--json")
    (report,) = json.loads(done.stdout)["katas"]
    assert (done.returncode, report["status"], report["score"]) == (0, "pass", 10)
    own = image.run("python", "-I", "-c", "import grader; print(grader.__file__)").stdout
    assert own.startswith(str(image.python))
