"""The second corpus: right answers have full marks, wrong ones have not and are told no wrong name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from grader.reports.report import KataReport
from grader.running.mistakes import mistakes
from grader.running.suite import Options, Suite, with_suites
from tests import answers, ours


@pytest.mark.gate
@pytest.mark.parametrize("slug", ours.katas())
def test_answers_are_judged_right(slug: str, launcher: Any, tmp_path: Path) -> None:
    kata = ours.katas()[slug]
    file = tmp_path / f"{kata.module}.py"

    def graded(suite: Suite, answer: answers.Answer) -> KataReport:
        file.write_text(answer.text)
        return suite.check(file, launcher, Options(seed=0))

    def examine(suites: dict[str, Suite]) -> None:
        trained = suites[slug].only(suites[slug].trained())
        suite = suites[slug].but_for(suites[slug].trained())  # to train takes as long as all the rest
        for answer in answers.right(kata):
            report = graded(suite, answer)
            lost = {check.id: check.message for check in report.checks if check.points < check.max_points}
            assert (answer.name, lost) == (answer.name, {})
        for answer in answers.wrong(kata):
            report = graded(suite, answer)
            if report.score == report.max_score:
                report = graded(trained, answer)
            assert report.score < report.max_score, answer.name
            names = set(answers.said(report.checks).values())
            assert names <= answer.named, answer.name

    with_suites([kata], examine, hidden=True)


@pytest.mark.slow
@pytest.mark.parametrize("slug", ours.katas())
def test_answers_apply_and_are_named_as_mistakes_are(slug: str) -> None:
    kata = ours.katas()[slug]
    known = {mistake.name for mistake in mistakes(kata)}
    right, wrong = answers.right(kata), answers.wrong(kata)
    assert min(len(right), len(wrong)) >= 3
    everything = [*right, *wrong]
    assert len({answer.name for answer in everything}) == len(everything)
    assert len({answer.text for answer in everything}) == len(everything)
    for answer in everything:
        assert answer.about.endswith("."), answer.name
        assert answer.named <= known, answer.name
