"""Hidden checks of 9.3.3: what is right only on the visible inputs fails here."""

from __future__ import annotations

from grader.checks import (
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


@check("any width and any leading axes are normalized", aspect="values", points=2.5)
def test_any_size(submission, reference, draw):
    for names in ((), ("row",), ("batch", "time"), ("group", "batch", "head", "time")):
        *lead, d_model = draw.sizes(len(names) + 1, 2, 19)
        x = draw.normal(**dict(zip(names, lead, strict=True)), width=d_model, scale=3.0, shift=-2.0)
        state = state_of(draw, d_model)
        y = build(submission, state).to(draw.device)(x)
        expect_unchanged(submission)
        wanted = oracle(function(reference), x, *state.values())
        expect(y, "output", axes=" ".join((*names, "width"))).close_to(wanted)


@check("positions of very different size and offset share a batch", aspect="stability", points=2)
def test_mixed_offsets(submission, reference, draw):
    batch, time, d_model = draw.sizes(3, 3, 9)
    state = state_of(draw, d_model)
    for eps in (1e-5, 1e-3):
        module = build(submission, state, eps).to(draw.device)
        offsets = draw.uniform(-1e4, 1e4, batch=batch, time=time, one=1)
        x = named(draw.normal(batch=batch, time=time, width=d_model) + offsets)
        wanted = oracle(function(reference, eps), x, *state.values())
        expect(module(x), "output", axes="batch time width").close_to(wanted)
        scales = 10 ** draw.uniform(-3, 3, time=time, one=1)
        x = named(draw.normal(batch=batch, time=time, width=d_model) * scales)
        wanted = oracle(function(reference, eps), x, *state.values())
        expect(module(x), "output", axes="batch time width").close_to(wanted)


@check("gradients are right for any sizes, far from zero too", aspect="gradient", points=2)
def test_any_gradient(submission, reference, draw):
    for shift in (0.0, 1e4):
        batch, time, d_model = draw.sizes(3, 3, 9)
        state = state_of(draw, d_model)
        x = draw.normal(batch=batch, time=time, width=d_model, shift=shift, requires_grad=True)
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


@check("two modules of different width and eps do not disturb each other", aspect="mode", points=1.5)
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
