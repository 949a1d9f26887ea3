"""Hidden checks of 9.6.4: what is right only on the visible sizes fails here."""

from __future__ import annotations

import torch

from grader.checks import Part, check

FLOATS = [torch.float64, torch.bfloat16]


@check(aspect="values", points=2)
def test_any_text(submission, reference, draw):
    """both functions of texts hold for any sizes, prompts and masks

    > Return how surprised the model is by the answers: the mean of -log p over all their tokens.
    > Return the log-probability of each row's kept tokens: a sum, not a mean.
    """
    learned, summed = [], []
    for most in (4, 9, 80):
        batch, time, words = draw.size(2, 5), draw.size(3, most), draw.size(2, 2 * most)
        logits = draw.normal(batch=batch, time=time, word=words, scale=2.0)
        text = {"logits": logits, "tokens": draw.integers(0, words, batch=batch, time=time)}
        lengths = draw.integers(0, time, row=batch)
        lengths[:2] = torch.tensor([1, 2], device=draw.device)
        learned += [{**text, "prompt_length": lengths}, {**text, "prompt_length": draw.size(1, time - 1)}]
        summed.append({**text, "keep": draw.mask(batch=batch, time=time)})
    Part("sft_loss", outputs=["loss"], dtypes=FLOATS, rows=False).expect_values(submission, reference, draw, learned)
    Part("sequence_logps", outputs=["sums"], dtypes=FLOATS).expect_values(submission, reference, draw, summed)


@check(aspect="values", points=1.5)
def test_any_pairs(submission, reference, draw):
    """the loss of pairs holds for any number of them, and any beta

    > Of each pair it is -log sigmoid(beta · margin)
    """
    names = ("chosen", "rejected", "reference_chosen", "reference_rejected")
    calls = [{**{name: draw.normal(pair=count, scale=4.0, shift=-30.0) for name in names}, "beta": beta}
             for count, beta in zip(draw.sizes(3, 2, 90), (0.05, 0.7, 3.0), strict=True)]  # fmt: skip
    Part("dpo_loss", outputs=["loss"], dtypes=FLOATS, rows=False).expect_values(submission, reference, draw, calls)


@check(aspect="values", points=2.5)
def test_any_answers(submission, reference, draw):
    """advantages and the clipped loss hold for any groups, lengths, masks and clips

    > An advantage is (reward - mean) / deviation.
    > Of each token it is -min(ratio · A, clipped · A).
    """
    part = Part("group_advantages", outputs=["advantages"], dtypes=FLOATS)
    groups = []
    for most in (3, 9, 90):
        rewards = draw.normal(group=draw.size(2, 5), answer=draw.size(2, most), scale=3.0)
        rewards[:, :2] = torch.tensor([1.0, -2.0], device=draw.device)  # far apart: equal ones are asked for elsewhere
        groups.append({"rewards": rewards})
    part.expect_values(submission, reference, draw, groups)
    calls = []
    for most, clip in ((4, 0.1), (9, 0.25), (90, 0.6)):
        batch, time = draw.size(2, 6), draw.size(2, most)
        old, keep = draw.normal(batch=batch, time=time, shift=-3.0), draw.mask(batch=batch, time=time)
        keep[0] = False
        calls.append({"logps": old + draw.normal(batch=batch, time=time, scale=2 * clip), "old_logps": old,
                      "advantages": draw.normal(row=batch), "keep": keep, "clip": clip})  # fmt: skip
    Part("grpo_loss", outputs=["loss"], dtypes=FLOATS, rows=False).expect_values(submission, reference, draw, calls)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
