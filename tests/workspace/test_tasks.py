"""VS Code's tasks, followed as VS Code follows them: 9.3.1 from its stub to a pass, by their commands and patterns."""

from __future__ import annotations

import ast
import json
import os
import re
import shlex
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
SLUG = Path("9.3-encoder-vs-decoder") / "masks"
REFERENCE = ROOT / "solutions" / SLUG / "masks.py"
PATIENCE_S = 180
RIGHT, LATE = "return key <= query", "return key <= query + 1"


@dataclass(frozen=True)
class Problem:
    """A line of the editor's list of problems."""

    file: Path
    line: int
    severity: str
    message: str
    code: str


@dataclass
class Task:
    """A task of tasks.json in an editor that has one file open."""

    about: dict[str, Any]
    root: Path
    opened: Path
    problems: list[Problem] = field(default_factory=list)
    """What the editor shows of it."""

    def resolve(self, text: str) -> str:
        for name, value in {"workspaceFolder": self.root, "fileDirname": self.opened.parent}.items():
            text = text.replace(f"${{{name}}}", str(value))
        assert "${" not in text, f"an editor has no {text}"
        return text

    def start(self) -> subprocess.Popen[str]:
        """Start its command in a shell, as tasks of the type `shell` are."""
        assert self.about["type"] == "shell"
        words = [shlex.quote(self.resolve(word)) for word in self.about.get("args", [])]
        where = self.resolve(self.about.get("options", {}).get("cwd", "${workspaceFolder}"))
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        return subprocess.Popen(
            ["sh", "-c", f"exec {' '.join([self.about['command'], *words])}"],
            cwd=where,
            env={**os.environ, "PATH": path, "KATA_WARM": "0"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def read(self, line: str) -> None:
        """Show what a line of its output says, if anything."""
        matcher = self.about["problemMatcher"]
        pattern = matcher["pattern"]
        found = re.search(pattern["regexp"], line)
        if found:
            assert matcher["fileLocation"] == ["autoDetect", "${workspaceFolder}"]
            file = Path(found[pattern["file"]])
            self.problems.append(
                Problem(
                    file if file.is_absolute() else self.root / file,
                    int(found[pattern["line"]]),
                    found[pattern["severity"]],
                    found[pattern["message"]],
                    found[pattern["code"]],
                )
            )

    @contextmanager
    def in_background(self) -> Iterator[Callable[[], None]]:
        """Run it beside the editor; yields what reads on until the pattern that ends a cycle."""
        assert self.about["isBackground"]
        marks = self.about["problemMatcher"]["background"]
        process = self.start()
        watchdog = threading.Timer(PATIENCE_S, process.kill)
        watchdog.start()
        assert process.stdout is not None

        def line() -> str:
            text = process.stdout.readline()  # type: ignore[union-attr]
            assert text, "the task ended"
            return text.rstrip("\n")

        def cycle() -> None:
            while not re.search(marks["beginsPattern"], line()):
                pass
            self.problems.clear()
            while not re.search(marks["endsPattern"], text := line()):
                self.read(text)

        try:
            yield cycle
        finally:
            watchdog.cancel()
            process.terminate()
            process.wait()
            process.stdout.close()

    def to_its_end(self) -> int:
        """Run it once; return its exit code."""
        self.problems.clear()
        with self.start() as process:
            assert process.stdout is not None
            for line in process.stdout:
                self.read(line.rstrip("\n"))
        return process.returncode


@pytest.fixture
def root(kata_process: Any, tmp_path: Path) -> Path:
    assert kata_process("start", "masks", "--vscode", cwd=tmp_path).code == 0
    return tmp_path


def task(root: Path, label: str) -> Task:
    tasks = {one["label"]: one for one in json.loads((root / ".vscode/tasks.json").read_text())["tasks"]}
    return Task(tasks[label], root, root / SLUG / "masks.py")


def parts(source: str) -> dict[str, str]:
    """Return the functions of a module."""
    tree = ast.parse(source)
    return {
        node.name: ast.get_source_segment(source, node) or ""
        for node in tree.body
        if isinstance(node, ast.FunctionDef)
    }


def save(file: Path, text: str) -> None:
    draft = file.with_name(".draft")
    draft.write_text(text)
    os.replace(draft, file)


@pytest.mark.nightly
def test_a_kata_is_solved_by_what_the_tasks_show(root: Path, kata_process: Any) -> None:
    check, watch = task(root, "kata: check"), task(root, "kata: watch this file")
    file, answers = check.opened, parts(REFERENCE.read_text())
    assert check.to_its_end() == 1
    assert [(one.severity, one.code) for one in check.problems] == [("warning", "masks")]

    def begins(name: str) -> int:
        return next(
            node.lineno
            for node in ast.parse(file.read_text()).body
            if isinstance(node, ast.FunctionDef) and node.name == name
        )

    with watch.in_background() as cycle:
        cycle()
        assert watch.problems == check.problems
        written: set[str] = set()
        for name, answer in answers.items():
            late = answer.replace(RIGHT, LATE)
            for text in [late, answer] if late != answer else [answer]:
                source = file.read_text()
                save(file, source.replace(parts(source)[name], text))
                written.add(name)
                mistaken = text == late != answer
                todo = [] if mistaken else [begins(other) for other in answers if other not in written]

                def shown(mistaken: bool = mistaken, todo: list[int] = todo, name: str = name) -> bool:
                    errors = [one for one in watch.problems if one.severity == "error"]
                    if mistaken:
                        return begins(name) in [one.line for one in errors]
                    return not errors and sorted(one.line for one in watch.problems) == todo

                cycle()
                while not shown():  # a save may be seen in two
                    cycle()
                assert {one.file for one in watch.problems} <= {file}
                if mistaken:
                    assert "allows the key after the query" in " ".join(one.message for one in watch.problems)
    assert not watch.problems
    assert check.to_its_end() == 0
    assert not check.problems
    progress = json.loads((root / "kata-progress.json").read_text())
    assert progress["katas"]["masks"]["status"] == "pass"
