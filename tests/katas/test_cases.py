"""Wrong answers that other graders were reported to let through (docs/cases.md) have not full marks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from grader.engine.runner.suite import RunConfig, Suite, suites_of
from tests import ours

WRONG = [
    (
        "36 zeros only where sequences are long",
        "long-attention",
        "_right = Linformer.forward\n"
        "Linformer.forward = lambda self, x, *rest: _right(self, x, *rest) * (x.size(-2) <= 200)\n",
    ),
    (
        "36 zeros where values are tiny",
        "look-inside",
        "attention_entropy = lambda weights: torch.zeros_like(weights[..., 0])\n",
    ),
    (
        "37 transposed",
        "masks",
        "_right = causal_mask\ncausal_mask = lambda seq_len, *, device=None: _right(seq_len, device=device).T\n",
    ),
    (
        "37 weights transposed where they are square",
        "masked-attention",
        "_right = scaled_dot_product_attention\n"
        "def scaled_dot_product_attention(*given, **named):\n"
        "    output, weights = _right(*given, **named)\n"
        "    return output, weights.mT if weights.size(-1) == weights.size(-2) else weights\n",
    ),
    (
        "38 the first of a batch for all",
        "masks",
        "_right = padding_mask\n"
        "padding_mask = lambda tokens, pad_id=0: _right(tokens, pad_id)[:1].expand(len(tokens), -1, -1, -1)\n",
    ),
    (
        "39 a finite number for minus infinity",
        "masked-attention",
        "def scaled_dot_product_attention(q, k, v, mask=None):\n"
        "    scores = q @ k.mT / q.size(-1) ** 0.5\n"
        "    weights = (scores if mask is None else scores.masked_fill(~mask, -1e4)).softmax(-1)\n"
        "    return weights @ v, weights\n",
    ),
    (
        "39 a finite number for minus infinity, in a model",
        "decoder-lm",
        "def scaled_dot_product_attention(q, k, v, mask):\n"
        "    scores = q @ k.mT / q.size(-1) ** 0.5\n"
        "    weights = scores.masked_fill(~mask, -20.0).softmax(-1)\n"
        "    return weights @ v, weights\n",
    ),
    (
        "40 the deviation of a sample",
        "layer-norm",
        "def _forward(self, x):\n"
        "    deviation = x.std(-1, keepdim=True) + self.eps\n"
        "    return (x - x.mean(-1, keepdim=True)) / deviation * self.weight + self.bias\n"
        "LayerNorm.forward = _forward\n",
    ),
    (
        "40 eps beside the root",
        "layer-norm",
        "def _forward(self, x):\n"
        "    deviation = x.std(-1, keepdim=True, unbiased=False) + self.eps\n"
        "    return (x - x.mean(-1, keepdim=True)) / deviation * self.weight + self.bias\n"
        "LayerNorm.forward = _forward\n",
    ),
    *(
        (f"41 without {letter!a}", "byte-pairs", f"_right = Tokenizer.encode\n"
         f"Tokenizer.encode = lambda self, text: _right(self, text.replace({letter!a}, ''))\n")
        for letter in ("\0", "\ufe0f", "\u200d")
    ),
]  # fmt: skip


@pytest.mark.gate
@pytest.mark.parametrize(("what", "slug", "added"), WRONG, ids=[case[0] for case in WRONG])
def test_a_wrong_answer_is_not_let_through(
    what: str, slug: str, added: str, launcher: Any, tmp_path: Path
) -> None:
    kata = ours.katas()[slug]
    assert kata.solution is not None
    file = tmp_path / f"{kata.module}.py"
    file.write_text(kata.solution.read_text() + added)

    def lost(suites: dict[str, Suite]) -> list[str]:
        suite = suites[slug].exclude(suites[slug].trained())
        report = suite.check(file, launcher, RunConfig(seed=0))
        return [check.id for check in report.checks if check.points < check.max_points]

    with suites_of([kata], hidden=True) as suites:
        assert lost(suites), what
