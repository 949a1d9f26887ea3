"""Checks of 9.3.3. Expected values come from the few lines of torch in `normalized`, computed in float64."""

from __future__ import annotations

import torch

from grader.checks import (
    Part,
    check,
    expect,
    expect_from_scratch,
    expect_gradients,
    fail,
    fingerprint_facts,
    only_if,
    oracle,
    oracle_gradients,
    precondition,
    with_axes,
)

AXES = "batch time width"


# --- the oracle: layer norm in torch's own operators ---


def normalized(eps=1e-5):
    """Return the right x -> output of a layer norm whose weight is 1 and bias 0."""

    def function(x):
        centred = x - x.mean(dim=-1, keepdim=True)
        variance = (centred * centred).mean(dim=-1, keepdim=True)
        return centred / torch.sqrt(variance + eps)

    return function


def fused(eps=1e-5):
    """Return another right formula, rounded in other places."""

    def function(x):
        variance, mean = torch.var_mean(x, dim=-1, correction=0, keepdim=True)
        return (x - mean) * torch.rsqrt(variance + eps)

    return function


# --- helpers ---


def fresh(submission, draw, d_model, *arguments, **options):
    """Build a module as it starts: weight 1, bias 0."""
    return submission.LayerNorm(d_model, *arguments, **options).to(draw.device)


def parameters(draw, d_model):
    """Draw a weight around 1 and a bias around 0, far enough off to matter."""
    return {
        "weight": draw.normal(width=d_model, scale=0.5, shift=1.0),
        "bias": draw.normal(width=d_model),
    }


def module_with(submission, draw, state, *arguments, **options):
    """Build a module and load these parameters; buffers of its own stay as they are."""
    module = fresh(submission, draw, state["weight"].shape[0], *arguments, **options)
    module.load_state_dict({**module.state_dict(), **state})
    return module


def affine(normal, weight, bias):
    return normal * weight + bias


def plain_output(submission, draw, x):
    """Return the submission's own output for weight 1 and bias 0: how it normalises is another check's matter."""
    start = {"weight": torch.ones(x.shape[-1]), "bias": torch.zeros(x.shape[-1])}
    y = module_with(submission, draw, start)(x)
    return (
        expect(y, "output for weight 1 and bias 0", axes=AXES).is_tensor(shape=tuple(x.shape)).actual.detach()
    )


def say_who_learns(submission, module, x, y):
    """Say who gets a gradient, and whether the weight is read at each call: of that right numbers say nothing."""
    learns = {name: getattr(module, name).grad is not None for name in ("weight", "bias")}
    state = module.state_dict()
    module.load_state_dict({**state, "weight": 2 * state["weight"]})
    fingerprint_facts(submission, **learns, weight_read=not torch.equal(module(x), y))


def plainly_right(submission, draw):
    """Let what is special about a check count only where ordinary vectors are normalised rightly."""

    def look():
        x = draw.normal(batch=2, time=4, width=6, scale=2000.0, shift=3000.0)  # eps is nothing to this
        expect(fresh(submission, draw, 6)(x), "output", axes=AXES).close_to(oracle(normalized(), x))

    return only_if("ordinary vectors must be normalised rightly", look)


# --- shape and parameters ---


@check(aspect="shape", points=0.5)
def test_shape(submission, draw):
    """the output has the shape of the input, also for a batch of 1 and a single position

    > [.., D], of the same shape, dtype and device.
    """
    module = fresh(submission, draw, 6)
    for batch, time in ((2, 5), (1, 4), (3, 1), (1, 1)):
        y = module(draw.normal(batch=batch, time=time, width=6))
        expect(y, "output", axes=AXES).is_tensor(shape=(batch, time, 6), dtype=torch.float32)


@check(aspect="parameters", points=0.5)
def test_parameters(submission):
    """the parameters are weight and bias, each [D]

    > parameter [D], ones at the start; multiplies each feature after the normalisation.
    > parameter [D], zeros at the start; is added last.
    """
    module = submission.LayerNorm(7)
    found = {name: list(tensor.shape) for name, tensor in module.named_parameters()}
    expect(found, "parameters").has_names(["weight", "bias"])
    for name in ("weight", "bias"):
        expect(found[name], f"shape of {name}").is_value([7])


@check(aspect="parameters", follows=test_parameters)
def test_initial_values(submission):
    """weight starts as ones and bias as zeros: at first nothing is scaled or shifted

    > **weight** starts as ones and **bias** as zeros
    """
    module = submission.LayerNorm(7)
    expect(module.weight, "weight", axes="width").equals(torch.ones(7))
    expect(module.bias, "bias", axes="width").equals(torch.zeros(7))


# --- values ---


@check(aspect="values", follows=test_shape)
def test_centred(submission, draw):
    """a new module centres each position: its features sum to 0

    > shift it so that its mean is 0
    """
    x = draw.normal(batch=3, time=5, width=8, scale=2.0, shift=3.0)
    y = fresh(submission, draw, 8)(x)
    output = expect(y, "output", axes=AXES).is_tensor(shape=(3, 5, 8))
    size = float(oracle(normalized(), x).value.abs().sum(dim=-1).max())
    output.sums_to(0.0, "width", size=size, why="what is subtracted is the mean of a position's own features")


