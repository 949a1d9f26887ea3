"""The second corpus: right answers have full marks, wrong ones have not and are told no wrong name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from grader.engine.mistakes.mistakes import mistakes
from grader.engine.runner.suite import RunConfig, Suite, suites_of
from grader.report.report import KataReport
from tests import answers, ours
from tests.conftest import evenly

SAMPLE = 5
"""Wrong answers of each kata that CI tries, evenly spread over their list; right ones all."""


@pytest.mark.gate
@pytest.mark.sampled(12, 1)
@pytest.mark.parametrize("slug", ours.katas())
def test_answers_are_judged_right(slug: str, launcher: Any, tmp_path: Path, everything: bool) -> None:
    kata = ours.katas()[slug]
    file = tmp_path / f"{kata.module}.py"

    def graded(suite: Suite, answer: answers.Answer) -> KataReport:
        file.write_text(answer.text)
        return suite.check(file, launcher, RunConfig(seed=0))

    right, wrong = answers.right(kata), answers.wrong(kata)
    assert min(len(right), len(wrong)) >= 3
    assert len({answer.name for answer in (*right, *wrong)}) == len(right) + len(wrong)
    assert frozenset().union(*(answer.named for answer in wrong)) <= {one.name for one in mistakes(kata)}

    def examine(suites: dict[str, Suite]) -> None:
        trained = suites[slug].select(suites[slug].trained())
        suite = suites[slug].exclude(suites[slug].trained())  # to train takes as long as all the rest
        for answer in right:
            report = graded(suite, answer)
            lost = {check.id: check.message for check in report.checks if check.points < check.max_points}
            assert (answer.name, lost) == (answer.name, {})
        for answer in wrong if everything else evenly(wrong, SAMPLE):
            report = graded(suite, answer)
            if report.score == report.max_score:
                report = graded(trained, answer)
            assert report.score < report.max_score, answer.name
            # Of two that are offered, one has to be true.
            untrue = [
                name
                for name in answers.said(report.checks).values()
                if answer.named.isdisjoint(name.split("/"))
            ]
            assert untrue == [], answer.name

    with suites_of([kata], hidden=True) as suites:
        examine(suites)
