"""Every kata of ours passes the gate: stub not started, right answers full marks, each wrong one caught and named.

`make gate` tries everything, and records of which files that is true. `make test` has every reference graded; it tries
one seed and a few mistakes of some katas, drawn by the commit, and of each whose record is of other files.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from grader.packs.gate import Gate, Verdict
from grader.reports.report import KataReport
from grader.running.suite import Options, Suite, with_suites
from tests import record

SEEDS, SEEDS_WHERE_CHECKS_TRAIN = 3, 1
MISTAKE_SEEDS, MISTAKE_SEEDS_WHERE_CHECKS_TRAIN = 20, 5
MISTAKE_SEEDS_IN_A_LIGHT_GATE = 1
"""What a mistake costs shows on one seed; whether its mark hangs on the draw takes the full gate's many to tell."""

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


@pytest.mark.gate
@pytest.mark.entire
@pytest.mark.parametrize("slug", record.katas())
def test_the_reference_has_full_marks(
    slug: str, launcher: Any, explicit_gradients: list[object], in_full: Callable[[str], bool]
) -> None:
    kata = record.katas()[slug]
    assert kata.solution is not None
    file = kata.solution
    content = file.read_bytes() + TELLING

    def graded(suites: dict[str, Suite]) -> KataReport:
        suite = suites[slug]
        if not (record.drawn(slug) or in_full(slug)):
            suite = suite.but_for(suite.trained())  # to train takes as long as all the rest
        return suite.check(file, launcher, Options(seed=record.seed(slug)), content=content)

    report = with_suites([kata], graded, hidden=True)
    lost = {check.id: check.message for check in report.checks if check.points < check.max_points}
    assert (report.status, lost) == ("pass", {})
    printed = [line for check in report.checks for line in (check.output or "").splitlines()]
    imported = [line for line in printed if line.startswith("imports ")]
    # Each worker is new: what one imports, every submission pays for. `preload` in kata.toml is paid for once.
    assert len(imported) < FEW_MODULES, imported[:FEW_MODULES]
    assert not explicit_gradients, "see grader.wire.cotangents"


@pytest.mark.gate
@pytest.mark.parametrize("slug", record.katas())
def test_a_kata_passes_the_gate(
    slug: str, launcher: Any, in_full: Callable[[str], bool], record_property: Callable[[str, object], None]
) -> None:
    kata, full = record.katas()[slug], in_full(slug)
    record_property("gate", "in full" if full else "light")

    def examine(suites: dict[str, Suite]) -> Verdict:
        suite = suites[slug]
        trains = any(info.aspect == "learning" for info in suite.infos())
        seeds = SEEDS_WHERE_CHECKS_TRAIN if trains or not full else SEEDS
        count = record.SAMPLE_WHERE_CHECKS_TRAIN if trains else record.SAMPLE
        draw = None if full else lambda names: record.sample(slug, names, count)
        mistake_seeds = MISTAKE_SEEDS_WHERE_CHECKS_TRAIN if trains else MISTAKE_SEEDS
        mistake_seeds = mistake_seeds if full else MISTAKE_SEEDS_IN_A_LIGHT_GATE
        return Gate(launcher, seeds=seeds, mistake_seeds=mistake_seeds, draw=draw).examine_answers(
            kata, suite
        )

    digest = record.digest_of_kata(slug)
    verdict = with_suites([kata], examine, hidden=True)
    assert not verdict.findings, "\n".join(f"{one.rule}: {one.message}" for one in verdict.findings)
    if full:
        assert verdict.named >= 0.9 * verdict.mutants
        found = {"checks": verdict.checks, "mutants": verdict.mutants, "named": verdict.named}
        record.keep("katas", slug, digest, **found, marks=record.summary(verdict.marks))


@pytest.mark.gate
@pytest.mark.entire
@pytest.mark.parametrize("slug", record.timed())
def test_what_decides_about_speed_passes_the_gate(
    slug: str, launcher: Any, pytestconfig: pytest.Config
) -> None:
    kata = record.katas()[slug]
    full = record.speed_in_full(pytestconfig.getoption("gate"), slug)
    tried = int(record.drawn(slug))
    draw = None if full else lambda names: record.sample(f"slow {slug}", names, tried)
    digest = record.digest_of_speed(slug)
    gate = Gate(launcher, draw=draw)
    verdict = with_suites([kata], lambda suites: gate.examine_speed(kata, suites[slug]), hidden=True)
    assert not verdict.findings, "\n".join(f"{one.rule}: {one.message}" for one in verdict.findings)
    if full:
        record.keep("speed", slug, digest, slow=verdict.tried)


@pytest.mark.parametrize("slug", record.timed())
def test_what_decides_about_speed_passed_with_these_files(slug: str, pytestconfig: pytest.Config) -> None:
    if pytestconfig.getoption("gate") == "full":
        pytest.skip("make gate renews the record")
    assert record.kept("speed").get(slug, {}).get("digest") == record.digest_of_speed(slug), (
        f"what decides about the speed of {slug} has changed since it passed the gate: run make gate"
    )


@pytest.mark.parametrize("slug", record.katas())
def test_the_full_gate_passed_with_these_files(slug: str, pytestconfig: pytest.Config) -> None:
    if pytestconfig.getoption("gate") == "full":
        pytest.skip("make gate renews the record")
    kept = record.kept("katas").get(slug, {})
    assert kept.get("digest") == record.digest_of_kata(slug), (
        f"files of {slug}, or torch, have changed since all of its gate passed: run make gate"
    )
    assert kept["named"] >= 0.9 * kept["mutants"] > 0


def test_nothing_else_is_recorded() -> None:
    assert record.kept("katas").keys() <= record.katas().keys()
    assert record.kept("speed").keys() <= set(record.timed())
    assert record.kept("walks").keys() <= record.WALKS.keys()
