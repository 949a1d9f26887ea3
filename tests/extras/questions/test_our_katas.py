"""Every right answer that we have gives questions, and hardly any that another one gives."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest

from grader.engine.host.source import Source
from grader.engine.runner.suite import Suite, suites_of
from grader.extras.questions.quiz import QuizQuestion, ask
from tests import answers, ours

FEW = 3
"""Without --everything, so many of a kata's right answers are asked about."""


@pytest.mark.gate
@pytest.mark.sampled(3)
@pytest.mark.parametrize("slug", ours.katas())
def test_right_answers_give_five_questions_and_share_few(
    slug: str, launcher: Any, tmp_path: Path, everything: bool
) -> None:
    kata = ours.katas()[slug]
    assert kata.solution is not None
    texts = [kata.solution.read_text(), *(file.read_text() for file in kata.alternatives)]
    texts += [answer.text for answer in answers.right(kata)]

    def asked(suites: dict[str, Suite]) -> list[list[QuizQuestion]]:
        return [
            ask(
                suites[slug],
                launcher,
                Source(tmp_path / f"{kata.module}.py", text.encode()),
                f"no. {number}",
                5,
            )
            for number, text in enumerate(texts if everything else texts[:FEW])
        ]

    with suites_of([kata]) as suites:
        quizzes = asked(suites)
    assert [len(quiz) for quiz in quizzes] == [5] * len(quizzes)
    assert all(len(set(one.options)) == 4 for quiz in quizzes for one in quiz)
    sets = [{(one.text, one.code, frozenset(one.options)) for one in quiz} for quiz in quizzes]
    shared = [len(mine & other) / 5 for mine, other in itertools.combinations(sets, 2)]
    assert sum(shared) / len(shared) < 0.2
