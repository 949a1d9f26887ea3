"""Checks of 9.1.1. Expected values come from the few lines of torch in `attend`, computed in float64."""

from __future__ import annotations

import math

import torch
from torch.nn.functional import linear

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

X, OUTPUT, WEIGHTS = "batch time width", "batch time feature", "batch query key"
PROJECTIONS = ("w_q", "w_k", "w_v")


# --- the oracle: attention in torch's own operators ---


def attend(state, x):
    """Return the right (output, weights); a bias costs its points elsewhere."""
    q, k, v = (linear(x, state[f"{name}.weight"], state.get(f"{name}.bias")) for name in PROJECTIONS)
    weights = (q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])).softmax(dim=-1)
    return weights @ v, weights


# --- helpers ---


def projections(draw, d_model, d_k):
    """Draw the weights of w_q, w_k and w_v, such that scores are neither tiny nor huge."""
    scale = d_model**-0.5
    return {f"{name}.weight": draw.normal(out=d_k, width=d_model, scale=scale) for name in PROJECTIONS}


def module_with(submission, draw, state):
    """Build the module and load these weights; what another check is about, a bias or dropout, is silenced."""
    d_k, d_model = state["w_q.weight"].shape
    module = submission.SelfAttention(d_model, d_k)
    own = module.state_dict()
    silent = {
        f"{name}.bias": torch.zeros_like(own[f"{name}.bias"]) for name in PROJECTIONS if f"{name}.bias" in own
    }
    module.load_state_dict({**own, **state, **silent})
    module.to(draw.device)
    module.eval()
    return module


def say_who_learns(submission, module, x, output):
    """Say who gets a gradient, and whose weights are not read at each call: of that right numbers say nothing."""
    learns = {name: getattr(module, name).weight.grad is not None for name in PROJECTIONS}
    state, unread = module.state_dict(), []
    for name in [name for name in PROJECTIONS if not learns[name]]:
        module.load_state_dict({**state, f"{name}.weight": 2 * state[f"{name}.weight"]})
        if torch.equal(call(module, x)[0], output):
            unread.append(name)
    fingerprint_facts(submission, **learns, unread=unread, cut_off=not output.requires_grad)


def fresh(submission, draw, d_model, d_k):
    """Build the module as it initialises itself, for what must hold whatever its weights are."""
    module = submission.SelfAttention(d_model, d_k)
    module.to(draw.device)
    module.eval()
    return module


def with_positive_weights(module):
    """Make the projections positive: with x as well, so are all scores, and no sum of them is nearly nought."""
    own = module.state_dict()
    module.load_state_dict(
        {name: value.abs() if name.split(".")[0] in PROJECTIONS else value for name, value in own.items()}
    )
    return module


def call(module, x, *, in_order=False):
    """Call the module and insist on a pair of tensors; which comes first is the shape checks' matter."""
    output, weights = expect(module(x), "(output, weights)").is_tuple(2)
    expect(output, "output").is_tensor()
    expect(weights, "weights").is_tensor()
    time = x.shape[1]
    if not in_order and output.shape[-1:] == (time,) != weights.shape[-1:]:
        return weights, output
    return output, weights


def expect_telling(weights):
    """Rest on weights that differ from key to key: of equal ones nobody sees who looks at whom."""
    with precondition("the weights must tell keys apart"):
        expect(weights[..., 1], "weights of key 1").differs_from(weights[..., 0], "key 0 is another one")


def compare(result, wanted):
    """Compare weights first: when they are wrong, the output can't be right."""
    output, weights = result
    wanted_output, wanted_weights = wanted
    expect(weights, "weights", axes=WEIGHTS, picture="attention").close_to(wanted_weights)
    expect(output, "output", axes=OUTPUT).close_to(wanted_output)


def whole_numbers(draw, size, **axes):
    """Draw integers as floats: products and sums of them are exact, so that nothing is left to rounding."""
    return with_axes(draw.integers(-size, size + 1, **axes).float(), *axes)


# --- what comes out ---


SIZES = ((2, 5, 8, 6), (3, 4, 5, 9))  # batch, time, d_model, d_k: narrower and wider than the input


