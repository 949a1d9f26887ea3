"""Checks of 9.3.1. Expected masks come from torch's own triangles and comparisons."""

from __future__ import annotations

import torch

from grader.checks import (
    Part,
    check,
    expect,
    expect_device,
    expect_unchanged,
    precondition,
    same_tensors,
)

INF = float("inf")


def lower_triangle(seq_len):
    return torch.ones(seq_len, seq_len, dtype=torch.bool).tril()


def tokens_with_padding(draw, pad_id, **axes):
    """Tokens 1..8, with `pad_id` wherever a coin says so: at the end, at the start and in between."""
    tokens = draw.integers(1, 9, **axes)
    tokens[~draw.mask(keep=0.6, **axes)] = pad_id
    return tokens


# --- bidirectional_mask and causal_mask ---


@check(aspect="masks", points=0.5)
def test_bidirectional_all_true(submission):
    """a bidirectional mask is boolean [T, T] and True everywhere

    > bool [T, T], all True.
    """
    for seq_len in (5, 66):
        mask = submission.bidirectional_mask(seq_len)
        expect(mask, "mask", axes="query key", picture="mask").equals(
            torch.ones(seq_len, seq_len, dtype=torch.bool)
        )


@check(aspect="shape", points=0.5)
def test_causal_shape(submission):
    """a causal mask is boolean [T, T]

    > bool [T, T], True where key <= query.
    """
    for seq_len in (6, 3):
        expect(submission.causal_mask(seq_len), "mask", axes="query key").is_tensor(
            shape=(seq_len, seq_len), dtype=torch.bool
        )


@check(aspect="masks", follows=test_causal_shape)
def test_causal_values(submission):
    """each query sees itself and the keys before it, nothing later

    > bool [T, T], True where key <= query.
    """
    for seq_len in (4, 66):
        mask = submission.causal_mask(seq_len)
        expect(mask, "mask", axes="query key", picture="mask").equals(lower_triangle(seq_len))


@check(aspect="shape", points=0.5)
def test_length_one(submission):
    """a single position sees itself

    > A mask is as long as the text, 3 positions or 3,000
    """
    for name, mask, ndim in (
        ("causal_mask(1)", submission.causal_mask(1), 2),
        ("bidirectional_mask(1)", submission.bidirectional_mask(1), 2),
        ("padding_mask([[3]])", submission.padding_mask(torch.tensor([[3]])), 4),
    ):
        seen = torch.ones((1,) * ndim, dtype=torch.bool)
        with precondition("masks must have the right type and number of axes"):
            whole = expect(mask, name).is_tensor(shape=(None,) * ndim, dtype=torch.bool)
        whole.equals(seen)


@check(aspect="dtype", points=0.5)
def test_device(submission, draw, device):
    """masks are made on the device asked for, or on that of the input

    > where the mask is made; None means torch's default
    > where there is an input tensor, its device is the right one
    """
    with precondition("masks must be made at all"):
        submission.bidirectional_mask(3), submission.causal_mask(4)
    square = submission.bidirectional_mask(seq_len=3, device=device)
    expect(square, "bidirectional_mask(3, device=...)").is_tensor(device=device)
    square = submission.causal_mask(seq_len=4, device=device)
    expect(square, "causal_mask(4, device=...)").is_tensor(device=device)
    expect_device(lambda there: submission.bidirectional_mask(3, device=there), "bidirectional mask")
    expect_device(lambda there: submission.causal_mask(seq_len=4, device=there), "causal mask")
    tokens = draw.integers(0, 4, batch=2, time=5).to(device)
    allowed = draw.mask(query=3, key=5).to(device)
    with precondition("masks must be made at all"):
        padding, numbers = submission.padding_mask(tokens), submission.additive_mask(allowed)
    expect(padding, "padding_mask(tokens)").is_tensor(device=device)
    expect(numbers, "additive_mask(mask)").is_tensor(device=device)


# --- padding_mask ---


@check(aspect="shape", points=0.5)
def test_padding_shape(submission, draw):
    """a padding mask is boolean [B, 1, 1, T]

    > bool [B, 1, 1, T], True where the token is real.
    """
    mask = submission.padding_mask(draw.integers(0, 4, batch=3, time=5))
    expect(mask, "mask", axes="batch head query key").is_tensor(shape=(3, 1, 1, 5), dtype=torch.bool)


