"""Checks of 9.3.4. Expected values come from the few lines of torch below, computed in float64."""

from __future__ import annotations

import math

import torch
from torch.nn.functional import linear, silu

from grader.checks import (
    Part,
    check,
    expect,
    expect_from_scratch,
    expect_gradients,
    expect_raises,
    fail,
    only_if,
    oracle,
    precondition,
    with_axes,
)

AXES = "batch time width"


# --- the oracles ---


def exact_gelu(x):
    return 0.5 * x * (1 + torch.erf(x / math.sqrt(2)))


def tanh_gelu(x):
    return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def network(activation):
    """Return the right (state, x) -> output; a bias that is not there counts as zero."""

    def forward(state, x):
        def layer(name, x):
            return linear(x, state[f"{name}.weight"], state.get(f"{name}.bias"))

        hidden = layer("linear1", x)
        if activation == "swiglu":
            hidden = silu(layer("gate", x)) * hidden
        else:
            hidden = {"relu": torch.relu, "gelu": exact_gelu}[activation](hidden)
        return layer("linear2", hidden)

    return forward


# --- helpers ---


def parameters(draw, d_model, d_ff, activation):
    """Draw all weights and biases."""
    layers = {"linear1": (d_ff, d_model), "linear2": (d_model, d_ff)}
    if activation == "swiglu":
        layers["gate"] = (d_ff, d_model)
    state = {}
    for name, (rows, columns) in layers.items():
        state[f"{name}.weight"] = draw.normal(out=rows, width=columns, scale=columns**-0.5)
        state[f"{name}.bias"] = draw.normal(out=rows)
    return state


def load(module, state):
    """Load these parameters, return those that were taken: a bias too few costs its points elsewhere."""
    _, unknown = module.load_state_dict(state, strict=False)
    taken = {name: tensor for name, tensor in state.items() if name not in unknown}
    for name, tensor in state.items():
        if name not in taken and name.endswith("weight"):
            fail(f"no parameter  {name}  want one of shape {list(tensor.shape)}", stage="names")
    return taken


def module_with(submission, draw, state, *arguments, **options):
    """Build a module in eval mode with these parameters; return it and the parameters it took."""
    d_ff, d_model = state["linear1.weight"].shape
    options.setdefault("dropout", 0.0)
    module = submission.FeedForward(d_model, d_ff, *arguments, **options).to(draw.device)
    taken = load(module, state)
    module.eval()
    return module, taken


def telling(output, x):
    """Rest on an output that is more than x or a constant: such a one never changes, whatever is wrong."""
    with precondition("forward must give [B, T, D], made of x"):
        y = expect(output, "output", axes=AXES).is_tensor(shape=x.shape)
        y.differs_from(x, "x is not handed back")
        expect(output[:, 1:], "output", axes=AXES).differs_from(output[:, :-1], "positions differ")
    return output


def compare_values(submission, draw, activation, /, *arguments, **options):
    """Compare the output with the oracle's, for a batch, a single position and 66 of them."""
    module, state = module_with(submission, draw, parameters(draw, 6, 10, activation), *arguments, **options)
    for batch, time in ((3, 5), (1, 1), (1, 66)):
        x = draw.normal(batch=batch, time=time, width=6)
        wanted = oracle(network(activation), state, x)
        expect(module(x), "output", axes=AXES).close_to(wanted)


# --- gelu ---


@check(aspect="values", points=1.5)
def test_gelu_values(submission, draw):
    """gelu gives x · Φ(x), in the shape of x

    > Keep of each number the share that its size deserves: x · Φ(x).
    > the same shape and dtype.
    """
    for x in (
        draw.normal(batch=3, time=7, width=5, scale=2.0),
        draw.normal(width=11),
        with_axes(torch.tensor(0.75, device=draw.device)),
    ):
        wanted = exact_gelu(x.cpu())
        slack = 2 * float((tanh_gelu(x.cpu().double()) - exact_gelu(x.cpu().double())).abs().max())
        axes = "batch time width" if x.ndim == 3 else "width" if x.ndim else None
        # How exact is another check's matter: this one lets an approximation as good as that with tanh pass.
        expect(submission.gelu(x), "gelu(x)", axes=axes).close_to(wanted, tolerance=max(slack, 1e-5))


