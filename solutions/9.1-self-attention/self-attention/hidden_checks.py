"""Hidden checks of 9.1.1: what is right only on the visible inputs fails here."""

from __future__ import annotations

import torch

from grader.checks import Part, check, expect, oracle

OUTPUT, WEIGHTS = "batch time feature", "batch query key"


@check(
    "self-attention keeps its promises at every size, in float64 and half precision, however it is called",
    aspect="values",
    points=4.5,
    asked=[
        "It works for any sizes, a sequence of one position and one of thousands.",
        "float64 is computed in float64",
        "Queries, keys and values are computed so that gradients reach x and all three weights.",
    ],
)
def test_contract(submission, reference, draw):
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


@check(
    "a sequence of hundreds of positions is read as one of five is",
    aspect="values",
    points=0.5,
    asked="It works for any sizes, a sequence of one position and one of thousands.",
)
def test_long(submission, reference, draw):
    time, sizes = draw.size(1030, 1100), (draw.size(65, 99), draw.size(100, 140))
    module, right = submission.SelfAttention(*sizes), reference.SelfAttention(*sizes)
    module.to(draw.device)
    state = {name: tensor.cpu() for name, tensor in module.state_dict().items()}

    def attend(state, x):
        return torch.func.functional_call(right.to(x.dtype), state, x)

    x = draw.normal(batch=1, time=time, width=sizes[0])
    output, weights = expect(module(x), "(output, weights)").is_tuple(2)
    wanted_output, wanted_weights = oracle(attend, state, x)
    expect(weights, "weights", axes=WEIGHTS).close_to(wanted_weights)
    expect(output, "output", axes=OUTPUT).close_to(wanted_output)
