"""Hidden checks of 9.3.3: what is right only on the visible inputs fails here."""

from __future__ import annotations

import torch

from grader.checks import Part, check, with_axes

AXES = "batch time width"


@check(aspect="values", points=4.5)
def test_contract(submission, reference, draw):
    """a layer norm keeps its promises for any width, eps and leading axes, in every dtype, however it is called

    > It works for any width and any number of leading axes, one feature and thousands.
    > [.., D], of the same shape, dtype and device.
    > Gradients reach x, also through its mean and its variance, and weight and bias.
    > A result depends on x and on the module's own weight, bias and eps
    """
    few, many = draw.size(5, 19), draw.size(1100, 3000)
    for d_model, eps, leads in (
        (7, 1e-3, ({"batch": 2, "time": 5}, {"batch": 3, "time": 1})),
        (few, 0.25, ({}, {"row": 4}, {"group": 2, "batch": 1, "head": 3, "time": 2})),
        (many, 1e-5, ({"batch": 2, "time": 3},)),
        (1, 1e-5, ({"batch": 2, "time": 3},)),
        (few, 1e-5, ({"batch": 1, "time": draw.size(600, 1100)},)),
    ):
        # A sum of thousands of numbers in half precision may be wrong.
        dtypes = [torch.float64] if d_model == many else [torch.float64, torch.bfloat16]
        part = Part("LayerNorm", {"d_model": d_model, "eps": eps}, dtypes=dtypes)
        calls = [{"x": draw.normal(**lead, width=d_model, scale=3.0, shift=-2.0)} for lead in leads]
        part.expect(submission, reference, draw, calls)


@check(aspect="stability", points=3.5)
def test_mixed_offsets(submission, reference, draw):
    """positions of very different size and offset share a batch

    > Each vector of D numbers is normalised by itself.
    > Subtract the mean *first*: the differences are small numbers again
    """
    batch, time, d_model = draw.sizes(3, 3, 9)
    for eps in (1e-5, 1e-3, 1e-10):
        x = draw.normal(batch=batch, time=time, width=d_model)
        offsets = draw.uniform(-1e4, 1e4, batch=batch, time=time, one=1)
        # From far below the root of eps to far above it, in each draw.
        scales = 10 ** torch.linspace(-5, 3, time, device=draw.device)[draw.permutation(time)][:, None]
        part = Part("LayerNorm", {"d_model": d_model, "eps": eps}, axes=[AXES], dtypes=())
        calls = [{"x": with_axes(one, *AXES.split())} for one in (x + offsets, x * scales)]
        part.expect_values(submission, reference, draw, calls)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
