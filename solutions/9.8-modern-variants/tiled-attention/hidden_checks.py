"""Hidden checks of 9.8.5: what is right only on the visible sizes fails here."""

from __future__ import annotations

import torch

from grader.checks import Part, check


def calls(draw, reference, backward):
    """Draw calls of any sizes, tiles and axes in front."""
    given = []
    for axes, least, most, causal in ((1, 1, 9, False), (1, 2, 9, True), (2, 1, 12, True), (3, 2, 5, False),
                                      (1, 60, 140, True), (1, 60, 140, False)):  # fmt: skip
        front = dict(zip(("group", "batch", "head")[:axes], draw.sizes(axes, 1, 3), strict=True))
        queries, keys, width, value = draw.sizes(2, least, most) + draw.sizes(2, 1, 9)
        tensors = {
            "query": draw.normal(**front, query=queries, width=width, scale=2.0),
            "key": draw.normal(**front, key=keys, width=width),
            "value": draw.normal(**front, key=keys, value=value),
        }
        how = {"causal": causal, "block": draw.size(1, 20) if most < 60 else draw.size(20, 90)}
        if backward:
            output, logsumexp = reference.tiled_attention(**tensors, causal=causal)
            tensors = {"grad": draw.like(output), **tensors, "output": output, "logsumexp": logsumexp}
        given += [{**tensors, **how}, tensors] if axes == 3 else [{**tensors, **how}]
    return given


@check(aspect="values", points=3)
def test_any_attention(submission, reference, draw):
    """tiled attention holds for any sizes, tiles and axes in front

    > The result does not depend on `block`, but for rounding.
    """
    part = Part("tiled_attention", outputs=["output", "logsumexp"], dtypes=[torch.float64], gradients=False)
    part.expect_values(submission, reference, draw, calls(draw, reference, False))


@check(aspect="gradient", points=2)
def test_any_backward(submission, reference, draw):
    """the gradients hold for any sizes, tiles and axes in front

    > dq = dS · key / √D, dk = dSᵀ · query / √D and dv = Pᵀ · grad.
    """
    part = Part("tiled_backward", outputs=["dq", "dk", "dv"], dtypes=[torch.float64], gradients=False)
    part.expect_values(submission, reference, draw, calls(draw, reference, True))
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
