"""Hidden checks of 9.1.1: what is right only on the visible inputs fails here."""

from __future__ import annotations

import torch

from grader.checks import Part, check, expect, oracle

OUTPUT, WEIGHTS = "batch time feature", "batch query key"
PROJECTIONS = ("w_q", "w_k", "w_v")


def random_state(draw, d_model, d_k):
    scale = d_model**-0.5
    return {f"{name}.weight": draw.normal(out=d_k, width=d_model, scale=scale) for name in PROJECTIONS}


def build(package, state):
    d_k, d_model = state["w_q.weight"].shape
    module = package.SelfAttention(d_model, d_k)
    own = module.state_dict()
    biases = (f"{name}.bias" for name in PROJECTIONS)  # visible checks are about them and about dropout
    silent = {bias: torch.zeros_like(own[bias]) for bias in biases if bias in own}
    module.load_state_dict({**own, **state, **silent})
    module.eval()
    return module


def attend(reference):
    """Return the reference's forward as an oracle takes it: of the state and x."""

    def forward(state, x):
        d_k, d_model = state["w_q.weight"].shape
        module = reference.SelfAttention(d_model, d_k).to(x.dtype)
        module.load_state_dict(state)
        return module(x)

    return forward


def compare(result, wanted):
    output, weights = expect(result, "(output, weights)").is_tuple(2)
    expect(weights, "weights", axes=WEIGHTS, picture="attention").close_to(wanted[1])
    expect(output, "output", axes=OUTPUT).close_to(wanted[0])


@check(
    "self-attention keeps its promises at every size, in float64 and half precision, however it is called",
    aspect="values",
    points=3.5,
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
    time, d_model, d_k = draw.size(1030, 1100), draw.size(65, 99), draw.size(100, 140)
    state = random_state(draw, d_model, d_k)
    module = build(submission, state)
    module.to(draw.device)
    x = draw.normal(batch=1, time=time, width=d_model)
    compare(module(x), oracle(attend(reference), state, x))


@check(
    "each call depends on its own x and the current weights alone, whatever came before",
    aspect="values",
    points=1,
    asked=[
        "A result depends on x and on the weights as they are now",
        "nothing is kept from one call to the next",
    ],
)
def test_in_turns(submission, reference, draw):
    states = random_state(draw, 6, 5), random_state(draw, 6, 5)
    modules = [build(submission, state) for state in states]
    for module in modules:
        module.to(draw.device)
    first, second = (draw.normal(batch=2, time=4, width=6) for _ in range(2))
    longer = draw.normal(batch=3, time=7, width=6)
    for x in (first, second, longer, first):
        for module, state in zip(modules, states, strict=True):
            compare(module(x), oracle(attend(reference), state, x))
    modules[0].load_state_dict({**modules[0].state_dict(), **states[1]})
    compare(modules[0](first), oracle(attend(reference), states[1], first))
