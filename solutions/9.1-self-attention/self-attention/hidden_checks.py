"""Hidden checks of 9.1.1: what is right only on the visible inputs fails here."""

from __future__ import annotations

import torch

from grader.checks import Part, check

OUTPUT, WEIGHTS = "batch time feature", "batch query key"


@check(aspect="values", points=4.5)
def test_contract(submission, reference, draw):
    """self-attention keeps its promises at every size, in float64 and half precision, however it is called

    > It works for any sizes, a sequence of one position and one of thousands.
    > float64 is computed in float64
    > Queries, keys and values are computed so that gradients reach x and all three weights.
    """
    # The root of these widths is exact, so that it may be kept in float32. Once all sizes are the same.
    sizes = ((draw.size(2, 4), draw.size(2, 9), 4), (1, 3, 1), (2, 1, 16))
    for batch, time, d_k, d_model in (*((*each, draw.size(5, 12)) for each in sizes), (4, 4, 4, 4)):
        part = Part(
            "SelfAttention",
            {"d_model": d_model, "d_k": d_k},
            outputs=["output", "weights"],
            axes=[OUTPUT, WEIGHTS],
            dtypes=[torch.float64, torch.bfloat16],
        )
        part.expect(submission, reference, draw, [{"x": draw.normal(batch=batch, time=time, width=d_model)}])


@check(aspect="values", points=0.5)
def test_long(submission, reference, draw):
    """a sequence of hundreds of positions is read as one of five is

    > It works for any sizes, a sequence of one position and one of thousands.
    """
    made = {"d_model": draw.size(65, 99), "d_k": draw.size(100, 140)}
    part = Part("SelfAttention", made, ["output", "weights"], [OUTPUT, WEIGHTS], dtypes=())
    x = draw.normal(batch=1, time=draw.size(520, 560), width=made["d_model"])
    part.expect_values(submission, reference, draw, [{"x": x}])
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