@check(aspect="masks", follows=test_padding_shape)
def test_padding_values(submission, draw):
    """real tokens are seen and padding is hidden, wherever it is

    > bool [B, 1, 1, T], True where the token is real.
    > Nor does padding always come last.
    """
    tokens = tokens_with_padding(draw, 0, batch=3, time=7)
    tokens[0, -2:] = 0  # padded at the end,
    tokens[1, :3] = 0  # at the start,
    tokens[2, :] = 0  # and nothing but padding
    mask = submission.padding_mask(tokens)
    wanted = tokens.ne(0)[:, None, None, :]
    expect(mask, "mask", axes="batch head query key", picture="mask").equals(wanted)


@check(aspect="masks", points=0.5, follows=test_padding_shape)
def test_padding_pad_id(submission, draw):
    """pad_id says which token is padding, and only that one is

    > the id that stands for "no token here"
    > `pad_id` is not always 0, and 0 is then an ordinary token.
    """
    for pad_id, time in ((4, 11), (-100, 66)):
        tokens = draw.integers(0, 9, batch=2, time=time)  # 0 is an ordinary token here
        tokens[0, 1], tokens[0, 2:4], tokens[1, -3:] = 0, pad_id, pad_id
        mask = submission.padding_mask(tokens, pad_id=pad_id)
        wanted = tokens.ne(pad_id)[:, None, None, :]
        expect(mask, f"mask for pad_id={pad_id}", axes="batch head query key", picture="mask").equals(wanted)


@check(aspect="dtype", points=0.5)
def test_padding_integer_types(submission, draw):
    """tokens may be of any integer type

    > int [B, T] token ids, of any integer type.
    """
    tokens = tokens_with_padding(draw, 0, batch=2, time=6)
    with precondition("int64 tokens must get a mask"):
        wanted = expect(submission.padding_mask(tokens), "mask of int64 tokens").is_tensor().actual
    for dtype in (torch.int32, torch.int16, torch.uint8):
        mask = submission.padding_mask(tokens.to(dtype))
        expect(mask, f"mask of {dtype} tokens").same_as(wanted, name="that of int64 tokens")


# --- combine_masks ---


@check(aspect="masks")
def test_combine_counts(submission, draw):
    """one, two or three masks together allow what every one allows

    > one or more boolean masks
    > Allow only what every one of the masks allows.
    """
    masks = [draw.mask(keep=0.7, query=4, key=6) for _ in range(3)]
    for mask, allowed in zip(masks, (True, True, False), strict=True):
        mask[1, 2] = allowed  # the third mask always matters
    for count in (1, 2, 3):
        combined = submission.combine_masks(*masks[:count])
        wanted = torch.stack(masks[:count]).all(dim=0)
        expect(combined, f"combination of {count}", axes="query key", picture="mask").equals(wanted)


@check(aspect="masks")
def test_combine_broadcasts(submission, draw):
    """masks of different shapes broadcast: [T, T] with [B, 1, 1, T]

    > bool of the broadcast shape, e.g. [B, 1, T, T].
    """
    axes = "batch head query key"
    for size in (5, 66):
        causal = lower_triangle(size).to(draw.device)
        padding = draw.mask(keep=0.6, batch=3, head=1, query=1, key=size)
        per_head = draw.mask(keep=0.8, head=2, query=1, key=size)
        both = submission.combine_masks(causal, padding)
        expect(both, "combine_masks(causal, padding)", axes=axes, picture="mask").equals(causal & padding)
        both = submission.combine_masks(padding, causal)
        expect(both, "combine_masks(padding, causal)", axes=axes, picture="mask").equals(causal & padding)
        three = submission.combine_masks(causal, per_head, padding)
        wanted = causal & per_head & padding
        expect(three, "combine_masks(causal, per_head, padding)", axes=axes, picture="mask").equals(wanted)


# --- additive_mask ---