@check(aspect="shape")
def test_weights_shape(submission, draw):
    """the result is a pair, and its second part, the weights, is [B, T, T]

    > (output [B, T, d_k], weights [B, T, T])
    """
    for batch, time, d_model, d_k in SIZES:
        x = draw.normal(batch=batch, time=time, width=d_model)
        _, weights = call(fresh(submission, draw, d_model, d_k), x, in_order=True)
        expect(weights, "weights", axes=WEIGHTS).is_tensor(shape=(batch, time, time))


@check(aspect="shape", points=0.5)
def test_output_shape(submission, draw):
    """the result is a pair, and its first part, the output, is [B, T, d_k]

    > (output [B, T, d_k], weights [B, T, T])
    """
    for batch, time, d_model, d_k in SIZES:
        x = draw.normal(batch=batch, time=time, width=d_model)
        output, _ = call(fresh(submission, draw, d_model, d_k), x, in_order=True)
        expect(output, "output", axes=OUTPUT).is_tensor(shape=(batch, time, d_k))


@check(aspect="parameters")
def test_parameters(submission):
    """the three projections are w_q, w_k and w_v, each with a weight of [d_k, d_model]

    > nn.Linear from d_model to d_k, without a bias; the only parameters.
    """
    module = submission.SelfAttention(10, 6)
    found = {name: list(tensor.shape) for name, tensor in module.named_parameters()}
    wanted = [f"{name}.weight" for name in PROJECTIONS]
    if not found.keys() >= set(wanted):
        every = [name for name, _ in module.named_parameters(remove_duplicate=False)]
        if set(wanted) <= set(every):
            same = "one for several  at least two of w_q, w_k and w_v are one and the same; make three layers"
            fail(same, stage="names")
    expect([name for name in found if name in wanted], "weights of the projections").has_names(wanted)
    for name in wanted:
        expect(found[name], f"shape of {name}").is_value([6, 10])


@check(aspect="parameters")
def test_no_bias(submission):
    """no projection has a bias, and there are no other parameters

    > nn.Linear from d_model to d_k, without a bias; the only parameters.
    """
    module = submission.SelfAttention(10, 6)
    found = [name for name, _ in module.named_parameters()]
    extra = [name for name in found if name not in {f"{projection}.weight" for projection in PROJECTIONS}]
    expect(extra, "parameters besides the three weights").has_names([])


@check(aspect="values", points=0.5, follows=test_weights_shape)
def test_weights_sum_to_one(submission, draw):
    """each position's weights sum to one over the keys

    > the row sums to one
    """
    x = draw.normal(batch=2, time=5, width=8, scale=3.0)
    _, weights = call(fresh(submission, draw, 8, 6), x)
    expect(weights, "weights", axes=WEIGHTS).is_tensor(shape=(2, 5, 5)).sums_to(1.0, "key")


@check(aspect="values", points=4, follows=[test_weights_shape, test_parameters])
def test_weights(submission, draw):
    """the weights are the softmax over the keys of q·k / √d_k

    > scores [B, T, T]: every query times every key, divided by the root of d_k.
    > softmax over the keys
    """
    for d_model, d_k in ((8, 3), (5, 12)):
        state = projections(draw, d_model, d_k)
        x = draw.normal(batch=2, time=6, width=d_model)
        _, weights = call(module_with(submission, draw, state), x)
        _, wanted = oracle(attend, state, x)
        expect(weights, "weights", axes=WEIGHTS, picture="attention").close_to(wanted)


@check(aspect="values", points=1.5, follows=[test_weights_shape, test_output_shape, test_parameters])
def test_output(submission, draw):
    """the output is the average of w_v(x) under the weights that are returned

    > for each query, the average of the values under its weights
    """
    state = projections(draw, 7, 4)
    x = draw.normal(batch=3, time=5, width=7)
    output, weights = call(module_with(submission, draw, state), x)
    with precondition("the weights must be numbers"):
        expect(weights, "weights", axes=WEIGHTS).is_tensor(shape=(3, 5, 5)).is_finite()
    wanted = oracle(lambda w, x, w_v: w @ linear(x, w_v), weights.detach(), x, state["w_v.weight"])
    expect(output, "output", axes=OUTPUT).close_to(wanted)


