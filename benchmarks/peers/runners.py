"""Give a folder of submissions to a grader: wall seconds for all of them, and a score for each.

    outcome = PEERS["pytest"].run([Path("ada.py"), Path("bob.py")], workers=2)
    outcome.scores          {"ada": 12.0, "bob": None}          None: the grader gave no score
    outcome.seconds         of the commands alone; set-ups and results are written and read outside the clock

A submission may be hostile: whatever a grader leaves running is killed after it, and at the time-out.
"""

from __future__ import annotations

import csv
import json
import re
import shutil
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from peers.processes import call

Found = TypeVar("Found")
HERE = Path(__file__).resolve().parent
MODULE = "parts"
KATA_PACK = HERE / "kata" / "katas"
KATA = Path(sys.executable).with_name("kata")
TIMEOUT_S = 60.0
"""What a submission may take with a grader that has no time-out of its own."""


@dataclass
class Outcome:
    """What became of some submissions."""

    seconds: float
    """Wall time of all of them together."""
    scores: dict[str, float | None]
    left_running: int = 0
    """Processes that were still there afterwards and had to be killed."""
    timeouts: list[str] = field(default_factory=list)


class Runner:
    """A grader that can be handed submissions."""

    name: str
    title: str
    parallel = False
    """Whether more than one submission can be graded at once."""

    def run(self, files: Sequence[Path], workers: int = 1, timeout_s: float = TIMEOUT_S) -> Outcome:
        """Grade files named LEARNER.py, each of which answers the exercise."""
        with tempfile.TemporaryDirectory(prefix=f"kata-peer-{self.name}-") as name:
            return self._run(Path(name), files, workers, timeout_s)

    def _run(self, folder: Path, files: Sequence[Path], workers: int, timeout_s: float) -> Outcome:
        raise NotImplementedError

    @property
    def environment(self) -> Path:
        """Its virtual environment."""
        return HERE / ".envs" / self.name

    @property
    def python(self) -> Path:
        """The interpreter of its environment."""
        return self.environment / "bin" / "python"

    def require(self) -> None:
        """Stop when it is not installed."""
        if not (self.environment / "installed").is_file():
            raise SystemExit(f"{self.title} is not installed in {self.environment}; do that with: make peers")

    def variables(self) -> dict[str, str]:
        """Return what its processes find in their environment; a home of their own keeps caches and settings."""
        home = self.environment / "home"
        home.mkdir(exist_ok=True)
        paths = f"{self.environment / 'bin'}:/usr/local/bin:/usr/bin:/bin"
        return {"PATH": paths, "HOME": str(home), "VIRTUAL_ENV": str(self.environment), "PYTHONPATH": ""}


class OneByOne(Runner):
    """A grader whose command takes one submission."""

    def prepare(self, folder: Path, file: Path) -> None:
        """Lay out the folder of one submission."""
        raise NotImplementedError

    def command(self, folder: Path) -> list[str | Path]:
        """Return the command that grades it, run in that folder."""
        raise NotImplementedError

    def score(self, folder: Path) -> float:
        """Read the score from the results; any exception means that there is none."""
        raise NotImplementedError

    def _run(self, folder: Path, files: Sequence[Path], workers: int, timeout_s: float) -> Outcome:
        self.shared(folder)
        folders = {file.stem: folder / "submissions" / file.stem for file in files}
        for file in files:
            folders[file.stem].mkdir(parents=True)
            self.prepare(folders[file.stem], file)
        variables = self.variables()

        def grade(name: str) -> tuple[float, bool, object]:
            return call(self.command(folders[name]), folders[name], variables, timeout_s)

        with ThreadPoolExecutor(workers if self.parallel else 1) as pool:
            began = time.perf_counter()
            ended = list(pool.map(grade, folders))
            seconds = time.perf_counter() - began
        outcome = Outcome(seconds, {})
        for (name, place), (_, finished, mark) in zip(folders.items(), ended, strict=True):
            outcome.left_running += mark.end()  # type: ignore[attr-defined]
            outcome.scores[name] = _or_none(self.score, place)
            if not finished:
                outcome.timeouts.append(name)
        return outcome

    def shared(self, folder: Path) -> None:
        """Write what all submissions share."""


