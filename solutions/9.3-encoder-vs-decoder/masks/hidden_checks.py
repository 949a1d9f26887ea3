"""Hidden checks of 9.3.1: what is right only on the visible inputs fails here."""

from __future__ import annotations

import torch

from grader.checks import check, expect, expect_unchanged

AXES = "batch head query key"


@check(
    "square masks are right for any length",
    aspect="masks",
    points=1,
    asked="A mask is as long as the text, 3 positions or 3,000",
)
def test_any_length(submission, reference, draw, device):
    for seq_len in (2, *draw.sizes(3, 9, 40)):
        causal = submission.causal_mask(seq_len, device=device)
        wanted = reference.causal_mask(seq_len)
        expect(causal, f"causal_mask({seq_len})", axes="query key", picture="mask").equals(wanted)
        everyone = submission.bidirectional_mask(seq_len, device=device)
        wanted = reference.bidirectional_mask(seq_len)
        expect(everyone, f"bidirectional_mask({seq_len})", axes="query key", picture="mask").equals(wanted)


@check(
    "padding is found for any batch, length and pad_id",
    aspect="masks",
    points=1,
    asked=["bool [B, 1, 1, T], True where the token is real.", 'the id that stands for "no token here"'],
)
def test_any_padding(submission, reference, draw):
    for pad_id in (-1, draw.size(1, 5), draw.size(30_000, 60_000)):
        batch, time = draw.sizes(2, 1, 24)
        tokens = draw.integers(0, 7, batch=batch, time=time)
        tokens[~draw.mask(keep=0.7, batch=batch, time=time)] = pad_id
        mask = submission.padding_mask(tokens, pad_id)
        expect_unchanged(submission)
        wanted = reference.padding_mask(tokens, pad_id)
        expect(mask, f"mask for pad_id={pad_id}", axes=AXES, picture="mask").equals(wanted)


@check(
    "any number of masks combine, each with axes that the others lack",
    aspect="masks",
    points=1,
    asked=["one or more boolean masks whose shapes broadcast together", "No argument may be changed"],
)
def test_combine_many(submission, reference, draw):
    batch, head, time = draw.sizes(3, 2, 9)
    masks = [
        draw.mask(keep=0.9, query=time, key=time),
        draw.mask(keep=0.9, head=head, query=1, key=time),
        draw.mask(keep=0.8, batch=batch, head=1, query=1, key=time),
        draw.mask(keep=0.9, key=time),
        draw.mask(keep=0.9, batch=batch, head=1, query=time, key=time),
    ]
    for count in (4, 5):
        combined = submission.combine_masks(*masks[:count])
        expect_unchanged(submission)
        wanted = reference.combine_masks(*masks[:count])
        expect(combined, f"{count} masks combined", axes=AXES, picture="mask").equals(wanted)


@check(
    "an additive mask keeps any shape and any floating dtype",
    aspect="values",
    points=1,
    asked=["bool of any shape", "-∞ is exact in every floating dtype"],
)
def test_additive_any_shape(submission, reference, draw):
    size, other = draw.sizes(2, 2, 9)
    masks = (
        draw.mask(key=size),
        draw.mask(keep=0.3, batch=other, query=size, key=1),
        draw.mask(keep=0.5, group=2, batch=1, head=other, query=3, key=size),
    )
    for mask in masks:
        for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16):
            wanted = reference.additive_mask(mask, dtype)
            expect(submission.additive_mask(mask, dtype=dtype), f"additive mask in {dtype}").equals(wanted)
            expect_unchanged(submission)


@check(
    "a mask of thousands of positions is as right as one of three",
    aspect="masks",
    points=0.5,
    asked="A mask is as long as the text, 3 positions or 3,000",
)
def test_long(submission, reference, draw, device):
    seq_len = draw.size(1030, 1600)
    for name in ("causal_mask", "bidirectional_mask"):
        mask = getattr(submission, name)(seq_len, device=device)
        expect(mask, f"{name}({seq_len})", axes="query key").equals(getattr(reference, name)(seq_len))
    time, other = draw.size(1030, 1400), draw.size(3, 5)
    tokens = draw.integers(0, 4, batch=other, time=time)
    mask = submission.padding_mask(tokens)
    expect(mask, f"mask of {other} x {time} tokens", axes=AXES).equals(reference.padding_mask(tokens))
    numbers = submission.additive_mask(mask)
    expect(numbers, "additive mask", axes=AXES).equals(reference.additive_mask(mask))


@check(
    "each call answers for its own arguments, whatever was asked before",
    aspect="values",
    points=0.5,
    asked="nothing is kept from one call to the next",
)
def test_in_turns(submission, reference, draw, device):
    lengths = draw.sizes(2, 3, 9)
    for seq_len in (*lengths, *lengths):
        for name in ("causal_mask", "bidirectional_mask"):
            mask = getattr(submission, name)(seq_len, device=device)
            wanted = getattr(reference, name)(seq_len)
            expect(mask, f"{name}({seq_len})", axes="query key", picture="mask").equals(wanted)
    batches = [draw.integers(0, 3, batch=2, time=lengths[0]) for _ in range(2)]  # of one shape
    for tokens in (*batches, *batches):
        for pad_id in (0, 2):
            padding = submission.padding_mask(tokens, pad_id)
            wanted = reference.padding_mask(tokens, pad_id)
            expect(padding, f"mask for pad_id={pad_id}", axes=AXES, picture="mask").equals(wanted)
            both = submission.combine_masks(reference.causal_mask(lengths[0]).to(device), wanted)
            right = reference.combine_masks(reference.causal_mask(lengths[0]).to(device), wanted)
            expect(both, "combined mask", axes=AXES, picture="mask").equals(right)
            for dtype in (torch.float32, torch.float64):
                numbers = submission.additive_mask(right, dtype)
                expect(numbers, "additive mask", axes=AXES).equals(reference.additive_mask(right, dtype))
