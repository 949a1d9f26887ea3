"""Hidden checks of 9.3.3: what is right only on the visible inputs fails here."""

from __future__ import annotations

import torch

from grader.checks import (
    Part,
    check,
    expect,
    expect_gradients,
    expect_unchanged,
    oracle,
    oracle_gradients,
    with_axes,
)


def state_of(draw, d_model):
    """Draw a weight of either sign and a bias."""
    return {"weight": draw.normal(width=d_model), "bias": draw.normal(width=d_model)}


def named(x):
    return with_axes(x, "batch", "time", "width")


def build(package, state, eps=1e-5):
    module = package.LayerNorm(state["weight"].shape[0], eps=eps)
    module.load_state_dict({**module.state_dict(), **state})
    return module


def function(reference, eps=1e-5):
    """Return the reference's (x, weight, bias) -> output, as an oracle takes it."""

    def forward(x, weight, bias):
        from torch.func import functional_call

        module = reference.LayerNorm(weight.shape[0], eps=eps).to(x.dtype)
        return functional_call(module, {"weight": weight, "bias": bias}, (x,))

    return forward


@check(
    "any width and any leading axes are normalized",
    aspect="values",
    points=2,
    asked=[
        "It works for any width and any number of leading axes, one feature and thousands.",
        "[.., D], of the same shape, dtype and device.",
    ],
)
def test_any_size(submission, reference, draw):
    for names in ((), ("row",), ("batch", "time"), ("group", "batch", "head", "time")):
        *lead, d_model = draw.sizes(len(names) + 1, 5, 19)  # fewer features may lie so close that eps counts
        x = draw.normal(**dict(zip(names, lead, strict=True)), width=d_model, scale=100.0, shift=-50.0)
        state = state_of(draw, d_model)
        y = build(submission, state).to(draw.device)(x)
        expect_unchanged(submission)
        wanted = oracle(function(reference), x, *state.values())
        expect(y, "output", axes=" ".join((*names, "width"))).close_to(wanted)


@check(
    "positions of very different size and offset share a batch",
    aspect="stability",
    points=1.5,
    asked=[
        "Each vector of D numbers is normalised by itself.",
        "Subtract the mean *first*: the differences are small numbers again",
    ],
)
def test_mixed_offsets(submission, reference, draw):
    batch, time, d_model = draw.sizes(3, 3, 9)
    state = state_of(draw, d_model)
    for eps in (1e-5, 1e-3, 1e-10):
        module = build(submission, state, eps).to(draw.device)
        offsets = draw.uniform(-1e4, 1e4, batch=batch, time=time, one=1)
        x = named(draw.normal(batch=batch, time=time, width=d_model) + offsets)
        wanted = oracle(function(reference, eps), x, *state.values())
        expect(module(x), "output", axes="batch time width").close_to(wanted)
        # From far below the root of eps to far above it, in each draw.
        scales = 10 ** torch.linspace(-5, 3, time, device=draw.device)[draw.permutation(time)][:, None]
        x = named(draw.normal(batch=batch, time=time, width=d_model) * scales)
        wanted = oracle(function(reference, eps), x, *state.values())
        expect(module(x), "output", axes="batch time width").close_to(wanted)


@check(
    "gradients are right for any sizes, far from zero too",
    aspect="gradient",
    points=2,
    asked=[
        "Gradients reach x, also through its mean and its variance, and weight and bias.",
        "Subtract the mean *first*: the differences are small numbers again",
    ],
)
def test_any_gradient(submission, reference, draw):
    for shift in (0.0, 1e4):
        batch, time, d_model = draw.sizes(3, 3, 9)
        state = state_of(draw, d_model)
        scale = 1.0 if shift else 0.1  # near zero eps always counts
        x = draw.normal(batch=batch, time=time, width=d_model, shift=shift, scale=scale, requires_grad=True)
        module = build(submission, state).to(draw.device)
        weight, bias = (tensor.cpu() for tensor in state.values())
        forward = function(reference)
        expect_gradients(
            module(x),
            {"x": x},
            draw,
            oracle=lambda x, f=forward, w=weight, b=bias: f(x, w.to(x.dtype), b.to(x.dtype)),
        )
        module = build(submission, state).to(draw.device)
        y = module(x)
        cotangent = draw.like(y)
        (y * cotangent).sum().backward()
        wanted = oracle_gradients(forward, {"x": x, **state}, cotangent)
        for name, parameter in (("weight", module.weight), ("bias", module.bias)):
            expect(parameter.grad, f"{name}.grad", axes="width").close_to(wanted[name])


@check(
    "two modules of different width and eps do not disturb each other",
    aspect="mode",
    asked="A result depends on x and on the module's own weight, bias and eps",
)
def test_two_modules(submission, reference, draw):
    first, second = draw.sizes(2, 4, 12)
    states = [state_of(draw, first), state_of(draw, second)]
    modules = [
        build(submission, state, eps).to(draw.device) for state, eps in zip(states, (0.25, 1e-5), strict=True)
    ]
    for index, eps in ((0, 0.25), (1, 1e-5), (0, 0.25)):
        state = states[index]
        x = draw.normal(batch=2, time=3, width=state["weight"].shape[0], scale=0.1)
        wanted = oracle(function(reference, eps), x, *state.values())
        expect(modules[index](x), f"output for eps={eps}", axes="batch time width").close_to(wanted)


@check(
    "thousands of features and hundreds of positions are normalized as a few are",
    aspect="values",
    points=0.5,
    asked="It works for any width and any number of leading axes, one feature and thousands.",
)
def test_wide(submission, reference, draw):
    few, many = draw.size(2, 4), draw.size(1100, 3000)
    for time, d_model in ((few, many), (few, 1), (draw.size(600, 1100), draw.size(5, 9))):
        state = state_of(draw, d_model)
        x = draw.normal(batch=2, time=time, width=d_model, scale=3.0, shift=-2.0)
        wanted = oracle(function(reference), x, *state.values())
        y = build(submission, state).to(draw.device)(x)
        expect(y, "output", axes="batch time width").close_to(wanted)


@check(
    "a layer norm keeps its promises at every size, in float64 and half precision, however it is called",
    aspect="values",
    asked="It works for any width and any number of leading axes, one feature and thousands.",
)
def test_contract(submission, reference, draw):
    dtypes = [torch.float64, torch.bfloat16]
    part = Part("LayerNorm", {"d_model": 7, "eps": 1e-3}, axes=["batch time width"], dtypes=dtypes)
    sizes = ((2, 5), (1, 4), (3, 1), (2, 70))
    part.expect(
        submission,
        reference,
        draw,
        [{"x": draw.normal(batch=batch, time=time, width=7)} for batch, time in sizes],
    )
