"""Hidden checks of 9.8.2: what is right only on the visible sizes, or remembers the call before, fails here."""

from __future__ import annotations

from functools import partial

import torch

from grader.checks import Part, check, expect, oracle

LONG = 24_000
"""All queries against all keys are 2.3 GB here, more than a worker may have."""


def triple(draw, queries, keys, width, value, **front):
    return {
        "query": draw.normal(**front, query=queries, width=width),
        "key": draw.normal(**front, key=keys, width=width),
        "value": draw.normal(**front, key=keys, value=value),
    }


@check(aspect="values", points=3)
def test_attention_contract(submission, reference, draw):
    """linear attention keeps its promises for any lengths and widths, in every dtype, however it is called

    > [.., Tq, D], with any number of axes in front.
    > query i sees keys 0 to i; Tq and Tk are equal then.
    > gradients reach queries, keys, values
    """
    part = Part("linear_attention", outputs=["output"], dtypes=[torch.float64, torch.bfloat16])
    length = draw.size(140, 200)  # more than one block of 128
    large = draw.normal(batch=2, query=5, width=3, scale=20.0)
    large[
        ..., 0
    ].abs_()  # below -17 every feature is exactly 0 in float32, and a query of such has no weights
    part.expect(
        submission,
        reference,
        draw,
        [
            {**triple(draw, 3, 4, 5, 2, batch=3), "causal": False},
            {**triple(draw, 1, length, 2, 1, batch=1), "causal": False},
            {**triple(draw, length, length, 2, 3, batch=1), "causal": True},
            {**triple(draw, 7, 7, 3, 4, batch=2, group=1, head=2), "causal": True},
            {
                **triple(draw, 5, 5, 3, 2, batch=2),
                "query": large,
                "causal": True,
            },
        ],
    )


@check(aspect="values")
def test_too_long_for_all_pairs(submission, reference, draw):
    """a text so long that all queries against all keys do not fit into memory

    > There is no scale and no softmax, and never a matrix of all queries against all keys.
    """
    for queries, causal in ((LONG + 999, False), (LONG, True)):
        given = triple(draw, queries, LONG, 1, 1)
        found = submission.linear_attention(*given.values(), causal=causal)
        right = partial(reference.linear_attention, causal=causal)
        expect(found, f"output for {queries:,} queries{', causal' * causal}").close_to(
            oracle(right, *given.values())
        )


@check(aspect="values", points=4)
def test_linformer_contract(submission, reference, draw):
    """a Linformer keeps its promises for any sizes and padding, in every dtype, however it is called

    > k: how many mixtures of keys and of values are left
    > bool [B, T], False at padding
    > A Linformer's output is of the model's
    > nothing is kept from one call or model to the next
    """
    for sizes, calls in (
        ((6, 3, 90, 7), ((3, 5, True), (1, 90, False), (2, 1, False))),
        ((4, 1, 5, 9), ((2, 4, True),)),
        ((4, 2, 400, 3), ((1, 400, False), (2, 310, True))),
        ((4, 4, 9, 4), ((4, 4, True),)),
    ):
        made = dict(zip(("d_model", "num_heads", "max_len", "k"), sizes, strict=True))
        part = Part("Linformer", made, axes=["batch time width"], dtypes=[torch.float64, torch.bfloat16])
        given = []
        for batch, time, masked in calls:
            mask = draw.mask(batch=batch, time=time) if masked else None
            given.append({"x": draw.normal(batch=batch, time=time, width=sizes[0]), "mask": mask})
            # The mask of a call before counts no more; of long texts it did not either.
            given += [{**given[-1], "mask": None}] * (masked and time < 64)
        # Where all sizes are one, only values may be wrong that are right elsewhere.
        demand = part.expect_values if len(set(sizes)) < 3 else part.expect
        demand(submission, reference, draw, given)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