class Pytest(OneByOne):
    """A pytest process for each submission."""

    name, title, parallel = "pytest", "pytest, a process each", True

    def prepare(self, folder: Path, file: Path) -> None:
        _copy(
            folder,
            assertions=HERE / "assertions.py",
            test_parts=HERE / "pytest" / "test_parts.py",
            parts=file,
        )

    def command(self, folder: Path) -> list[str | Path]:
        return [self.python, "-m", "pytest", "-q", "--junitxml=report.xml", "test_parts.py"]

    def score(self, folder: Path) -> float:
        (suite,) = ElementTree.parse(folder / "report.xml").getroot()
        count = {key: int(suite.attrib[key]) for key in ("tests", "failures", "errors", "skipped")}
        return float(count.pop("tests") - sum(count.values()))


class Gradescope(OneByOne):
    """Gradescope's unittest runner, a process for each submission."""

    name, title = "gradescope", "gradescope-utils"

    def prepare(self, folder: Path, file: Path) -> None:
        tests = HERE / "gradescope" / "test_parts.py"
        _copy(folder, assertions=HERE / "assertions.py", test_parts=tests, parts=file)

    def command(self, folder: Path) -> list[str | Path]:
        return [self.python, "test_parts.py", "results.json"]

    def score(self, folder: Path) -> float:
        return float(sum(test["score"] for test in _json(folder / "results.json")["tests"]))


class Check50(OneByOne):
    """check50 on this machine; it spreads the checks of one submission over the cores itself."""

    name, title = "check50", "check50 --dev"

    def shared(self, folder: Path) -> None:
        shutil.copytree(HERE / "check50", folder / "checks")
        shutil.copy(HERE / "assertions.py", folder / "checks")

    def prepare(self, folder: Path, file: Path) -> None:
        _copy(folder, parts=file)

    def command(self, folder: Path) -> list[str | Path]:
        checks = folder.parent.parent / "checks"
        program = self.environment / "bin" / "check50"
        return [program, "--dev", "-o", "json", "--output-file", "results.json", checks]

    def score(self, folder: Path) -> float:
        results = _json(folder / "results.json")["results"]
        return float(sum(one["passed"] is True for one in results if one["name"] != "exists"))


class Otter(OneByOne):
    """otter run: a notebook with the submission in its one cell, and the autograder's archive."""

    name, title = "otter", "otter run"

    def shared(self, folder: Path) -> None:
        shutil.copy(HERE / "otter" / "otter_config.json", folder)
        shutil.copy(HERE / "assertions.py", folder)
        (folder / "tests").mkdir()
        test = (HERE / "otter" / "test.py").read_text(encoding="utf-8")
        points = re.findall(
            r"^def (\w+)\(answer\)", (HERE / "assertions.py").read_text(encoding="utf-8"), re.M
        )
        for place, point in enumerate(points, 1):
            (folder / "tests" / f"q{place:02}_{point}.py").write_text(test.replace("mask_shape", point))
        program = self.environment / "bin" / "otter"
        command = [program, "generate", "-t", "tests", "-o", "autograder.zip"]
        options = ["--no-environment", "--no-requirements", "assertions.py"]
        _, ended, _ = call([*command, *options], folder, self.variables(), TIMEOUT_S)
        if not ended or not (folder / "autograder.zip").is_file():
            raise SystemExit(f"otter generate failed:\n{(folder / 'output.txt').read_text()}")

    def prepare(self, folder: Path, file: Path) -> None:
        cell = {"cell_type": "code", "id": "answer", "execution_count": None, "metadata": {}, "outputs": []}
        spec = {"name": "python3", "display_name": "Python 3", "language": "python"}
        notebook = {
            "cells": [{**cell, "source": file.read_text(encoding="utf-8")}],
            "metadata": {"kernelspec": spec},
            "nbformat": 4,
            "nbformat_minor": 5,
        }
        (folder / "parts.ipynb").write_text(json.dumps(notebook), encoding="utf-8")

    def command(self, folder: Path) -> list[str | Path]:
        program, archive = self.environment / "bin" / "otter", folder.parent.parent / "autograder.zip"
        return [program, "run", "-a", archive, "-o", folder, "--no-logo", "parts.ipynb"]

    def score(self, folder: Path) -> float:
        return float(sum(test.get("score", 0.0) for test in _json(folder / "results.json")["tests"]))


