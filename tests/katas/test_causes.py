"""What brings a failure about, as a check says it in any design: true of every mistake that fails it alike."""

from __future__ import annotations

from typing import Any

import pytest

from grader.engine.runner.suite import RunConfig, suites_of
from tests import ours

pytestmark = pytest.mark.slow
ATTENDED = "heads, _ = scaled_dot_product_attention(q, k, v, mask)"
SCORES = "scores = q @ k.mT / q.size(-1) ** 0.5"


@pytest.mark.parametrize(
    "lines",
    [
        (SCORES, "heads = scores.masked_fill(~mask, -1e9).softmax(dim=-2) @ v"),
        (SCORES, "heads = scores.softmax(dim=-1).masked_fill(~mask, 0.0) @ v"),
    ],
    ids=["softmax over queries", "mask after softmax"],
)
def test_who_sees_the_future_reads_each_rule_that_keeps_it_out(
    lines: tuple[str, ...], launcher: Any, tmp_path: Any
) -> None:
    kata = ours.katas()["decoder-lm"]
    text = kata.reference_in(kata.turned)
    assert text is not None
    assert ATTENDED in text
    file = tmp_path / f"{kata.module}.py"
    file.write_text(text.replace(ATTENDED, "\n        ".join(lines)))
    with suites_of([kata]) as suites:
        suite = suites["decoder-lm"].select(["test_causal"])
        [check] = suite.check(file, launcher, RunConfig(seed=0, name=False)).checks
    assert check.status == "fail"
    assert "use a causal mask, before a softmax over the keys" in (check.likely or "")
