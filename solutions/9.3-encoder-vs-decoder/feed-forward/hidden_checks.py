"""Hidden checks of 9.3.4: what is right only on the visible inputs fails here."""

from __future__ import annotations

import torch

from grader.checks import Part, check, expect, expect_unchanged, oracle

AXES = "batch time width"


@check(aspect="values", points=5.5)
def test_network_contract(submission, reference, draw):
    """a network keeps its promises at every size, in float64 and half precision, however it is called

    > Both work for any sizes, a single position and hundreds, an inner width below the outer one too
    > float64 stays float64 and bfloat16 bfloat16, and float64 is computed in float64
    > Gradients reach x and every weight and bias.
    """
    both = [torch.float64, torch.bfloat16]
    # √2 may be kept in float32, which large numbers do not show.
    for activation, dtypes, scale in (
        ("relu", both, 1.0),
        ("gelu", both[1:], 1.0),
        ("gelu", both, 1e3),
        ("swiglu", both, 1.0),
    ):
        d_model, d_ff = draw.sizes(2, 2, 19)
        part = Part(
            "FeedForward",
            {"d_model": d_model, "d_ff": d_ff, "activation": activation},
            outputs=[f"output for {activation}"],
            axes=[AXES],
            dtypes=dtypes,
        )
        sizes = {"relu": (1, 3), "gelu": (3, 1), "swiglu": draw.sizes(2, 2, 9)}
        batch, time = sizes[activation]
        x = draw.normal(batch=batch, time=time, width=d_model, scale=scale)
        part.expect(submission, reference, draw, [{"x": x}])


@check(aspect="values", points=1.5)
def test_gelu_contract(submission, reference, draw):
    """gelu keeps its promises for any shape and size of number, however it is called

    > It is meant exactly, from the error function
    > any shape; it is not changed
    """
    part = Part("gelu", outputs=["gelu(x)"], axes=["row width"], dtypes=[torch.bfloat16])
    rows, width = draw.sizes(2, 2, 17)
    sizes = ((1e-3, rows, width), (0.3, 1, width), (3.0, rows, 1), (30.0, rows, 70))
    calls = [{"x": draw.normal(row=row, width=column, scale=scale)} for scale, row, column in sizes]
    part.expect(submission, reference, draw, calls)
    number = draw.normal(row=1)[0]
    expect(submission.gelu(number), "gelu of a number").close_to(oracle(reference.gelu, number))
    expect_unchanged(submission)
    # √2 may be kept in float32, but not in fewer digits.
    fine = draw.uniform(low=-2.5, high=2.5, row=60, dtype=torch.float64)
    expect(submission.gelu(fine), "gelu in float64").close_to(oracle(reference.gelu, fine), tolerance=3e-8)


@check(aspect="values")
def test_large(submission, reference, draw):
    """hundreds of positions, a thousand hidden units and large numbers work as a few do

    > Both work for any sizes, a single position and hundreds, an inner width below the outer one too
    """
    for activation in ("relu", "gelu", "swiglu"):
        made = {"d_model": 6, "d_ff": draw.size(1030, 1100), "activation": activation}
        part = Part("FeedForward", made, [f"output for {activation}"], [AXES], dtypes=(), gradients=False)
        # No activation has a largest number.
        sizes = ((1.0, draw.size(520, 560)), (1e5, draw.size(2, 9)))
        calls = [{"x": draw.normal(batch=1, time=time, width=6, scale=scale)} for scale, time in sizes]
        part.expect(submission, reference, draw, calls)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
