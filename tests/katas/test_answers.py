"""The second corpus: right answers have full marks, wrong ones have not and are told no wrong name; a sample of each.

`benchmarks/answers.py` grades all of them, on several seeds.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from grader.reports.report import KataReport
from grader.running.mistakes import mistakes
from grader.running.suite import Options, Suite, with_suites
from tests import answers, record

SHARE = 2
"""Answers of a kata and verdict that are graded here: drawn by the commit."""


@pytest.mark.gate
@pytest.mark.parametrize("slug", record.katas())
def test_a_sample_is_judged_right(slug: str, launcher: Any, tmp_path: Path) -> None:
    kata = record.katas()[slug]
    file = tmp_path / f"{kata.module}.py"

    def graded(suite: Suite, answer: answers.Answer) -> KataReport:
        file.write_text(answer.text)
        return suite.check(file, launcher, Options(seed=record.seed(answer.name)))

    def sample(some: list[answers.Answer]) -> list[answers.Answer]:
        drawn = record.sample(f"{slug} answers", [answer.name for answer in some], SHARE)
        return [answer for answer in some if answer.name in drawn]

    def examine(suites: dict[str, Suite]) -> None:
        trained = suites[slug].only(suites[slug].trained())
        suite = suites[slug].but_for(suites[slug].trained())  # to train takes as long as all the rest
        for answer in sample(answers.right(kata)):
            report = graded(suite, answer)
            lost = {check.id: check.message for check in report.checks if check.points < check.max_points}
            assert (answer.name, lost) == (answer.name, {})
        for answer in sample(answers.wrong(kata)):
            report = graded(suite, answer)
            if report.score == report.max_score:
                report = graded(trained, answer)
            assert report.score < report.max_score, answer.name
            names = set(answers.said(report.checks).values())
            assert names <= answer.named, answer.name

    with_suites([kata], examine, hidden=True)


@pytest.mark.parametrize("slug", record.katas())
def test_answers_apply_and_are_named_as_mistakes_are(slug: str) -> None:
    kata = record.katas()[slug]
    known = {mistake.name for mistake in mistakes(kata)}
    everything = [*answers.right(kata), *answers.wrong(kata)]
    assert len({answer.name for answer in everything}) == len(everything)
    assert len({answer.text for answer in everything}) == len(everything)
    for answer in everything:
        assert answer.about.endswith("."), answer.name
        assert answer.named <= known, answer.name


def test_the_corpus_is_large() -> None:
    katas = record.katas().values()
    assert sum(answers.count(kata, "right") for kata in katas) >= 200
    assert sum(answers.count(kata, "wrong") for kata in katas) >= 300
