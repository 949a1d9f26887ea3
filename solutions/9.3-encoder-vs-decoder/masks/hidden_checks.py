"""Hidden checks of 9.3.1: what is right only on the visible inputs fails here."""

from __future__ import annotations

import torch

from grader.checks import Part, check, expect

AXES = "batch head query key"


@check(aspect="masks", points=2)
def test_padding_contract(submission, reference, draw):
    """a padding mask keeps its promises for any batch, length and pad_id, however it is called

    > bool [B, 1, 1, T], True where the token is real.
    > the id that stands for "no token here"
    > depends only on the arguments of its own call
    """
    calls = []
    for pad_id in (-1, draw.size(1, 5), 2**24):
        for batch, time in (draw.sizes(2, 2, 24), (1, 5), (3, 1), (4, 4)):
            tokens = draw.integers(0, 7, batch=batch, time=time)
            tokens[~draw.mask(keep=0.7, batch=batch, time=time)] = pad_id
            # In float32, and in int8, these would be padding.
            tokens[0, 0], tokens[-1, -1] = pad_id + 1, pad_id + 256
            calls.append({"tokens": tokens, "pad_id": pad_id})
    Part("padding_mask", outputs=["mask"], axes=[AXES]).expect(submission, reference, draw, calls)


@check(aspect="masks")
def test_combine_many(submission, reference, draw):
    """more than three masks combine, each with axes that the others lack

    > one or more boolean masks whose shapes broadcast together
    """
    batch, head, time = draw.sizes(3, 2, 9)
    # Each of them hides so much that all together allow something, and any of them not everything.
    masks = [
        draw.mask(keep=0.5, query=time, key=time),
        draw.mask(keep=0.5, head=head, query=1, key=time),
        draw.mask(keep=0.5, batch=batch, head=1, query=1, key=time),
        draw.mask(keep=0.5, key=time),
        draw.mask(keep=0.5, batch=batch, head=1, query=time, key=time),
    ]
    for first in (masks[0], torch.zeros_like(masks[0])):  # nothing left to allow has a shape, too
        masks[0] = first
        combined = expect(submission.combine_masks(*masks), "5 masks combined", axes=AXES, picture="mask")
        combined.equals(reference.combine_masks(*masks))


@check(aspect="values")
def test_additive_any_shape(submission, reference, draw):
    """an additive mask keeps any shape and any floating dtype

    > bool of any shape
    > -∞ is exact in float64, float32, float16 and bfloat16
    """
    size = draw.size(2, 9)
    for mask in (draw.mask(key=size), draw.mask(keep=0.3, group=2, batch=1, head=3, query=3, key=size)):
        for dtype in (torch.float64, torch.float16, torch.bfloat16):
            found = submission.additive_mask(mask=mask, dtype=dtype)
            expect(found, f"additive mask in {dtype}").equals(reference.additive_mask(mask, dtype))


@check(aspect="masks")
def test_long(submission, reference, draw):
    """masks of thousands of positions are as right as those of three

    > A mask is as long as the text, 3 positions or 3,000
    """
    # More than half precision counts to, and no more than that: a loop over rows pays for each of them.
    for name, most in (("causal_mask", 2050), ("bidirectional_mask", 1030)):
        for seq_len in (draw.size(most, most + 40), draw.size(9, 64)):
            mask = getattr(submission, name)(seq_len)
            expect(mask, f"{name}({seq_len})", axes="query key").equals(getattr(reference, name)(seq_len))
    time, other = draw.size(1030, 1070), draw.size(3, 5)
    tokens = draw.integers(0, 4, batch=other, time=time)
    mask = submission.padding_mask(tokens)
    expect(mask, f"mask of {other} x {time} tokens", axes=AXES).equals(reference.padding_mask(tokens))
    numbers = submission.additive_mask(mask)
    expect(numbers, "additive mask", axes=AXES).equals(reference.additive_mask(mask))
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
