"""Four courses: our solution in each layout has full marks, and every mistake in it is caught, most of them by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from grader.engine.runner.suite import RunConfig
from tests.adapters.courses import ROOT, copy_of, solution, suites
from tests.adapters.mistakes import MISTAKES

pytestmark = [pytest.mark.gate, pytest.mark.nightly]
COURSES = sorted(MISTAKES)
PATIENCE_S = 120.0
"""For a check: some train for seconds, and the machine may be busy."""


@pytest.mark.parametrize("course", COURSES)
def test_adapter_takes_a_page(course: str) -> None:
    lines = [line for file in (ROOT / course).iterdir() for line in file.read_text().splitlines()]
    assert sum(bool(line.strip()) for line in lines) <= 120


@pytest.mark.parametrize("course", COURSES)
def test_solution_has_full_marks(
    course: str, launcher: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    adapter = copy_of(course, tmp_path)
    handed_in = solution(adapter, tmp_path)
    with suites(adapter, monkeypatch) as found:
        for slug, suite in found.items():
            report = suite.check(
                handed_in / suite.kata.answer, launcher, RunConfig(seed=11, timeout_s=PATIENCE_S)
            )
            assert report.score == report.max_score == suite.kata.points + suite.kata.hidden_points, slug
            assert report.status == "pass"


@pytest.mark.parametrize("course", COURSES)
def test_mistakes_are_caught_and_most_are_named(
    course: str, launcher: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    adapter = copy_of(course, tmp_path)
    unsaid = []
    assert len(MISTAKES[course]) == 10
    with suites(adapter, monkeypatch) as found:
        for mistake in MISTAKES[course]:
            text = (adapter.parent / "solutions" / course / mistake.file).read_text()
            assert text.count(mistake.right) == 1, mistake
            wrong = text.replace(mistake.right, mistake.wrong)
            suite = found[mistake.kata]
            file = solution(adapter, tmp_path, **{mistake.file: wrong}) / suite.kata.answer
            report = suite.check(file, launcher, RunConfig(seed=11, timeout_s=PATIENCE_S))
            assert report.status == "fail", mistake
            if not any(check.likely for check in report.checks):
                unsaid.append(mistake.wrong)
    assert len(unsaid) <= 2, unsaid