@check(aspect="values", points=2.5, follows=test_shape)
def test_values(submission, draw):
    """a new module gives (x - mean) / √variance, with the biased variance

    > The variance is the **biased** one: divided by D.
    """
    for d_model in (6, 9, 66):
        x = draw.normal(batch=2, time=4, width=d_model, scale=2000.0, shift=3000.0)  # eps is nothing to this
        y = fresh(submission, draw, d_model)(x)
        expect(y, "output", axes=AXES).close_to(oracle(normalized(), x))


@check(aspect="values", follows=test_shape)
def test_positions_are_independent(submission, draw):
    """each position is normalised by itself: neighbours and other sequences make no difference

    > Each vector of D numbers is normalised by itself.
    """
    module = fresh(submission, draw, 6)
    x = draw.normal(batch=3, time=4, width=6, scale=2.0, shift=1.0)
    y = expect(module(x), "output", axes=AXES).is_tensor(shape=(3, 4, 6)).actual
    for batch, time, name in (
        (slice(1, 2), slice(None), "output of batch 1 alone"),
        (slice(None), slice(2, 3), "output of time 2 alone"),
        (slice(0, 1), slice(3, 4), "output of batch 0, time 3 alone"),
    ):
        alone = module(with_axes(x[batch, time].clone(), *AXES.split()))
        expect(alone, name, axes=AXES).same_as(
            y[batch, time], name="the whole", why="a position depends on its own features only"
        )


