"""What a capstone pays for a `train` that trains nothing: hardly more than for one that is left out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from grader.author.idle import IMITATED, left_out
from grader.engine.runner.suite import RunConfig, suites_of
from tests import answers, ours
from tests.katas.test_capstones import CAPSTONES


@pytest.mark.gate
@pytest.mark.parametrize("slug", CAPSTONES)
def test_what_is_not_trained_earns_no_more_than_what_is_left_out_and_a_tenth(
    slug: str, launcher: Any, tmp_path: Path
) -> None:
    kata = ours.katas()[slug]
    assert kata.solution is not None
    file = tmp_path / f"{kata.module}.py"
    texts = {"": left_out(kata.solution.read_text(), ["train", "training_log"])}
    texts |= {answer.name: answer.text for answer in answers.untrained(kata)}
    assert len(texts) == 6
    earned = {}
    with suites_of([kata], hidden=True) as suites:
        for name, text in texts.items():
            file.write_text(text)
            report = suites[slug].check(file, launcher, RunConfig(seed=0))
            earned[name] = report.score
    limit = earned.pop("") + IMITATED * report.max_score
    assert {name: score for name, score in earned.items() if score > limit} == {}
