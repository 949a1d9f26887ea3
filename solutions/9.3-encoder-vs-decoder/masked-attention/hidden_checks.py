"""Hidden checks of 9.3.2: what is right only on the visible inputs fails here."""

from __future__ import annotations

import torch

from grader.checks import Part, check

AXES = "batch time width"
HALF = [torch.bfloat16]


def tensors_of(draw, lead, query, key):
    width, feature = draw.sizes(2, 2, 9)
    return {
        "query": draw.normal(**lead, query=query, width=width),
        "key": draw.normal(**lead, key=key, width=width),
        "value": draw.normal(**lead, key=key, feature=feature),
    }


@check(aspect="values", points=6.5)
def test_attention_contract(submission, reference, draw):
    """attention keeps its promises at every size, in every dtype, however it is called

    > Both work for any sizes and any number of leading axes
    > returns the dtype of its inputs, float64 and bfloat16 alike
    > may attend to nothing gets zero weights and a zero output, and no NaN, here or in the gradient
    > Nothing is kept from one call to the next.
    """
    batch, head = draw.sizes(2, 2, 9)
    for lead, sizes in (
        ({"batch": batch, "head": head}, (draw.sizes(2, 2, 9), (5, 1))),
        ({"batch": 1, "head": 2}, ((6, 6), (1, 70))),
        ({"batch": 3}, (draw.sizes(2, 2, 7),)),
        ({"group": 2, "batch": 3, "head": 4}, (draw.sizes(2, 2, 7),)),
    ):
        axes, calls = " ".join(lead), []
        for query, key in sizes:
            tensors, some = tensors_of(draw, lead, query, key), {**lead, list(lead)[-1]: 1}
            mask = draw.mask(keep=0.4, **some, query=query, key=key)
            if query > 1:  # of several queries one is blind, a single one obeys its mask as they do
                mask[..., draw.size(0, query - 1), :] = False
            calls += [tensors, {**tensors, "mask": mask}]
        part = Part(
            "scaled_dot_product_attention",
            outputs=["output", "weights"],
            axes=[f"{axes} query feature", f"{axes} query key"],
            dtypes=HALF,
        )
        part.expect(submission, reference, draw, calls)


@check(aspect="masks", points=6.5, stand_ins=["scaled_dot_product_attention"])
def test_module_contract(submission, reference, draw):
    """a module keeps its promises for any lengths, masks and contexts, in every dtype, however it is called

    > Both work for any sizes and any number of leading axes
    > bool [T, Tk], or broadcastable to [B, H, T, Tk]; Tk is the length of what is looked at.
    > where keys and values come from; None means x itself.
    > returns the dtype of its inputs, float64 and bfloat16 alike
    > Nothing is kept from one call to the next.
    """
    part = Part("MultiHeadAttention", {"d_model": 8, "num_heads": 2}, axes=[AXES], dtypes=HALF)
    batch, time = draw.sizes(2, 3, 9)
    x, context = (draw.normal(batch=batch, time=size, width=8) for size in (time, time + 2))
    one, short = draw.normal(batch=1, time=1, width=8), draw.normal(batch=1, time=2, width=8)
    calls = [
        {"x": x, "mask": draw.mask(keep=0.5, query=time, key=time)},  # first: what is kept must be a mask
        {"x": x},
        {"x": x, "mask": draw.mask(keep=0.5, query=time, key=time), "context": context[:, :time]},
        {"x": x, "mask": draw.mask(batch=batch, head=2, query=1, key=time + 2), "context": context},
        {
            "x": context,
            "mask": draw.mask(keep=0.5, batch=batch, head=1, query=time + 2, key=time),
            "context": x,
        },
        {"x": one, "mask": None, "context": short},
        {"x": one, "mask": torch.tensor([[False, True]], device=draw.device), "context": short},
        {"x": x, "mask": draw.mask(keep=0.5, head=2, query=time, key=time)},
    ]
    part.expect(submission, reference, draw, calls)


@check(aspect="values", points=5, stand_ins=["scaled_dot_product_attention"])
def test_head_counts(submission, reference, draw):
    """any number of heads that divides the width works, and a sequence of padding only leaves no NaN

    > Head h reads columns h·D/H up to (h+1)·D/H
    > one head and as many as columns
    > may attend to nothing gets zero weights and a zero output, and no NaN, here or in the gradient
    """
    for d_model, num_heads in ((15, 5), (6, 6), (draw.size(2, 9) * 3, 3)):
        made = {"d_model": d_model, "num_heads": num_heads}
        part = Part("MultiHeadAttention", made, [f"output of {num_heads} heads"], [AXES], HALF)
        batch, time = draw.sizes(2, 2, 9)
        mask = draw.mask(keep=0.6, batch=batch, head=1, query=1, key=time)
        mask[draw.size(0, batch - 1)] = False
        x = draw.normal(batch=batch, time=time, width=d_model)
        part.expect_values(submission, reference, draw, [{"x": x}, {"x": x, "mask": mask}])


@check(aspect="values", points=2)
def test_long(submission, reference, draw):
    """hundreds of positions and many heads are served as a few are

    > Both work for any sizes and any number of leading axes
    > one position and hundreds
    """
    query, key = draw.size(260, 290), draw.size(520, 560)
    call = {**tensors_of(draw, {"head": 2}, query, key), "mask": draw.mask(keep=0.5, query=query, key=key)}
    axes = ["head query feature", "head query key"]
    part = Part("scaled_dot_product_attention", {}, ["output", "weights"], axes, ())
    part.expect_values(submission, reference, draw, [call])
    for heads, time in ((2, draw.size(260, 280)), (draw.size(17, 20), draw.size(20, 40))):
        x = draw.normal(batch=1, time=time, width=3 * heads)
        made = {"d_model": 3 * heads, "num_heads": heads}
        part = Part("MultiHeadAttention", made, [f"output of {heads} heads"], [AXES], ())
        mask = draw.mask(keep=0.5, query=time, key=time)
        part.expect_values(submission, reference, draw, [{"x": x, "mask": mask}])
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