@check(aspect="shape", follows=test_shape)
def test_leading_axes(submission, draw):
    """any number of axes may come before the last, also none

    > any number of leading axes
    """
    module = fresh(submission, draw, 6)
    for lead in ({"row": 5}, {"batch": 2, "head": 3, "time": 5}, {}):
        x = draw.normal(**lead, width=6)
        y = expect(module(x), f"output of {len(lead) + 1} axes", axes=" ".join((*lead, "width")))
        y.is_tensor(shape=tuple(x.shape), dtype=torch.float32)
        flat = module(with_axes(x.reshape(1, -1, 6), *AXES.split()))
        expect(flat, "output", axes=AXES).is_tensor(shape=(1, x.numel() // 6, 6))
        with plainly_right(submission, draw):
            y.same_as(flat.reshape(x.shape), name="the result for the same positions in three axes")


@check(aspect="values", follows=test_shape)
def test_eps_inside_root(submission, draw):
    """eps is inside the root and 1e-5 unless said otherwise

    > is 1e-5 and stands *inside* the root
    """
    # A deviation of 0.003 is a variance of about 1e-5: as large as eps, which halves what is divided.
    x = draw.normal(batch=2, time=5, width=6, scale=0.003)
    y = fresh(submission, draw, 6)(x)
    with plainly_right(submission, draw):
        expect(y, "output", axes=AXES).close_to(oracle(normalized(), x))


@check(aspect="values", points=1.5, follows=test_shape)
def test_eps_given(submission, draw):
    """the eps given is the one used

    > is added to the variance, so that a vector of equal numbers is not divided by zero.
    """
    x = draw.normal(batch=2, time=5, width=6)
    for eps, module in (
        (0.5, fresh(submission, draw, 6, 0.5)),
        (2.0, fresh(submission, draw, 6, eps=2.0)),
    ):
        y = module(x)
        with plainly_right(submission, draw):
            expect(y, f"output for eps={eps}", axes=AXES).close_to(oracle(normalized(eps), x))


@check(aspect="values", points=1.5, follows=[test_shape, test_parameters])
def test_weight_and_bias(submission, draw):
    """the normalised x is multiplied by weight, then bias is added

    > parameter [D], ones at the start; multiplies each feature after the normalisation.
    > parameter [D], zeros at the start; is added last.
    """
    x = draw.normal(batch=2, time=5, width=6, scale=2.0, shift=1.0)
    state = parameters(draw, 6)
    wanted = oracle(affine, plain_output(submission, draw, x), *state.values())
    expect(module_with(submission, draw, state)(x), "output", axes=AXES).close_to(wanted)


# --- stability ---


@check(aspect="stability", points=1.5, follows=test_shape)
def test_far_from_zero(submission, draw):
    """far from zero (mean 10,000, deviation 1) the result is as right as near it

    > Subtract the mean *first*: the differences are small numbers again
    """
    module = fresh(submission, draw, 24)
    for shift in (1e4, -1e4):
        # Whole numbers, near and far: neither holds a rounding that statistics over a short axis would magnify.
        near = with_axes(draw.integers(-8, 9, batch=2, time=5, width=24).float(), *AXES.split())
        far = with_axes(near + shift, *AXES.split())
        wanted = expect(module(near), "output", axes=AXES).is_tensor(shape=(2, 5, 24)).actual
        # As far off as a right formula is there. Compared with the submission's own result near zero.
        y = expect(module(far), f"output for a mean of {shift:,.0f}", axes=AXES).is_finite()
        y.same_as(
            wanted,
            name="the result for x - mean",
            tolerance=oracle(normalized(), far, also=(fused(),)),
            why="only the mean was moved; squares of such numbers leave no digits for the variance",
        )


@check(aspect="stability", points=1.5, follows=test_shape)
def test_equal_features(submission, draw):
    """a position whose features are all equal gives zeros, and a finite gradient

    > It keeps a vector of equal numbers from being 0/0
    """
    # Powers of two over eight features: mean and differences are exact in any order of the sums.
    x = torch.tensor([[0.0, 0.5, -4.0]]).to(draw.device)[:, :, None].repeat(2, 1, 8)
    x = with_axes(x, *AXES.split()).requires_grad_()
    y = fresh(submission, draw, 8)(x)
    with plainly_right(submission, draw):
        expect(y, "output of equal features", axes=AXES).equals(torch.zeros(2, 3, 8))
    (y * draw.like(y)).sum().backward()
    expect(x.grad, "gradient of x", axes=AXES).is_finite()


# --- gradients ---


@check(aspect="gradient", points=2)
def test_gradient_of_x(submission, draw):
    """gradients reach x, also through its mean and its variance

    > Gradients reach x, also through its mean and its variance, and weight and bias.
    """
    x = draw.normal(
        batch=2, time=5, width=6, scale=2000.0, shift=1000.0, requires_grad=True
    )  # eps is nothing to this
    y = fresh(submission, draw, 6)(x)
    expect_gradients(y, {"x": x}, draw, oracle=normalized())


@check(aspect="gradient", follows=[test_shape, test_parameters])
def test_gradient_of_parameters(submission, draw):
    """gradients of weight and bias add up over all positions

    > Gradients reach x, also through its mean and its variance, and weight and bias.
    """
    x = draw.normal(batch=2, time=5, width=6, scale=2.0, shift=1.0)
    state = parameters(draw, 6)
    normal = plain_output(submission, draw, x)
    module = module_with(submission, draw, state)
    y = expect(module(x), "output", axes=AXES).is_tensor(shape=(2, 5, 6)).actual
    cotangent = draw.like(y)
    (y * cotangent).sum().backward()
    wanted = oracle_gradients(affine, {"normal": normal, **state}, cotangent)
    right = oracle(affine, normal, *state.values())
    for name, parameter in (("weight", module.weight), ("bias", module.bias)):
        if parameter.grad is None:
            say_who_learns(submission, module, x, y)
            fail(f"no gradient  {name}  none arrives", stage="gradient", subject=y)
        with only_if(
            "weight and bias must be applied", lambda: expect(y, "output", axes=AXES).close_to(right)
        ):
            expect(parameter.grad, f"{name}.grad", axes="width").close_to(wanted[name])


# --- dtype, mode, arguments, policy ---


@check(aspect="mode")
def test_modes(submission, draw):
    """nothing is remembered: train() and eval() agree, and so does the first call with a later one

    > nothing is remembered from one call to the next, in train mode or in eval mode
    """
    module = fresh(submission, draw, 6)
    x = draw.normal(batch=2, time=5, width=6)
    module.train()
    with precondition("forward must return a tensor"):
        first = expect(module(x), "output").is_tensor().actual
    module(draw.normal(batch=3, time=4, width=6, scale=3.0, shift=5.0))
    again = "the first output"
    expect(module(x), "output of the same x later", axes=AXES).same_as(first, name=again)
    module(draw.normal(batch=2, time=5, width=6, scale=2.0, shift=-3.0))  # of the shape that comes again
    module.eval()
    expect(module(x), "output in eval mode", axes=AXES).same_as(first, name="the one in train mode")


def right_norm(state, x):
    return affine(normalized(1e-3)(x), **state)


@check(
    aspect="arguments",
    follows=[test_parameters, test_values, test_eps_given, test_weight_and_bias, test_modes],
)
def test_promises(submission, draw):
    """however it is called, the result is that of this x, weight, bias and eps, which it leaves as they were

    > A float64 or bfloat16 module gives float64 or bfloat16.
    > x is left as it was
    > need not be contiguous in memory
    > A result depends on x and on the module's own weight, bias and eps
    """
    made, dtypes = {"d_model": 7, "eps": 1e-3}, [torch.float64, torch.bfloat16]
    part = Part("LayerNorm", made, ["output"], [AXES], dtypes, gradients=False)
    part.expect(submission, right_norm, draw, [{"x": draw.normal(batch=2, time=5, width=7)}])


@check(aspect="scratch", points=0.5, follows=test_shape)
def test_from_scratch(submission, draw):
    """layer norm is written from scratch

    > torch's own norm layers and their functions are excluded
    """
    with precondition("forward must return a tensor"):
        module = fresh(submission, draw, 6)
        module(draw.normal(batch=2, time=5, width=6))
        module.eval()
        module(draw.normal(batch=1, time=4, width=6))
    expect_from_scratch(submission)