@check(aspect="shape", points=0.5, follows=[test_weights, test_output])
def test_sizes(submission, draw):
    """a batch of one, a sequence of one position and one of 99 work as others do

    > It works for any sizes, a sequence of one position and one of thousands.
    """
    state = projections(draw, 6, 4)
    module = module_with(submission, draw, state)
    for batch, time in ((3, 1), (1, 5), (1, 99)):
        x = draw.normal(batch=batch, time=time, width=6)
        compare(call(module, x), oracle(attend, state, x))


# --- who looks at whom ---


@check(aspect="masks", follows=test_weights_shape)
def test_both_directions(submission, draw):
    """every position looks at every position: before it, after it, and at itself

    > every position of a sequence looks at every position, itself included
    """
    x = draw.normal(batch=2, time=6, width=8)
    _, weights = call(fresh(submission, draw, 8, 5), x)
    with precondition("the weights must be numbers"):
        expect(weights, "weights", axes=WEIGHTS).is_tensor(shape=(2, 6, 6)).is_finite()
    expect_telling(weights)
    everyone = torch.ones(2, 6, 6, dtype=torch.bool)
    why = "no position is hidden from another in this exercise"
    expect(weights != 0, "whether the query looks at the key", axes=WEIGHTS, picture="mask").equals(
        everyone, why=why
    )


@check(aspect="values", points=1.5, follows=[test_weights_shape, test_output_shape])
def test_order_does_not_matter(submission, draw):
    """positions have no order: shuffling them only shuffles the results

    > the output its rows; not a single number is new
    """
    module = with_positive_weights(fresh(submission, draw, 8, 5))
    x = with_axes(draw.normal(batch=2, time=6, width=8).abs(), *X.split())
    order = draw.permutation(6).to(draw.device)
    output, weights = call(module, x)
    expect(output, "output", axes=OUTPUT).is_tensor(shape=(2, 6, 5))
    expect(weights, "weights", axes=WEIGHTS).is_tensor(shape=(2, 6, 6))
    expect_telling(weights)
    shuffled_output, shuffled_weights = call(module, with_axes(x[:, order], *X.split()))
    why = "the rows of x were shuffled, nothing else"
    expect(shuffled_weights, "weights of the shuffled x", axes=WEIGHTS, picture="attention").same_as(
        weights[:, order][:, :, order], name="the first result, with queries and keys shuffled", why=why
    )
    expect(shuffled_output, "output of the shuffled x", axes=OUTPUT).same_as(
        output[:, order], name="the first result, shuffled", why=why
    )


@check(aspect="values", follows=[test_weights_shape, test_output_shape])
def test_sequences_are_alone(submission, draw):
    """each sequence of a batch is treated alone

    > The sequences of a batch never see each other.
    """
    module = fresh(submission, draw, 8, 5)
    x = draw.normal(batch=3, time=4, width=8, scale=3.0)
    output, weights = call(module, x)
    expect(output, "output", axes=OUTPUT).is_tensor(shape=(3, 4, 5))
    expect(weights, "weights", axes=WEIGHTS).is_tensor(shape=(3, 4, 4))
    expect_telling(weights)
    alone = with_axes(x[1:2].clone(), *X.split())
    alone_output, alone_weights = call(module, alone)
    name = "the result for the same sequence in a batch of 3"
    expect(alone_weights, "weights of one sequence", axes=WEIGHTS).same_as(weights[1:2], name=name)
    expect(alone_output, "output of one sequence", axes=OUTPUT).same_as(output[1:2], name=name)


# --- gradients ---


@check(aspect="gradient", points=2, follows=[test_weights_shape, test_output_shape, test_parameters])
def test_gradients(submission, draw):
    """the gradient reaches x through the output and through the weights

    > Queries, keys and values are computed so that gradients reach x and all three weights.
    """
    state = projections(draw, 7, 4)
    x = draw.normal(batch=2, time=5, width=7, requires_grad=True)
    result = call(module_with(submission, draw, state), x)

    def of_x(x):
        return attend({name: weight.to(x) for name, weight in state.items()}, x)

    expect_gradients(result, {"x": x}, draw, oracle=of_x, names=("output", "weights"))


