"""Every way to look fast, or to take little memory, without being so: none gets the points."""

from __future__ import annotations

import ast
import shutil
import textwrap
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch
from msgspec import structs

from grader.catalogue import load_pack
from grader.catalogue.file_types import Policy
from grader.engine import sandbox
from grader.engine.host.launcher import ForkLauncher, Launcher
from grader.engine.runner.suite import RunConfig, suites_of
from grader.engine.sandbox.levels import LEVELS
from grader.engine.timing import speed as forms
from grader.engine.timing.speed import Speed
from grader.report.report import CheckReport
from tests.sections import sections

pytestmark = pytest.mark.gate

HERE = Path(__file__).parent / "speed"
ON_THE_CPU = RunConfig()
CHECKS = ("test_time", "test_growth", "test_own", "test_memory")


@dataclass(frozen=True)
class Cheat:
    """One way to look fast."""

    name: str
    source: str
    tries: str
    table: dict[str, Any]

    @property
    def check(self) -> str:
        return str(self.table["check"])

    @property
    def native(self) -> bool:
        """Whether it calls machine code: a kata with a policy lets nobody, one without has to bear it."""
        return bool(self.table.get("native"))

    def words(self, level: str) -> tuple[str, ...]:
        """Return what stands in the message, or one of these."""
        found = {**self.table, **self.table.get(level, {})}["words"]
        return (found,) if isinstance(found, str) else tuple(found)


def _read(name: str, source: str) -> Cheat:
    text = ast.get_docstring(ast.parse(source)) or ""
    tries, _, table = text.partition("\n\n")
    return Cheat(name, source, tries, tomllib.loads(textwrap.dedent(table)))


CHEATS = [
    _read(*cheat) for path in sorted((HERE / "cheats").glob("*.py")) for cheat in sections(path).items()
]
ANSWERS = sections(HERE / "answers.py")
UNCONFINED = [cheat for cheat in CHEATS if "process" in cheat.table]
"""What is something else where nothing keeps a worker from starting processes."""


@pytest.fixture(autouse=True)
def in_short(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """One call in a turn, no picture, and locks of our own: what is so far over its threshold shows beside others."""
    monkeypatch.setattr(forms, "FAILS", 1)  # a second series would say the same
    monkeypatch.setattr(Speed, "_sketch_of", lambda *_: None)
    monkeypatch.setenv("KATA_LOCKS", str(tmp_path))


@pytest.fixture(scope="module")
def level() -> str:
    return str(sandbox.probe().level)


@pytest.fixture(scope="module")
def unconfined() -> Iterator[Launcher]:
    """Workers that nothing shuts in."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KATA_ISOLATION", LEVELS[0])
        launcher = ForkLauncher()
    yield launcher
    launcher.close()


def examine(
    source: str,
    check: str,
    launcher: Launcher,
    folder: Path,
    options: RunConfig = ON_THE_CPU,
    *,
    native: bool = False,
) -> tuple[CheckReport, CheckReport]:
    """Return what is reported of the values, and of one speed check; `native` stands for a kata without a policy."""
    [kata] = load_pack(HERE / "pack").katas
    if native:
        kata = structs.replace(kata, policy=Policy())
    file = folder / "rows.py"
    file.write_text(source)
    shutil.copy(HERE / "waste.py", folder)
    with suites_of([kata], speed=True, keyword=f"test_values or {check}") as suites:
        report = suites["rows"].check(file, launcher, options)
    values, speed = report.checks
    assert (values.id, speed.id) == ("test_values", check)
    return values, speed


def demand_no_points(cheat: Cheat, level: str, values: CheckReport, speed: CheckReport) -> None:
    told = speed.message or ""
    assert values.status == "pass", values.message  # else its speed is nobody's question
    assert speed.status in ("fail", "error", "timeout"), (speed.status, told)
    assert speed.points == 0
    assert any(word in told for word in cheat.words(level)), told


@pytest.mark.parametrize("cheat", CHEATS, ids=lambda cheat: cheat.name)
def test_who_only_looks_fast_gets_nothing_for_it(
    cheat: Cheat, launcher: Launcher, level: str, tmp_path: Path
) -> None:
    options = ON_THE_CPU
    if cheat.table.get("needs") == "cuda":
        if not torch.cuda.is_available():
            pytest.skip("there is no GPU")
        options = RunConfig(device="cuda")
    reported = examine(cheat.source, cheat.check, launcher, tmp_path, options, native=cheat.native)
    demand_no_points(cheat, level, *reported)


@pytest.mark.parametrize("cheat", UNCONFINED, ids=lambda cheat: cheat.name)
def test_nor_where_nothing_keeps_it_from_starting_processes(
    cheat: Cheat, unconfined: Launcher, tmp_path: Path
) -> None:
    reported = examine(cheat.source, cheat.check, unconfined, tmp_path, native=cheat.native)
    demand_no_points(cheat, LEVELS[0], *reported)


@pytest.mark.parametrize(
    ("answer", "check", "status"),
    [
        *(("fast", check, "pass") for check in CHECKS),
        *(("slow", check, "fail") for check in CHECKS[:3]),
        ("greedy", "test_memory", "fail"),
    ],
)
def test_honest_answers_get_what_they_deserve(
    answer: str, check: str, status: str, launcher: Launcher, tmp_path: Path
) -> None:
    _, speed = examine(ANSWERS[answer], check, launcher, tmp_path)
    assert speed.status == status, speed.message
    assert speed.points == (status == "pass")


@pytest.mark.parametrize("cheat", CHEATS, ids=lambda cheat: cheat.name)
def test_every_cheat_says_what_it_tries(cheat: Cheat) -> None:
    assert cheat.tries.endswith(".")
    assert cheat.check in CHECKS
    assert cheat.words("full")
