"""Every kata of ours passes the gate: stub not started, right answers full marks, each wrong one caught and named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from grader.catalogue import load_pack
from grader.packs.gate import Gate, Verdict
from grader.running.suite import Suite, with_suites

PACK = load_pack(Path(__file__).parents[2] / "katas")
SEEDS, SEEDS_WHERE_CHECKS_TRAIN = 3, 1


@pytest.mark.parametrize("slug", [kata.slug for kata in PACK.katas])
def test_a_kata_passes_the_gate(slug: str, launcher: Any) -> None:
    [kata] = [kata for kata in PACK.katas if kata.slug == slug]

    def examine(suites: dict[str, Suite]) -> Verdict:
        suite = suites[slug]
        trains = any(info.aspect == "learning" for info in suite.infos())
        gate = Gate(launcher, seeds=SEEDS_WHERE_CHECKS_TRAIN if trains else SEEDS)
        return gate.examine(kata, suite)

    verdict = with_suites([kata], examine, hidden=True)
    assert [f"{finding.rule}: {finding.message}" for finding in verdict.findings] == []
    assert verdict.named >= 0.9 * verdict.mutants