@check(aspect="gradient", points=1.5, follows=[test_output_shape, test_parameters])
def test_parameter_gradients(submission, draw):
    """gradients reach w_q, w_k and w_v

    > Queries, keys and values are computed so that gradients reach x and all three weights.
    """
    state = projections(draw, 7, 4)
    x = draw.normal(batch=2, time=5, width=7)
    module = module_with(submission, draw, state)
    output, _ = call(module, x)
    expect(output, "output", axes=OUTPUT).is_tensor(shape=(2, 5, 4), dtype=torch.float32)
    if not output.requires_grad:
        say_who_learns(submission, module, x, output)
        fail(
            "no gradient  output  is cut off from the weights: backward finds no way in",
            stage="gradient",
            subject=output,
        )
    cotangent = draw.like(output)
    (output * cotangent).sum().backward()
    wanted = oracle_gradients(
        lambda *weights: attend(dict(zip(state, weights, strict=True)), x.cpu().to(weights[0]))[0],
        state,
        cotangent,
    )
    right, _ = oracle(attend, state, x)
    for name in PROJECTIONS:
        gradient = getattr(module, name).weight.grad
        if gradient is None:
            say_who_learns(submission, module, x, output)
            fail(f"no gradient  {name}.weight  none arrives", stage="gradient", subject=output)
        with only_if("the output must be right", lambda: expect(output, "output").close_to(right)):
            expect(gradient, f"{name}.weight.grad", axes="out width").close_to(wanted[f"{name}.weight"])


# --- numbers ---


@check(aspect="stability", follows=[test_weights_shape, test_output_shape, test_parameters])
def test_large_scores(submission, draw):
    """scores in the thousands do not overflow

    > exp(89) is beyond float32. Subtract each row's maximum first
    """

    # Whole numbers, and d_k = 16 whose root and fourth root are whole: every score is exact, wherever the
    # scale is applied. Only the softmax has to cope.
    def compare_scores(size):
        telling = False
        # Some position looks at itself most, and large scores are so far apart that no scale shows.
        while not telling:
            state = {f"{name}.weight": whole_numbers(draw, size, out=16, width=5) for name in PROJECTIONS}
            x = whole_numbers(draw, size, batch=2, time=6, width=5)
            scores = linear(x, state["w_q.weight"]) @ linear(x, state["w_k.weight"]).mT
            itself, best = scores.argmax(-1) == torch.arange(6, device=draw.device), scores.topk(2).values
            apart = size == 1 or float((best[..., 0] - best[..., 1]).min()) > 600
            telling = apart and bool(itself.any())
        result = call(module_with(submission, draw, state), x)
        compare(result, oracle(attend, state, x))

    with only_if("small scores must give the right result", lambda: compare_scores(1)):
        compare_scores(8)


@check(aspect="arguments", follows=[test_weights, test_output])
def test_promises(submission, draw):
    """however it is called, the result is that of this x and these weights, which it leaves as they were

    > float64 is computed in float64
    > left as it was and need not be contiguous in memory
    > A result depends on x and on the weights as they are now
    """
    part = Part(
        "SelfAttention",
        {"d_model": 7, "d_k": 4},
        outputs=["output", "weights"],
        axes=[OUTPUT, WEIGHTS],
        dtypes=[torch.float64, torch.bfloat16],
        gradients=False,
    )
    part.expect(submission, attend, draw, [{"x": draw.normal(batch=2, time=5, width=7)}])


@check(aspect="mode", points=0.5, follows=[test_weights_shape, test_output_shape])
def test_modes(submission, draw):
    """train() and eval() agree, and so do two calls in a row

    > Nothing is kept from one call to the next.
    """
    module = fresh(submission, draw, 8, 5)
    x = draw.normal(batch=2, time=6, width=8, scale=3.0)
    module.train()
    with precondition("forward must return the pair"):
        output, weights = call(module, x)
    for again in ("the second call in train mode", "eval mode"):
        if again == "eval mode":
            module.eval()
        other_output, other_weights = call(module, x)
        first = "the first call in train mode"
        expect(other_weights, f"weights of {again}", axes=WEIGHTS).same_as(weights, name=first)
        expect(other_output, f"output of {again}", axes=OUTPUT).same_as(output, name=first)


@check(aspect="scratch", points=0.5, follows=[test_weights_shape, test_output_shape])
def test_from_scratch(submission, draw):
    """attention is written from scratch

    > torch's own attention operators are what you are building
    """
    with precondition("forward must return the pair"):
        call(fresh(submission, draw, 8, 5), draw.normal(batch=2, time=6, width=8))
    expect_from_scratch(submission)
