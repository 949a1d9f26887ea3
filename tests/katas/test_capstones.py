"""Logs of capstones: `runs.py` puts them into the module, and `logs.py` says which line cannot be read."""

from __future__ import annotations

import ast
import runpy
from pathlib import Path
from typing import Any

import pytest

from grader.engine.checks.failure import CheckFailure
from tests import ours

UNIT = ours.ROOT / "katas" / "9.9-capstones"
CAPSTONES = sorted(slug for slug, kata in ours.katas().items() if kata.unit.folder == UNIT)
LOGS = runpy.run_path(str(UNIT / "logs.py"))


@pytest.fixture(params=CAPSTONES)
def slug(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def runs_of(slug: str) -> dict[str, Any]:
    return runpy.run_path(str(UNIT / slug / "runs.py"))


def log_of(slug: str) -> str:
    """Return the log that the reference hands in."""
    solution = ours.katas()[slug].solution
    assert solution is not None
    tree = ast.parse(solution.read_text(encoding="utf-8"))
    (log,) = [ast.literal_eval(node.value) for node in tree.body if isinstance(node, ast.Assign)
              and ast.unparse(node.targets[0]) == "LOG"]  # fmt: skip
    return str(log)


def test_a_log_is_put_behind_the_code_and_replaced_by_the_next(slug: str, tmp_path: Path) -> None:
    runs, module = runs_of(slug), tmp_path / "module.py"
    code = 'def training_log():\n    """Return LOG."""\n    return LOG\n'
    module.write_text(code)
    for loss in (4.0, 3.5):
        rows = [(step, loss, 0.01) for step in range(1, runs["STEPS"] + 1)]
        runs["put"]("\n".join([runs["HEADER"], *runs["lines_of"]("base", rows)]) + "\n", module)
    text = module.read_text()
    assert text.startswith(code)
    assert text.count("LOG = ") == 1
    log = LOGS["read"](runpy.run_path(str(module))["training_log"](), runs["RUNS"])
    assert [step for step, _, _ in log["base"][1]] == list(runs["LOGGED"])
    assert {loss for _, loss, _ in log["base"][1]} == {3.5}


def test_the_log_of_the_reference_is_whole(slug: str) -> None:
    runs = runs_of(slug)
    log = LOGS["whole"](log_of(slug), runs["RUNS"], runs["LOGGED"])
    assert {run: seed for run, (seed, _) in log.items()} == {
        run: runs["seed_of"](run) for run in runs["RUNS"]
    }


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ("base,1,2,3.9", "line 3 of the log  has 4 cells, not 5"),
        ("base,1,2,low,0.1", "line 3 of the log  has no number as its loss: 'low'"),
        ("base,1,2,nan,0.1", "line 3 of the log  has a number that cannot be"),
        ("base,1,1,4.0,0.1", "line 3 of the log  goes back to step 1"),
        ("base,2,2,4.0,0.1", "line 3 of the log  has another seed"),
        ("mine,1,2,4.0,0.1", "line 3 of the log  has no run of the lesson: 'mine'"),
        pytest.param("base,1,2,4.0,0.1\n" * 10_000, "at most 60,000", id="long"),
    ],
)
def test_a_line_that_cannot_be_read_is_named(bad: str, said: str) -> None:
    text = f"{LOGS['HEADER']}\nbase,1,1,4.0,0.1\n{bad}\n"
    with pytest.raises(CheckFailure) as failed:
        LOGS["read"](text, {"base": {}})
    assert said in str(failed.value)
