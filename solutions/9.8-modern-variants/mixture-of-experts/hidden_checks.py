"""Hidden checks of 9.8.4: what is right only on the visible sizes fails here."""

from __future__ import annotations

import torch

from grader.checks import Part, check


def apart(draw, experts, **axes):
    """Draw logits that are far apart in each row, in any order."""
    order = draw.uniform(**axes, expert=experts).argsort(dim=-1).float()
    return (order + draw.uniform(-0.2, 0.2, **axes, expert=experts)) * 4 / experts - 2


@check(aspect="values", points=1)
def test_any_route(submission, reference, draw):
    """route holds for any number of experts, tokens and choices

    > k: how many experts, from 1 to E.
    """
    part = Part("route", outputs=["weights", "experts"], dtypes=[torch.float64, torch.bfloat16])
    calls = []
    for most in (3, 9, 80):
        experts, (group, batch, time) = draw.size(2, most), draw.sizes(3, 1, 6)
        calls.append({"logits": apart(draw, experts, group=group, batch=batch, time=time), "k": draw.size(1, experts)})
    part.expect_values(submission, reference, draw, calls)


@check(aspect="values", points=3)
def test_any_layer(submission, reference, draw):
    """a layer holds for any sizes, capacities, padding and numbers of shared experts

    > of each token the sum of its experts' outputs, each times its weight
    > It takes the first `capacity` of the rows that chose it, in the order of the text
    """
    for most, capacity, shared in ((4, None, 0), (4, 1, 2), (7, 3, 0), (9, 12, 1), (12, 200, 0)):
        experts = draw.size(2, most)
        made = {"d_model": draw.size(2, 9), "d_ff": draw.size(1, 9), "experts": experts,
                "k": draw.size(1, experts) if capacity else 1, "capacity": capacity, "shared": shared}  # fmt: skip
        part = Part("MoE", made, ["output"], ["batch time width"], rows=False)
        calls = []
        for batch, time in (draw.sizes(2, 2, 8), (1, 70), (draw.size(2, 5), 1)):
            keep = draw.mask(batch=batch, time=time) if time < 70 else None
            calls.append({"x": draw.normal(batch=batch, time=time, width=made["d_model"]), "keep": keep})
        part.expect_values(submission, reference, draw, calls)


@check(aspect="values", points=1)
def test_any_balance(submission, reference, draw):
    """the loss holds for any numbers of experts, tokens and choices

    > fᵢ is the share of all choices that fell on expert i
    """
    part = Part("balance_loss", outputs=["loss"], dtypes=[torch.float64, torch.bfloat16], rows=False)
    calls = []
    for most in (2, 8, 90):
        experts, (batch, time) = draw.size(2, most), draw.sizes(2, 1, 9)
        # Never the last one: counts that end with the largest number would be right if it was chosen.
        order = draw.uniform(batch=batch, time=time, expert=experts - 1).argsort(dim=-1)
        chosen = order[..., : draw.size(1, experts - 1)]
        calls.append({"logits": draw.normal(batch=batch, time=time, expert=experts, scale=3.0), "experts": chosen})
    part.expect_values(submission, reference, draw, calls)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