class Nbgrader(Runner):
    """nbgrader autograde: all submissions in one batch, which it takes one after the other."""

    name, title = "nbgrader", "nbgrader autograde, one batch"

    def _run(self, folder: Path, files: Sequence[Path], workers: int, timeout_s: float) -> Outcome:
        course, answers = folder / "course", folder / "answers"
        course.mkdir()
        answers.mkdir()
        for file in files:
            shutil.copy(file, answers / f"{file.stem}.py")
        shutil.copy(HERE / "nbgrader" / "nbgrader_config.py", course)
        variables = self.variables()
        build = [self.python, HERE / "nbgrader" / "build.py", course, answers]
        _, ended, _ = call(build, folder, {**variables, "PYTHONPATH": str(HERE)}, 300.0)
        if not ended or not (course / "submitted").is_dir():
            raise SystemExit(f"the nbgrader course was not built:\n{(folder / 'output.txt').read_text()}")
        nbgrader = [self.python, "-m", "nbgrader"]
        seconds, finished, mark = call(
            [*nbgrader, "autograde", MODULE], course, variables, timeout_s * len(files)
        )
        outcome = Outcome(seconds, {}, mark.end(), [] if finished else [file.stem for file in files])
        call([*nbgrader, "export", "--to", "grades.csv"], course, variables, 300.0)
        grades = _or_none(_grades, course / "grades.csv") or {}
        outcome.scores = {file.stem: grades.get(file.stem) for file in files}
        return outcome


class Kata(Runner):
    """kata grade, as an instructor types it."""

    name, title, parallel = "kata", "kata grade", True

    def require(self) -> None:
        """It is what this environment is for."""

    def _run(self, folder: Path, files: Sequence[Path], workers: int, timeout_s: float) -> Outcome:
        handed_in = folder / "class"
        for file in files:
            (handed_in / file.stem).mkdir(parents=True)
            shutil.copy(file, handed_in / file.stem / f"{MODULE}.py")
        command = grade_command(handed_in, folder / "gradebook.sqlite", workers, folder / "reports.jsonl")
        seconds, finished, mark = call(command, folder, kata_variables(), timeout_s * len(files))
        outcome = Outcome(seconds, {file.stem: None for file in files}, mark.end())
        if not finished:
            outcome.timeouts = list(outcome.scores)
        for report in _or_none(_lines, folder / "reports.jsonl") or []:
            outcome.scores[report["learner"]] = report["score"]
        return outcome


class Floor(Runner):
    """The same twelve assertions in a fork of a warmed process: no pytest, no isolation, no report."""

    name, title, parallel = "floor", "the floor", True

    def require(self) -> None:
        """It runs in this environment."""

    def _run(self, folder: Path, files: Sequence[Path], workers: int, timeout_s: float) -> Outcome:
        names = folder / "files.json"
        names.write_text(json.dumps([str(file) for file in files]), encoding="utf-8")
        command = [sys.executable, HERE / "floor.py", names, str(workers), folder / "scores.json"]
        seconds, _, mark = call(command, folder, {}, timeout_s * len(files))
        mark.end()
        scores = _or_none(_json, folder / "scores.json") or {}
        return Outcome(seconds, {file.stem: scores.get(file.stem) for file in files})


def grade_command(submissions: Path, gradebook: Path, workers: int, reports: Path | None) -> list[str | Path]:
    """Return the `kata grade` that grades the exercise."""
    command: list[str | Path] = [KATA, "grade", submissions, "--gradebook", gradebook, "-j", str(workers)]
    return [*command, "--only", MODULE, "--seed", "0", *(("--json", reports) if reports else ())]


def kata_variables() -> dict[str, str]:
    """Return what `kata grade` needs in its environment to know the exercise."""
    return {"KATA_PACKS": str(KATA_PACK)}


def _copy(folder: Path, **files: Path) -> None:
    for name, file in files.items():
        shutil.copy(file, folder / f"{name}.py")


def _json(path: Path) -> dict:
    return json.loads(path.read_text(encoding="utf-8"))


def _lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _grades(path: Path) -> dict[str, float]:
    with path.open(encoding="utf-8", newline="") as file:
        return {row["student_id"]: float(row["score"]) for row in csv.DictReader(file) if row["score"]}


def _or_none(read: Callable[[Path], Found], path: Path) -> Found | None:
    """Read what a grader wrote; a hostile submission may have left anything there."""
    try:
        return read(path)
    except Exception:
        return None


PEERS: dict[str, Runner] = {
    peer.name: peer for peer in (Pytest(), Gradescope(), Check50(), Otter(), Nbgrader())
}
EVERYONE: dict[str, Runner] = {"kata": Kata(), "floor": Floor(), **PEERS}