@check(aspect="values")
def test_additive_values(submission, draw):
    """allowed pairs become 0 and blocked ones -inf, in the mask's own shape

    > dtype of the same shape: 0 where mask is True, -inf where it is False.
    """
    square = draw.mask(keep=0.5, query=4, key=6)
    square[2, :] = False  # a query that may look at nothing
    for mask in (square, draw.mask(keep=0.5, batch=2, head=1, query=1, key=66)):
        axes = "query key" if mask.dim() == 2 else "batch head query key"
        wanted = torch.zeros(mask.shape, device=mask.device).masked_fill(~mask, -INF)
        expect(submission.additive_mask(mask), "additive mask", axes=axes, picture="mask").equals(wanted)


@check(aspect="dtype", points=0.5, follows=test_additive_values)
def test_additive_dtypes(submission, draw):
    """the numbers have the dtype asked for, and stay exactly 0 and -inf in it

    > the floating type of the result
    > -∞ is exact in float64, float32, float16 and bfloat16
    """
    mask = draw.mask(keep=0.5, query=3, key=7)
    mask[1, 2:5] = False
    for dtype in (torch.float64, torch.bfloat16, torch.float16):
        wanted = torch.zeros(mask.shape, dtype=dtype, device=mask.device).masked_fill(~mask, -INF)
        numbers = submission.additive_mask(mask, dtype)
        expect(numbers, f"additive mask in {dtype}", axes="query key", picture="mask").equals(wanted)
    wanted = torch.zeros(mask.shape, dtype=torch.float64, device=mask.device).masked_fill(~mask, -INF)
    by_keyword = submission.additive_mask(mask, dtype=torch.float64)
    expect(by_keyword, "additive_mask(mask, dtype=torch.float64)", axes="query key").equals(wanted)


# --- all ---


@check(aspect="arguments", points=0.5, follows=test_combine_counts)
def test_arguments_unchanged(submission, draw):
    """combined masks are left as they were, and need not be contiguous in memory

    > No argument may be changed, and none need be contiguous in memory.
    """
    first, second = draw.mask(keep=0.7, query=5, key=5), draw.mask(keep=0.5, query=5, key=5)
    wide = draw.mask(keep=0.5, batch=2, head=1, query=5, key=5)
    for given in ((first, second), (wide, second, first)):
        with precondition("contiguous inputs must give a mask without NaN"):
            wanted = submission.combine_masks(*given)
            expect(wanted, "combined mask").same_as(wanted)  # which NaN is not
        expect_unchanged(submission)
        combined = submission.combine_masks(*(draw.noncontiguous(mask) for mask in given))
        expect(combined, "combined mask").same_as(wanted, name="the result for contiguous inputs")


def right_padding(tokens, pad_id):
    return tokens.ne(pad_id)[:, None, None, :]


def right_numbers(mask):
    return torch.zeros(mask.shape).masked_fill(~mask, -INF)


@check(
    aspect="arguments", points=0.5, follows=[test_padding_values, test_padding_pad_id, test_additive_values]
)
def test_promises(submission, draw):
    """however they are called, masks depend on these arguments alone, and leave them as they were

    > No argument may be changed, and none need be contiguous in memory.
    > depends only on the arguments of its own call
    > All may be given by position or by name.
    """
    tokens = tokens_with_padding(draw, 4, batch=3, time=5)
    part = Part("padding_mask", outputs=["padding mask"], axes=["batch head query key"])
    part.expect(submission, right_padding, draw, [{"tokens": tokens, "pad_id": 4}])
    part = Part("additive_mask", outputs=["additive mask"], axes=["batch query key"])
    part.expect(submission, right_numbers, draw, [{"mask": draw.mask(keep=0.5, batch=2, query=3, key=6)}])
    for name in ("bidirectional_mask", "causal_mask"):
        Part(name, outputs=["mask"], axes=["query key"]).expect(submission, None, draw, [{"seq_len": 4}])
    masks = [draw.mask(keep=0.6, query=4, key=4) for _ in range(2)]
    wanted = submission.combine_masks(*masks)
    with same_tensors(submission):
        again = submission.combine_masks(*masks)
    expect(again, "mask of a second call", axes="query key").equals(wanted, why="the first was written into")
