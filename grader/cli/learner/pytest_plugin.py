"""Let pytest show a workspace's checks, and so VS Code's Test Explorer and whatever else speaks pytest.

It is loaded by `-p grader.cli.learner.pytest_plugin`, which `kata start --vscode` writes into `pytest.ini`. What is
collected is read, not run: the checks' names from the pack. A learner's file is judged by `kata check`, in a process
of its own, once for all of its checks; nothing of it is imported by pytest.
"""

from __future__ import annotations

import ast
import json
import subprocess
from collections.abc import Generator, Iterable, Iterator
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import pytest

from grader.catalogue import SUBMISSION_SUFFIXES, Catalogue, Kata
from grader.data_files import read_text
from grader.interpreter import command
from grader.learner.workspace import find_workspace
from grader.report.annotations import definitions

WITHOUT_VERDICT = frozenset({"todo", "skipped"})
BROKEN = frozenset({"error", "timeout", "missing"})
"""Of a whole file: then no check of it has a verdict."""


class NotChecked(Exception):
    """`kata check` could not judge the file."""


@cache
def _katas() -> dict[tuple[str, str], Kata]:
    """Return every kata by the folder that `kata start` puts it into."""
    return {(kata.unit.folder.name, kata.slug): kata for kata in Catalogue.discover().katas}


def _kata_of(file: Path) -> Kata | None:
    """Return the kata whose answer this file of a workspace holds."""
    if file.suffix not in SUBMISSION_SUFFIXES or find_workspace(file.parent) is None:
        return None
    kata = _katas().get((file.parent.parent.name, file.parent.name))
    return kata if kata is not None and kata.adapter is None and file.stem == kata.module else None


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(
    file_path: Path, parent: pytest.Collector
) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Put a kata's checks where pytest itself would import the file: it does when somebody names it."""
    found = yield
    kata = _kata_of(file_path)
    return found if kata is None else [AnswerFile.of(kata, file_path, parent)]


class AnswerFile(pytest.File):
    """The file of a kata's answer."""

    kata: Kata

    @classmethod
    def of(cls, kata: Kata, file: Path, parent: pytest.Collector) -> AnswerFile:
        """Return the collector of a kata's checks."""
        made: AnswerFile = cls.from_parent(parent, path=file)
        made.kata = kata
        return made

    def collect(self) -> Iterable[pytest.Item]:
        """Yield the kata's checks in their order."""
        lines = definitions(str(self.path))
        for name, title, asks in _checks(self.kata.checks):
            yield Check.of(self, name, title, lines.get(asks, 1))

    @cached_property
    def report(self) -> dict[str, Any]:
        """What `kata check` says of the file; it is asked once."""
        done = subprocess.run(
            # In a process of its own: pytest and its plugins must not be in the zygote that answers is
            # forked from.
            command("grader", "check", str(self.path), "--json"),
            cwd=self.path.parent,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=False,
        )
        if not done.stdout.strip():
            raise NotChecked(done.stderr.strip())
        (report,) = json.loads(done.stdout)["katas"]
        return dict(report)


class Check(pytest.Item):
    """A check of a kata."""

    title: str
    line: int

    @classmethod
    def of(cls, parent: AnswerFile, name: str, title: str, line: int) -> Check:
        """Return the check of this name, shown at a line of the learner's file."""
        made: Check = cls.from_parent(parent, name=name)
        made.title, made.line = title, line
        made.extra_keyword_matches.add(title)
        return made

    def runtest(self) -> None:
        """Raise what `kata check` says of it: a check that has no verdict yet is skipped."""
        assert isinstance(self.parent, AnswerFile)
        report = self.parent.report
        found = next((check for check in report["checks"] if check["id"] == self.name), None)
        if found is None or found["status"] in WITHOUT_VERDICT:
            if report["status"] in BROKEN:
                raise AssertionError(report["message"] or report["status"])
            pytest.skip((found and found["message"]) or "not written yet")
        if found["status"] != "pass":
            # Editors tell an AssertionError, which is a failure, from other exceptions.
            likely = f"likely  {found['likely']}" if found["likely"] else ""
            printed = f"printed\n{found['output'].rstrip()}" if found["output"] else ""
            lines = (f"{self.title}: {found['status']}", found["message"], likely, printed)
            raise AssertionError("\n".join(filter(None, lines)))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return what a learner reads: the message, without this module's own lines."""
        if isinstance(excinfo.value, (AssertionError, NotChecked)):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Return where an editor shows it, counted from 0, and its title."""
        return self.path, self.line - 1, f"{self.path.stem}: {self.title}"


def _checks(file: Path) -> Iterator[tuple[str, str, str]]:
    """Yield each check's name, its title, and the first name that it asks of the submission; nothing is imported."""
    # Parsed and not imported: an editor collects again and again, and an import would bring torch.
    for node in ast.parse(read_text(file)).body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test"):
            title = (ast.get_docstring(node) or node.name).partition("\n")[0]
            attributes = (
                part.attr
                for part in ast.walk(node)
                if isinstance(part, ast.Attribute)
                and isinstance(part.value, ast.Name)
                and part.value.id == "submission"
            )
            # One with a constant of the file in it is known where it is run.
            yield node.name, node.name if "{" in title else title, next(attributes, "")