@check(aspect="values", follows=test_gelu_values)
def test_gelu_exact(submission, draw):
    """gelu is exact, with erf: an approximation is off by up to 0.0005

    > It is meant exactly, from the error function
    """
    x = draw.uniform(-4.0, 4.0, batch=4, width=66)
    expect(submission.gelu(x), "gelu(x)", axes="batch width").close_to(oracle(exact_gelu, x))


@check(aspect="stability", points=0.5)
def test_gelu_tails(submission, draw):
    """far from zero gelu is x above and 0 below, and so is its slope 1 and 0

    > Keep of each number the share that its size deserves: x · Φ(x).
    """
    size = draw.uniform(200.0, 1e4, batch=3, width=7)  # where every smooth ramp has become a straight one
    for sign, side in ((1.0, "large positive"), (-1.0, "large negative")):
        x = with_axes(sign * size, "batch", "width").requires_grad_()
        y = submission.gelu(x)
        wanted = torch.relu(x.detach()).cpu()
        expect(y, f"gelu of {side} numbers", axes="batch width").close_to(wanted)
        y.sum().backward()
        slope = torch.full((3, 7), float(sign > 0))
        expect(x.grad, f"slope at {side} numbers", axes="batch width").close_to(slope, tolerance=1e-5)


@check(aspect="gradient")
def test_gelu_gradient(submission, draw):
    """the gradient of gelu is Φ(x) + x · φ(x)

    > Gradients reach x and every weight and bias.
    > Keep of each number the share that its size deserves: x · Φ(x).
    """
    x = draw.normal(batch=3, time=4, width=6, scale=1.5, requires_grad=True)
    expect_gradients(submission.gelu(x), {"x": x}, draw, oracle=exact_gelu, names=("gelu(x)",))


@check(aspect="arguments", follows=test_gelu_exact)
def test_gelu_promises(submission, draw):
    """however gelu is called, its result is that of this x, in its dtype, and leaves it as it was

    > float64 stays float64 and bfloat16 bfloat16, and float64 is computed in float64
    > x is left as it was and need not be contiguous in memory.
    > Nothing is kept from one call to the next.
    """
    part = Part("gelu", outputs=["gelu(x)"], axes=["batch width"], dtypes=[torch.bfloat16], gradients=False)
    part.expect(submission, exact_gelu, draw, [{"x": draw.normal(batch=3, width=8)}])
    # √2 may be kept in float32.
    fine = draw.uniform(low=-2.5, high=2.5, batch=3, width=20, dtype=torch.float64)
    result = expect(submission.gelu(fine), "gelu(x) in float64", axes="batch width")
    result.close_to(oracle(exact_gelu, fine), tolerance=3e-8)


# FeedForward may use torch's GELU: only what this check calls counts.
@check(aspect="scratch", points=0.5)
def test_gelu_from_scratch(submission, draw):
    """gelu is written from scratch

    > do without torch's own GELU: it is what you are building
    """
    with precondition("gelu must return a tensor"):
        submission.gelu(draw.normal(batch=3, width=8))
    expect_from_scratch(submission)


# --- FeedForward: parameters and errors ---


def expect_parameters(module, layers):
    """Require a weight and a bias of each of these layers, and nothing else."""
    wanted = {}
    for name, (rows, columns) in layers.items():
        wanted |= {f"{name}.weight": [rows, columns], f"{name}.bias": [rows]}
    found = {name: list(tensor.shape) for name, tensor in module.named_parameters()}
    expect(found, "parameters").has_names(wanted)
    for name, shape in wanted.items():
        expect(found[name], f"shape of {name}").is_value(shape)


