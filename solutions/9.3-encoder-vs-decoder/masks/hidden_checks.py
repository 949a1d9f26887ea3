"""Hidden checks of 9.3.1: what is right only on the visible inputs fails here."""

from __future__ import annotations

import torch

from grader.checks import Part, check, expect, expect_unchanged, same_tensors

AXES = "batch head query key"


SQUARE = ("causal_mask", "bidirectional_mask")


@check(
    "square masks are right for any length, whatever was asked before",
    aspect="masks",
    asked=[
        "A mask is as long as the text, 3 positions or 3,000",
        "nothing is kept from one call to the next",
    ],
)
def test_any_length(submission, reference, draw, device):
    lengths = (2, 1, *draw.sizes(2, 9, 64))
    for seq_len in (*lengths, *lengths):
        for name in SQUARE:
            mask = getattr(submission, name)(seq_len=seq_len, device=device)
            wanted = getattr(reference, name)(seq_len)
            expect(mask, f"{name}({seq_len})", axes="query key", picture="mask").equals(wanted)


@check(
    "a padding mask keeps its promises for any batch, length and pad_id, however it is called",
    aspect="masks",
    points=1.5,
    asked=[
        "bool [B, 1, 1, T], True where the token is real.",
        'the id that stands for "no token here"',
        "depends on the arguments of its own call alone",
    ],
)
def test_padding_contract(submission, reference, draw):
    calls = []
    for pad_id in (-1, draw.size(1, 5), 2**24):
        for batch, time in (draw.sizes(2, 2, 24), (1, 5), (3, 1), (4, 4)):
            tokens = draw.integers(0, 7, batch=batch, time=time)
            tokens[~draw.mask(keep=0.7, batch=batch, time=time)] = pad_id
            # In float32, and in int8, these would be padding.
            tokens[0, 0], tokens[-1, -1] = pad_id + 1, pad_id + 256
            calls.append({"tokens": tokens, "pad_id": pad_id})
    Part("padding_mask", outputs=["mask"], axes=[AXES]).expect(submission, reference, draw, calls)


@check(
    "any number of masks combine, each with axes that the others lack",
    aspect="masks",
    asked=["one or more boolean masks whose shapes broadcast together", "No argument may be changed"],
)
def test_combine_many(submission, reference, draw):
    sizes = draw.sizes(3, 2, 9)
    for batch, head, time, key in ((*sizes, sizes[-1]), (*sizes, 70), (4, 4, 4, 4)):
        masks = [
            draw.mask(keep=0.9, query=time, key=key),
            draw.mask(keep=0.9, head=head, query=1, key=key),
            draw.mask(keep=0.8, batch=batch, head=1, query=1, key=key),
            draw.mask(keep=0.9, key=key),
            draw.mask(keep=0.9, batch=batch, head=1, query=time, key=key),
        ]
        for chosen in (masks[:4], masks, masks[::-1]):
            combined = submission.combine_masks(*chosen)
            expect_unchanged(submission)
            wanted = reference.combine_masks(*chosen)
            expect(combined, f"{len(chosen)} masks combined", axes=AXES, picture="mask").equals(wanted)


@check(
    "an additive mask keeps any shape and any floating dtype",
    aspect="values",
    asked=["bool of any shape", "-∞ is exact in every floating dtype"],
)
def test_additive_any_shape(submission, reference, draw):
    size, other = draw.sizes(2, 2, 9)
    masks = (
        draw.mask(key=size),
        draw.mask(key=size)[0],
        draw.mask(keep=0.5, batch=1, query=size, key=other),
        draw.mask(keep=0.3, batch=other, query=size, key=1),
        draw.mask(keep=0.5, group=2, batch=1, head=other, query=3, key=size),
    )
    # Others of the same shape, the last of them in the same memory.
    for place, mask in enumerate(each for one in masks for each in (one, ~one, one)):
        for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16):
            wanted = reference.additive_mask(mask, dtype)
            with same_tensors(submission) if place % 3 else torch.no_grad():
                found = submission.additive_mask(mask=mask, dtype=dtype)
            expect(found, f"additive mask in {dtype}").equals(wanted)
            expect_unchanged(submission)


@check(
    "a mask of thousands of positions is as right as one of three",
    aspect="masks",
    points=0.5,
    asked="A mask is as long as the text, 3 positions or 3,000",
)
def test_long(submission, reference, draw, device):
    seq_len = draw.size(2500, 3000)
    for name in SQUARE:
        mask = getattr(submission, name)(seq_len, device=device)
        expect(mask, f"{name}({seq_len})", axes="query key").equals(getattr(reference, name)(seq_len))
    time, other = draw.size(1030, 1400), draw.size(3, 5)
    tokens = draw.integers(0, 4, batch=other, time=time)
    mask = submission.padding_mask(tokens)
    expect(mask, f"mask of {other} x {time} tokens", axes=AXES).equals(reference.padding_mask(tokens))
    numbers = submission.additive_mask(mask)
    expect(numbers, "additive mask", axes=AXES).equals(reference.additive_mask(mask))
