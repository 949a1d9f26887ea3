"""Hidden checks of 9.2.2: what is right only on the visible inputs fails here."""

from __future__ import annotations

import torch

from grader.checks import (
    Expected,
    Part,
    check,
    expect,
    expect_raises,
    expect_unchanged,
    oracle,
    same_tensors,
    with_axes,
)

X, BIAS = "batch head time width", "head query key"


@check(aspect="values", points=2.5)
def test_any_rotation(submission, reference, draw):
    """rotations are right for any sizes, positions and bases

    > All of it works for any sizes
    > int [T], where each row stands
    """
    for T, most in ((1, 60), (70, 60), (9, 1), *((T, 60) for T in draw.sizes(2, 2, 20))):  # of 9 all are at 0
        x = draw.noncontiguous(
            draw.normal(batch=draw.size(1, 3), head=draw.size(1, 4), time=T, width=2 * draw.size(1, 12))
        )
        positions = draw.noncontiguous(draw.integers(0, most, time=T))
        base = float(draw.size(50, 5000))
        found = submission.rotate(x=x, positions=positions, base=base)
        expect_unchanged(submission)
        places = positions.cpu()
        wanted = oracle(lambda x, p=places, b=base: reference.rotate(x, p, base=b), x.cpu())
        expect(found, "rotated", axes=X).close_to(wanted, tolerance=4 * wanted.tolerance + 1e-4)


@check(aspect="stability")
def test_far_rotation(submission, reference, draw):
    """positions in the thousands are turned as exactly as float32 allows

    > All of it works for any sizes
    > Make angles in float32 at least, whatever x is.
    """
    first = draw.size(3000, 6000)
    for dtype in (torch.float32, torch.bfloat16):
        x = draw.normal(batch=2, head=1, time=4, width=8)
        cast = with_axes(x.to(dtype), *X.split())
        positions = torch.arange(first, first + 4, device=draw.device)
        with same_tensors(submission):
            submission.rotate(-cast, positions[[0, 2, 1, 3]])
            found = submission.rotate(cast, positions)
        exact = reference.rotate(cast.double().cpu(), positions.cpu())
        wanted = Expected(exact, 0.02 if dtype == torch.float32 else 0.1, dtype)
        expect(found, "rotated", axes=X).close_to(wanted)


@check(aspect="values", points=3)
def test_bias_contract(submission, reference, draw):
    """a module is right for one query and many, in both directions, in every dtype

    > [1, H, Tq, Tk], in the dtype of the embedding.
    > The table gets its gradient from every place that looked into it.
    > as for `relative_buckets`.
    """
    for direction in (True, False):
        # Up to 52 or 53 no whole distance lies on the border of two buckets, with 12 to 28 of them.
        settings = (draw.size(2, 5), 2 * draw.size(6, 14), draw.size(52, 53), direction)
        made = dict(zip(("num_heads", "num_buckets", "max_distance", "bidirectional"), settings, strict=True))
        part = Part("RelativePositionBias", made, ["bias"], [f"one {BIAS}"], [torch.float64, torch.bfloat16])
        # Keys on both sides of the queries, near ones and far ones, whatever is drawn.
        lengths = ((draw.size(3, 6), draw.size(120, 140), draw.size(20, 30)), (1, 5, 4), (2, 1, 0))
        calls = [dict(zip(("query_len", "key_len", "offset"), each, strict=True)) for each in lengths]
        part.expect_values(submission, reference, draw, calls)
        part.expect_gradients(submission, reference, draw, calls[:2])


@check(aspect="values", points=1.5)
def test_any_alibi(submission, reference, draw):
    """ALiBi is right for any sizes, and refuses other numbers of heads in the bias too

    > All of it works for any sizes
    > minus the head's slope times the distance |query - key|.
    """
    for heads in (1, 128, 2 ** draw.size(1, 4)):
        slopes = submission.alibi_slopes(num_heads=heads)
        expect(slopes, "slopes", axes="head").close_to(oracle(lambda h=heads: reference.alibi_slopes(h)))
        # As many queries as keys, and yet later; and far from one another.
        for lengths, offset in ((draw.sizes(2, 1, 50), draw.size(0, 30)), ((3, 3), 4), ((2, 3), 5000)):
            sizes = {"query_len": lengths[0], "key_len": lengths[1], "offset": offset}
            wanted = oracle(lambda h=heads, s=sizes: reference.alibi_bias(h, **s))
            expect(submission.alibi_bias(num_heads=heads, **sizes), "bias", axes=BIAS).close_to(wanted)
    with expect_raises("ValueError", what="5 is not a power of two"):
        submission.alibi_bias(5, 2, 3)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