@check(aspect="parameters", points=0.5)
def test_parameters(submission):
    """for relu and gelu the parameters are linear1 and linear2, with biases

    > linear1: nn.Linear(D, F).
    > linear2: nn.Linear(F, D).
    > gate: nn.Linear(D, F), only for "swiglu".
    """
    for activation in ("relu", "gelu"):
        module = submission.FeedForward(6, 10, activation)
        expect_parameters(module, {"linear1": (10, 6), "linear2": (6, 10)})


@check(aspect="parameters", points=0.5)
def test_gate_parameters(submission):
    """swiglu has a third layer, gate, with a bias

    > gate: nn.Linear(D, F), only for "swiglu".
    """
    module = submission.FeedForward(6, 10, "swiglu")
    expect_parameters(module, {"linear1": (10, 6), "linear2": (6, 10), "gate": (10, 6)})


@check(aspect="errors", points=0.5)
def test_unknown_activation(submission):
    """another activation raises ValueError when the module is made

    > "relu", "gelu" or "swiglu"; ValueError for anything else.
    """
    for activation in ("tanh", "glu", "ReLU", ""):
        with expect_raises("ValueError", what=f"{activation!r} is none of relu, gelu and swiglu"):
            submission.FeedForward(6, 10, activation)


# --- FeedForward: values ---


@check(aspect="values", points=2)
def test_relu_values(submission, draw):
    """relu, also by default: linear2(relu(linear1(x)))

    > relu and gelu: widen with linear1, then apply the activation
    """
    compare_values(submission, draw, "relu")
    compare_values(submission, draw, "relu", activation="relu")


@check(aspect="values", points=1.5)
def test_gelu_network_values(submission, draw):
    """gelu: linear2(gelu(linear1(x)))

    > relu and gelu: widen with linear1, then apply the activation
    """
    compare_values(submission, draw, "gelu", "gelu")


@check(aspect="values", points=1.5)
def test_swiglu_values(submission, draw):
    """swiglu: linear2(silu(gate(x)) · linear1(x))

    > swiglu: silu of the gate, times linear1
    > output = linear2(hidden)
    """
    compare_values(submission, draw, "swiglu", "swiglu")


@check(aspect="values", points=0.5)
def test_positions_are_independent(submission, draw):
    """each position passes alone: what its neighbours hold makes no difference

    > nothing passes between them
    """
    module, _ = module_with(submission, draw, parameters(draw, 6, 10, "relu"), "relu")
    x = draw.normal(batch=3, time=4, width=6)
    y = telling(module(x), x)
    for batch, time, name in (
        (slice(1, 2), slice(None), "output of batch 1 alone"),
        (slice(None), slice(2, 3), "output of time 2 alone"),
    ):
        alone = module(with_axes(x[batch, time].clone(), *AXES.split()))
        expect(alone, name, axes=AXES).same_as(y[batch, time], name="the whole")


# --- FeedForward: gradients ---


def part(activation):
    """Return the contract of a network."""
    made = {"d_model": 6, "d_ff": 10, "activation": activation}
    dtypes = [torch.float64, torch.bfloat16]
    return Part("FeedForward", made, [f"output for {activation}"], [AXES], dtypes, gradients=False)


@check(aspect="gradient", points=1.5, follows=[test_relu_values, test_swiglu_values])
def test_gradients(submission, draw):
    """gradients reach x and every weight and bias, the gate's too

    > Gradients reach x and every weight and bias.
    """
    for activation in ("relu", "swiglu"):
        call = {"x": draw.normal(batch=2, time=5, width=6)}
        part(activation).expect_gradients(submission, network(activation), draw, [call])


# --- FeedForward: dropout ---


def with_dropout(submission, draw, activation, p, d_model=12, d_ff=8):
    """Build a module whose hidden units can be read off its output: the columns of linear2 are orthonormal.

    Returns it in train mode, its twin without dropout, and the parameters of both.
    """
    state = parameters(draw, d_model, d_ff, activation)
    basis, _ = torch.linalg.qr(state["linear2.weight"].cpu().double())
    state["linear2.weight"] = basis.float().to(draw.device)
    twin, state = module_with(submission, draw, state, activation)
    module, _ = module_with(submission, draw, state, activation, dropout=p)
    return module.train(), twin, state


