"""No draw fails a right answer: every check of every kata, hidden ones as well, on hundreds of seeds, each drawn once.

CI takes two further seeds of each reference; `make everything` 300 of each reference and alternative, fewer of checks
that train, and 60 copies of each reference that differ in a comment, graded by the command.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from grader import machine
from grader.engine.runner.suite import RunConfig, Suite, suites_of
from tests import ours
from tests.conftest import Run

pytestmark = pytest.mark.gate

SEEDS, TRAINED, FEW = range(300), range(10), range(2, 4)
"""Of checks, of those that train, and in CI; the gate has seen 0 and 1."""
COPIES = 60


def failures(suite: Suite, file: Path, launcher: Any, seeds: Iterable[int]) -> list[str]:
    """Return the draws in which a right answer does not have full marks."""
    found = []
    for seed in seeds:
        report = suite.check(
            file, launcher, RunConfig(seed=seed, draws=1, name=False), content=file.read_bytes()
        )
        found += [
            f"{file.name}, seed {seed}, {check.id}: {check.message}"
            for check in report.checks
            if check.points < check.max_points and check.status != "timeout"  # which says nothing of the draw
        ]
    return found


@pytest.mark.parametrize("slug", ours.katas())
def test_no_draw_fails_a_right_answer(
    slug: str, launcher: Any, everything: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Nor does a grading process that others have made large.
    monkeypatch.setattr(machine, "OWN_BYTES", 0)
    kata = ours.katas()[slug]
    assert kata.solution is not None
    with suites_of([kata], hidden=True) as suites:
        suite = suites[slug]
        trained = suite.trained()
        drawn = suite.exclude(trained)
        found = failures(drawn, kata.solution, launcher, SEEDS if everything else FEW)
        for file in (kata.solution, *kata.alternatives) if everything else ():
            if file != kata.solution:
                found += failures(drawn, file, launcher, SEEDS)
            if trained:
                found += failures(suite.select(trained), file, launcher, TRAINED)
    assert not found, "\n".join(found)


@pytest.mark.nightly
@pytest.mark.parametrize("slug", ours.katas())
def test_copies_that_differ_in_a_comment_have_full_marks(
    slug: str, kata: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each content has a seed of its own, as each learner's has."""
    reference = ours.katas()[slug].solution
    assert reference is not None
    monkeypatch.setenv("KATA_PACKS", str(ours.ROOT / "katas"))
    monkeypatch.chdir(tmp_path)
    for copy in range(COPIES):
        folder = tmp_path / "class" / f"learner-{copy:02}"
        folder.mkdir(parents=True)
        (folder / reference.name).write_text(f"{reference.read_text()}\n# copy {copy}\n")
    ran = kata("grade", str(tmp_path / "class"), "--only", slug, "--json", "-")
    reports = [json.loads(line) for line in ran.out.splitlines()]
    assert len(reports) == COPIES, ran.text
    for report in reports:
        redrawn = [check["id"] for check in report["checks"] if check.get("redrawn")]
        got = report["status"], report["score"], redrawn
        assert got == ("pass", reports[0]["max_score"], []), (report["learner"], report["seed"])
