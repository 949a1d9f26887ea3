"""A pack of one kata, written for one test, and a way to check answers with it."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import pytest

from grader.catalogue import Catalogue, Kata, load_pack
from grader.engine.runner.suite import RunConfig, suites_of
from grader.report.report import KataReport
from tests.pack_files import write_kata, write_pack, write_unit

HEADER = "import torch\nimport pytest\nfrom grader.engine.checks import check, expect, fail\n\n"


class Bench:
    """A pack of one kata, written for one test, and a way to check answers with it."""

    def __init__(self, root: Path, launcher: Any) -> None:
        unit = write_unit(write_pack(root / "pack", "things"), "1.1", "things")
        self.folder = write_kata(unit, "1.1.1", "thing")
        self.solutions = root / "solutions" / "1.1-things" / "thing"
        self.answer = root / "answers" / "thing.py"
        self._launcher = launcher
        for folder in (self.solutions, self.answer.parent):
            folder.mkdir(parents=True)
        (self.folder / "thing.py").write_text("def thing(x):\n    raise NotImplementedError\n")
        self.kata_toml()

    def kata_toml(self, extra: str = "", required: str = '["thing"]') -> None:
        """Write the kata's table, with what it has beside the usual."""
        (self.folder / "kata.toml").write_text(
            'number = "1.1.1"\ntitle = "Thing"\nsummary = "A thing."\nmodule = "thing"\n'
            f"required = {required}\npoints = 1\n{extra}"
        )

    def checks(self, source: str) -> None:
        (self.folder / "checks.py").write_text(HEADER + textwrap.dedent(source))

    def asks(self, body: str) -> None:
        """Have one check, `test_it`, which does this with `submission` and `draw`."""
        body = textwrap.indent(textwrap.dedent(body).strip(), "    ")
        self.checks(f"@check(aspect='values')\ndef test_it(submission, draw):\n    'claim'\n{body}\n")

    def hidden(self, source: str) -> None:
        (self.solutions / "hidden_checks.py").write_text(HEADER + textwrap.dedent(source))

    @property
    def kata(self) -> Kata:
        return Catalogue((load_pack(self.folder.parents[1]),)).resolve_one("thing")

    def check(
        self, answer: str, *, hidden: bool = False, keyword: str | None = None, **options: Any
    ) -> KataReport:
        self.answer.write_text(textwrap.dedent(answer))
        with suites_of([self.kata], hidden=hidden, keyword=keyword) as suites:
            return suites["thing"].check(self.answer, self._launcher, RunConfig(**options))

    def returns(self, value: str, **options: Any) -> KataReport:
        """Check a `thing(x)` that returns this."""
        return self.check(f"def thing(x):\n    return {value}\n", **options)

    def said(self, answer: str) -> str:
        """Return what is said of the first check that this answer does not pass."""
        return next(check.message or "" for check in self.check(answer).checks if check.status != "pass")


@pytest.fixture
def bench(tmp_path: Path, launcher: Any, monkeypatch: pytest.MonkeyPatch) -> Bench:
    monkeypatch.setenv("KATA_SOLUTIONS", str(tmp_path / "solutions"))
    return Bench(tmp_path, launcher)


def statuses(report: KataReport) -> dict[str, str]:
    return {check.id.removeprefix("test_"): check.status for check in report.checks}


def message(report: KataReport, name: str) -> str:
    return next(check.message for check in report.checks if check.id == f"test_{name}") or ""