def hidden_units(y, state):
    """Return what linear2 was given, in float64: y minus the bias, in the basis of the columns."""
    bias = state["linear2.bias"].cpu().double() if "linear2.bias" in state else 0.0
    return (y.detach().cpu().double() - bias) @ state["linear2.weight"].cpu().double()


@check(aspect="mode", points=2)
def test_dropout_places(submission, draw):
    """in train mode dropout sets hidden units to zero, after the activation, and scales up the rest

    > the share of the F activations that is set to zero in train mode
    > dropout, in all three cases here, before linear2.
    > those that are left are multiplied by 1/(1 - p)
    """
    p = 0.25
    for activation in ("gelu", "swiglu"):
        module, twin, state = with_dropout(submission, draw, activation, p)
        x = draw.normal(batch=3, time=10, width=12)
        plain = expect(twin(x), "output without dropout", axes=AXES).is_tensor(shape=(3, 10, 12)).actual
        y = (
            expect(module(x), "output in train mode", axes=AXES)
            .is_tensor(shape=(3, 10, 12))
            .is_finite()
            .actual
        )
        whole = hidden_units(plain, state)
        kept = hidden_units(y, state).abs() > whole.abs() / (1 - p) / 2
        explained = torch.where(kept, whole / (1 - p), 0.0)
        second = [tensor for name, tensor in state.items() if name.startswith("linear2")]
        wanted = oracle(linear, explained.float(), *second)
        right = oracle(network(activation), state, x).value
        largest = oracle(linear, (hidden_units(right, state) / (1 - p)).float(), *second).tolerance
        limit = 2 * min(
            wanted.tolerance, 4 * largest
        )  # `plain` is an answer: it may not widen what is allowed
        gap = (y.detach().cpu().double() - wanted.value).abs()
        # The output without dropout, from which the units were read, has rounding errors of its own.
        if bool((gap > limit).any()):
            index = tuple(int(i) for i in torch.unravel_index((gap > limit).int().argmax(), gap.shape))
            fail(
                f"wrong dropout  activation={activation!r}, dropout={p}, train mode",
                *reasons(y.detach().cpu().double(), plain.detach().cpu().double(), whole, state, p),
                location=dict(zip(AXES.split(), index, strict=True)),
                subject=y,
            )


def reasons(y, plain, whole, state, p):
    """Say what an output that no dropped units explain looks like instead."""

    def like(other):
        return bool(((y - other).abs() <= 1e-4 * plain.abs().max()).all())

    found = hidden_units(y, state)
    near = 1e-4 * float(plain.abs().max())
    scale = 1 / (1 - p)
    if like(plain):
        return ("nothing is dropped: the output is that of a module without dropout",)
    if bool(((found.abs() <= near) | ((found - whole).abs() <= near)).all()):
        return (
            "what is not dropped is not scaled up",
            f"in train mode it is multiplied by 1/(1 - p) = {scale:.3g}, so that the sum stays as large on average",
        )
    if bool(((y.abs() <= near) | ((y - scale * plain).abs() <= near)).all()):
        return (
            "it is the output of linear2 that is dropped",
            "drop hidden units: after the activation, before linear2",
        )
    return (
        f"each hidden unit must be 0, or {scale:.3g} times what it is without dropout; some are neither",
        "drop after the activation and before linear2, once",
    )


