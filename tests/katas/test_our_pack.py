"""Every kata of ours passes the gate: stub not started, right answers full marks, each wrong one caught and named.

CI hands in the stub, every right answer at one seed, and a sample of the mistakes, and lets the checks that train see
the reference alone and the mistakes that have to fail them; `make everything` all of it, as `kata pack check --full`
does.
"""

from __future__ import annotations

from typing import Any

import pytest

from grader.author import stability
from grader.author.gate import Gate, Verdict
from grader.engine.runner.suite import RunConfig, Suite, suites_of
from grader.report.report import KataReport
from tests import ours
from tests.conftest import evenly

pytestmark = pytest.mark.gate

SEEDS, SEEDS_WHERE_CHECKS_TRAIN = 3, 1
MISTAKE_SEEDS_WHERE_CHECKS_TRAIN = 5
SAMPLE, SAMPLE_WHERE_CHECKS_TRAIN = 2, 1
"""Mistakes of each kata that CI tries, saboteurs, and kinds of idle functions."""
ANOTHER_SEED = 1
"""The gate begins with 0."""

TELLING = b"""
import sys

class _Telling:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("torch", "sympy"):
            print("imports", name)

sys.meta_path.insert(0, _Telling())
"""
"""Put behind an answer: it prints which of torch's modules calls import."""
FEW_MODULES = 50
"""More of them are an import that takes long."""


@pytest.mark.parametrize("slug", ours.katas())
def test_the_reference_has_full_marks(
    slug: str, launcher: Any, explicit_gradients: list[object], everything: bool
) -> None:
    kata = ours.katas()[slug]
    assert kata.solution is not None
    file = kata.solution
    content = file.read_bytes() + TELLING

    def graded(suites: dict[str, Suite]) -> KataReport:
        suite = suites[slug]
        if not everything:
            suite = suite.exclude(suite.trained())  # to train takes as long as all the rest
        return suite.check(file, launcher, RunConfig(seed=ANOTHER_SEED), content=content)

    with suites_of([kata], hidden=True) as suites:
        report = graded(suites)
    lost = {check.id: check.message for check in report.checks if check.points < check.max_points}
    assert (report.status, lost) == ("pass", {})
    printed = [line for check in report.checks for line in (check.output or "").splitlines()]
    imported = [line for line in printed if line.startswith("imports ")]
    # Each worker is new: what one imports, every submission pays for. `preload` in kata.toml is paid for once.
    assert len(imported) < FEW_MODULES, imported[:FEW_MODULES]
    assert not explicit_gradients, "see grader.engine.wire.codec.products"


# Every other kata here, and the rest in test_answers.py; `kata pack check ID` is the whole of one, `everything` of all.
@pytest.mark.sampled(12)
@pytest.mark.parametrize("slug", ours.katas())
def test_a_kata_passes_the_gate(slug: str, launcher: Any, everything: bool) -> None:
    kata = ours.katas()[slug]

    def examine(suites: dict[str, Suite]) -> Verdict:
        suite = suites[slug]
        trains = any(info.aspect == "learning" for info in suite.infos())
        if everything:
            gate = Gate(
                launcher,
                seeds=SEEDS_WHERE_CHECKS_TRAIN if trains else SEEDS,
                mistake_seeds=MISTAKE_SEEDS_WHERE_CHECKS_TRAIN if trains else stability.SEEDS,
            )
        else:
            most = SAMPLE_WHERE_CHECKS_TRAIN if trains else SAMPLE
            gate = Gate(launcher, mistake_seeds=1, draw=lambda names: evenly(names, most), train=False)
        return gate.examine_answers(kata, suite)

    with suites_of([kata], hidden=True) as suites:
        verdict = examine(suites)
    assert not verdict.findings, "\n".join(f"{one.rule}: {one.message}" for one in verdict.findings)
    # What the gate asks of no other pack: ours shows many ways to be right, and to be wrong.
    assert verdict.mutants >= 10
    assert len(kata.alternatives) >= 2
    if everything:
        assert verdict.named >= 0.9 * verdict.mutants


@pytest.mark.parametrize("slug", ours.katas())
def test_every_mistake_fails_its_check_and_is_told_what_it_was(slug: str, launcher: Any) -> None:
    kata = ours.katas()[slug]
    with suites_of([kata], hidden=True) as suites:
        verdict = Gate(launcher).examine_messages(kata, suites[slug])
    assert not verdict.findings, "\n".join(f"{one.rule}: {one.message}" for one in verdict.findings)


@pytest.mark.parametrize("slug", ours.timed())
def test_what_decides_about_speed_passes_the_gate(slug: str, launcher: Any, everything: bool) -> None:
    kata = ours.katas()[slug]
    gate = Gate(launcher, draw=None if everything else lambda names: evenly(names, 1))
    with suites_of([kata], hidden=True) as suites:
        verdict = gate.examine_speed(kata, suites[slug])
    assert not verdict.findings, "\n".join(f"{one.rule}: {one.message}" for one in verdict.findings)