@check(aspect="mode", points=1.5, follows=test_dropout_places)
def test_dropout_share(submission, draw):
    """the share dropped is p, for each position and unit anew, and different at every call

    > is set to zero with probability p, drawn again at every call
    """
    p = 0.25
    module, twin, state = with_dropout(submission, draw, "gelu", p)
    x = draw.normal(batch=4, time=150, width=12)
    plain = expect(twin(x), "output", axes=AXES).is_tensor(shape=(4, 150, 12))
    right = oracle(network("gelu"), state, x).value

    def look():  # not how exactly: from another network's output no hidden units can be read
        plain.close_to(right.float(), tolerance=0.002 * float(right.abs().max()))

    with only_if("the network must be right without dropout", look):
        look()
    whole = hidden_units(plain.actual, state)
    masks = []
    for _ in range(2):
        y = expect(module(x), "output", axes=AXES).is_tensor(shape=(4, 150, 12)).actual
        masks.append(hidden_units(y, state).abs() <= whole.abs() / (1 - p) / 2)
    alive = whole.abs() > 1e-6 * whole.abs().max()
    # A unit that gives nothing tells nothing of whether it was dropped.
    masks = [mask | ~alive for mask in masks]
    # Thousands of coins: the standard deviation of their share is 0.006 or so, 0.05 is never reached.
    share = float(masks[0][alive].double().mean())
    expect(share, f"share of hidden units dropped, for dropout={p}").is_between(p - 0.05, p + 0.05)
    same = {
        axis: bool(((masks[0] == first(masks[0])) | ~alive | ~first(alive)).all())
        for axis, first in {
            "time": lambda tensor: tensor[:, :1],
            "batch": lambda tensor: tensor[:1],
            "hidden unit": lambda tensor: tensor[..., :1],
        }.items()
    }
    for axis, shared in same.items():
        if shared:
            fail(
                f"wrong dropout  every {axis} drops the same: each number is dropped or kept by itself",
                subject=y,
            )
    if torch.equal(*masks):
        fail("wrong dropout  a second call drops the same units: each call draws anew", subject=y)


@check(aspect="mode")
def test_eval(submission, draw):
    """in eval mode nothing is dropped

    > nothing needs to be scaled in eval mode, where nothing is dropped
    """
    state = parameters(draw, 6, 10, "relu")
    plain, _ = module_with(submission, draw, state, "relu")
    module, _ = module_with(submission, draw, state, "relu", dropout=0.5)
    x = draw.normal(batch=3, time=5, width=6)
    wanted = telling(plain(x), x)
    name = "that of a module without dropout"
    expect(module(x), "output in eval mode", axes=AXES).same_as(wanted, name=name)
    module.train()
    module(x)
    module.eval()
    expect(module(x), "output back in eval mode", axes=AXES).same_as(wanted, name=name)


@check(aspect="mode", points=0.5)
def test_no_dropout(submission, draw):
    """dropout is 0 unless asked for: train mode gives what eval mode gives

    > activation="relu", dropout=0.0
    """
    x = draw.normal(batch=3, time=5, width=6)
    for options in ({}, {"dropout": 0.0}):
        module = submission.FeedForward(6, 10, "relu", **options).to(draw.device)
        load(module, parameters(draw, 6, 10, "relu"))
        module.eval()
        plain = telling(module(x), x)
        module.train()
        expect(module(x), "output in train mode", axes=AXES).same_as(plain, name="the one in eval mode")


# --- FeedForward: all else ---


@check(
    aspect="arguments",
    follows=[test_gelu_promises, test_relu_values, test_gelu_network_values, test_swiglu_values, test_eval],
)
def test_network_promises(submission, draw):
    """however a network is called, its result is that of this x and these parameters, and leaves them as they were

    > float64 stays float64 and bfloat16 bfloat16, and float64 is computed in float64
    > x is left as it was and need not be contiguous in memory.
    > But for dropout, a result depends on x and on the module's own parameters.
    """
    # √2 may be kept in float32, which large numbers do not show; of numbers as large as these none is near 0, where a
    # wrong gelu would fail by chance what another check is about.
    for activation, scale in (("relu", 1.0), ("gelu", 1e6), ("swiglu", 1.0)):
        call = {"x": draw.normal(batch=2, time=5, width=6, scale=scale)}
        part(activation).expect(submission, network(activation), draw, [call])
