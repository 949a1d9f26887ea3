"""Checks of 9.3.2. Expected values come from the few lines of torch in `attend`, computed in float64."""

from __future__ import annotations

import math

import torch
from torch.nn.functional import linear

from grader.checks import (
    check,
    expect,
    expect_from_scratch,
    expect_gradients,
    expect_raises,
    expect_unchanged,
    oracle,
    oracle_gradients,
)

OUTPUT, WEIGHTS = "batch head query feature", "batch head query key"
PROJECTIONS = ("w_q", "w_k", "w_v", "w_o")


# --- the oracle: attention in torch's own operators ---


def attend(mask=None):
    """Return the right (query, key, value) -> (output, weights) under this mask."""

    def attention(query, key, value):
        scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
        if mask is None:
            weights = scores.softmax(dim=-1)
        else:
            allowed = mask.to(scores.device).expand(scores.shape)
            blind = ~allowed.any(dim=-1, keepdim=True)
            weights = scores.masked_fill(~allowed & ~blind, -math.inf).softmax(dim=-1).masked_fill(blind, 0)
        return weights @ value, weights

    return attention


def multi_head(num_heads, mask=None):
    """Return the right (x, context, w_q.weight, w_q.bias, .. w_o.bias) -> output."""

    def heads(x):
        return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)

    def module(x, context, wq, bq, wk, bk, wv, bv, wo, bo):
        q, k, v = heads(linear(x, wq, bq)), heads(linear(context, wk, bk)), heads(linear(context, wv, bv))
        output, _ = attend(mask)(q, k, v)
        return linear(output.transpose(1, 2).flatten(2), wo, bo)

    return module


# --- helpers ---


def inputs(draw, *, batch=2, head=3, query=4, key=6, width=5, value=7, **options):
    """Draw query, key and value; every size is different."""
    return (
        draw.normal(batch=batch, head=head, query=query, width=width, **options),
        draw.normal(batch=batch, head=head, key=key, width=width, **options),
        draw.normal(batch=batch, head=head, key=key, feature=value, **options),
    )


def call(submission, *arguments):
    """Call the function and insist on a pair of tensors."""
    result = submission.scaled_dot_product_attention(*arguments)
    output, weights = expect(result, "(output, weights)").is_tuple(2)
    expect(output, "output").is_tensor()
    expect(weights, "weights").is_tensor()
    return output, weights


def compare(result, wanted, mask=None):
    """Compare weights first: when they are wrong, the output can't be right."""
    output, weights = result
    wanted_output, wanted_weights = wanted
    expect(weights, "weights", axes=WEIGHTS, picture="attention").close_to(wanted_weights)
    if mask is not None:
        expect(weights, "weights", axes=WEIGHTS, picture="attention").is_zero_where(
            ~mask.expand(weights.shape)
        )
    expect(output, "output", axes=OUTPUT).close_to(wanted_output)


def parameters(draw, d_model, dtype=torch.float32):
    """Draw all weights and biases, in the order that `multi_head` takes them."""
    state = {}
    for name in PROJECTIONS:
        state[f"{name}.weight"] = draw.normal(out=d_model, width=d_model, scale=d_model**-0.5, dtype=dtype)
        state[f"{name}.bias"] = draw.normal(out=d_model, dtype=dtype)
    return state


def module_with(submission, num_heads, state):
    """Build the module and load these parameters; buffers of its own stay as they are."""
    module = submission.MultiHeadAttention(state["w_q.weight"].shape[0], num_heads)
    module.load_state_dict({**module.state_dict(), **state})
    return module


def causal(draw, seq_len):
    return torch.ones(seq_len, seq_len, dtype=torch.bool, device=draw.device).tril()


# --- scaled_dot_product_attention ---


@check("the output is [.., Tq, dv] and the weights are [.., Tq, Tk]", aspect="shape", points=1)
def test_shapes(submission, draw):
    for lead in ({"batch": 2, "head": 3}, {"batch": 4}, {}, {"batch": 1, "head": 1}):
        for queries, keys in ((4, 6), (1, 1), (5, 2)):
            query = draw.normal(**lead, query=queries, width=8)
            key = draw.normal(**lead, key=keys, width=8)
            value = draw.normal(**lead, key=keys, feature=7)
            output, weights = call(submission, query, key, value)
            names, shape = " ".join(lead), tuple(lead.values())
            expect(output, "output", axes=f"{names} query feature").is_tensor(
                shape=(*shape, queries, 7), dtype=torch.float32
            )
            expect(weights, "weights", axes=f"{names} query key").is_tensor(
                shape=(*shape, queries, keys), dtype=torch.float32
            )


@check("each query's weights sum to one over the keys", aspect="values", points=0.5, needs=["test_shapes"])
def test_weights_sum_to_one(submission, draw):
    query, key, value = inputs(draw)
    _, weights = call(submission, query, key, value)
    expect(weights, "weights", axes=WEIGHTS).is_tensor(shape=(2, 3, 4, 6)).sums_to(1.0, "key")


@check(
    "without a mask the weights are softmax(q·k / √d) and the output is their average of the values",
    aspect="values",
    points=1.5,
    needs=["test_shapes"],
)
def test_values(submission, draw):
    tensors = inputs(draw)
    compare(call(submission, *tensors), oracle(attend(), *tensors))


@check(
    "a forbidden key gets no weight, and the allowed ones share all of it",
    aspect="masks",
    points=1.5,
    needs=["test_shapes"],
)
def test_mask_values(submission, draw):
    tensors = inputs(draw, key=7)
    mask = draw.mask(keep=0.5, batch=2, head=3, query=4, key=7)
    compare(call(submission, *tensors, mask), oracle(attend(mask), *tensors), mask)


@check(
    "a mask may have any shape that broadcasts to [.., Tq, Tk]",
    aspect="masks",
    points=1,
    needs=["test_mask_values"],
)
def test_mask_shapes(submission, draw):
    tensors = inputs(draw)
    masks = (
        draw.mask(keep=0.5, query=4, key=6),
        draw.mask(keep=0.5, query=1, key=6),
        draw.mask(keep=0.5, batch=2, head=1, query=1, key=6),
        draw.mask(keep=0.5, batch=2, head=1, query=4, key=6),
        draw.mask(keep=0.5, head=3, query=4, key=6),
    )
    for mask in masks:
        compare(call(submission, *tensors, mask), oracle(attend(mask), *tensors), mask)
    flat = [tensor[1, 2] for tensor in tensors]  # no leading axis at all
    output, weights = call(submission, *flat, masks[0])
    wanted_output, wanted_weights = oracle(attend(masks[0]), *flat)
    expect(weights, "weights", axes="query key", picture="attention").close_to(wanted_weights)
    expect(output, "output", axes="query feature").close_to(wanted_output)


@check(
    "a query that may attend to nothing gets zero weights and a zero output, not NaN",
    aspect="masks",
    points=1.5,
    needs=["test_shapes"],
)
def test_fully_masked(submission, draw):
    tensors = inputs(draw)
    some_queries = draw.mask(keep=0.6, batch=2, head=1, query=4, key=6)
    some_queries[0, 0, 2] = False
    some_queries[1, 0, 0] = False
    whole_sequence = draw.mask(keep=0.6, batch=2, head=1, query=1, key=6)
    whole_sequence[1] = False
    for mask in (some_queries, whole_sequence):
        output, weights = call(submission, *tensors, mask)
        blind = ~mask.any(dim=-1, keepdim=True).expand(2, 3, 4, 1)
        expect(weights, "weights", axes=WEIGHTS).is_tensor(shape=(2, 3, 4, 6))
        expect(output, "output", axes=OUTPUT).is_tensor(shape=(2, 3, 4, 7))
        expect(weights, "weights", axes=WEIGHTS).is_finite()
        expect(output, "output", axes=OUTPUT).is_finite()
        expect(weights, "weights", axes=WEIGHTS, picture="attention").is_zero_where(blind.expand(2, 3, 4, 6))
        expect(output, "output", axes=OUTPUT).is_zero_where(blind.expand(2, 3, 4, 7))
        compare((output, weights), oracle(attend(mask), *tensors))


@check(
    "gradients reach query, key and value through the output and through the weights",
    aspect="gradient",
    points=1,
    needs=["test_mask_values"],
)
def test_gradients(submission, draw):
    query, key, value = inputs(draw, requires_grad=True)
    mask = draw.mask(keep=0.6, batch=2, head=1, query=4, key=6)
    result = call(submission, query, key, value, mask)
    expect_gradients(
        result,
        {"query": query, "key": key, "value": value},
        draw,
        oracle=attend(mask),
        names=("output", "weights"),
    )


@check(
    "a query that may attend to nothing has a zero gradient, and puts NaN into no other",
    aspect="gradient",
    points=1,
    needs=["test_fully_masked"],
)
def test_fully_masked_gradients(submission, draw):
    query, key, value = inputs(draw, requires_grad=True)
    mask = draw.mask(keep=0.6, batch=2, head=1, query=4, key=6)
    mask[0, 0, 1] = False
    mask[1] = False
    result = call(submission, query, key, value, mask)
    expect_gradients(
        result,
        {"query": query, "key": key, "value": value},
        draw,
        oracle=attend(mask),
        names=("output", "weights"),
    )


@check(
    "scores in the ten thousands neither overflow nor leak",
    aspect="stability",
    points=1,
    needs=["test_shapes"],
)
def test_large_scores(submission, draw):
    # Whole numbers and d = 4 make every score exact, so that nothing is left to rounding.
    query = draw.integers(-100, 101, batch=2, head=3, query=5, width=4).float()
    key = draw.integers(-100, 101, batch=2, head=3, key=7, width=4).float()
    value = draw.normal(batch=2, head=3, key=7, feature=6)
    compare(call(submission, query, key, value), oracle(attend(), query, key, value))
    # Now every allowed score is about -10,000 and every forbidden one about 10,000.
    mask = draw.mask(keep=0.5, query=1, key=7)
    query, key = query.abs() + 50, (key.abs() + 50) * torch.where(mask, -1.0, 1.0).mT
    compare(call(submission, query, key, value, mask), oracle(attend(mask), query, key, value), mask)


@check(
    "float64 and bfloat16 inputs give float64 and bfloat16 results",
    aspect="dtype",
    points=1,
    needs=["test_shapes"],
)
def test_dtypes(submission, draw):
    mask = draw.mask(keep=0.6, query=4, key=6)
    for dtype in (torch.float64, torch.bfloat16):
        tensors = inputs(draw, dtype=dtype)
        compare(call(submission, *tensors), oracle(attend(), *tensors))
        compare(call(submission, *tensors, mask), oracle(attend(mask), *tensors))


@check(
    "arguments are left as they were, and need not be contiguous in memory",
    aspect="arguments",
    points=1,
    needs=["test_shapes"],
)
def test_arguments(submission, draw):
    tensors = [draw.noncontiguous(tensor) for tensor in inputs(draw)]
    mask = draw.noncontiguous(draw.mask(keep=0.6, batch=2, head=1, query=4, key=6))
    result = call(submission, *tensors, mask)
    expect_unchanged(submission)
    compare(result, oracle(attend(mask), *tensors))
    result = call(submission, *tensors)
    expect_unchanged(submission)
    compare(result, oracle(attend(), *tensors))


# --- MultiHeadAttention ---


@check(
    "the parameters are w_q, w_k, w_v and w_o, each [D, D], with a bias unless told not to",
    aspect="parameters",
    points=1,
)
def test_parameters(submission):
    for bias in (True, False):
        module = submission.MultiHeadAttention(12, 3, bias=bias)
        wanted = {f"{name}.weight": [12, 12] for name in PROJECTIONS}
        if bias:
            wanted |= {f"{name}.bias": [12] for name in PROJECTIONS}
        found = {name: list(tensor.shape) for name, tensor in module.named_parameters()}
        expect(found, f"parameters with bias={bias}").has_names(wanted)
        for name, shape in wanted.items():
            expect(found[name], f"shape of {name}").is_value(shape)
    found = [name for name, _ in submission.MultiHeadAttention(8, 2).named_parameters()]
    expect(found, "parameters by default").has_names(
        f"{name}.{part}" for name in PROJECTIONS for part in ("weight", "bias")
    )


@check(
    "head h attends with columns h·D/H to (h+1)·D/H, scaled by its own width",
    aspect="values",
    points=2,
    needs=["test_parameters"],
)
def test_module_values(submission, draw):
    state = parameters(draw, 12)
    for num_heads in (3, 1):
        x = draw.normal(batch=2, time=5, width=12)
        y = module_with(submission, num_heads, state)(x)
        expect(y, "output", axes="batch time width").close_to(
            oracle(multi_head(num_heads), x, x, *state.values())
        )
    x = draw.normal(batch=1, time=1, width=12)
    y = module_with(submission, 4, state)(x)
    expect(y, "output", axes="batch time width").close_to(oracle(multi_head(4), x, x, *state.values()))


@check(
    "the module obeys masks of [T, T], [B, 1, 1, T] and [B, H, T, T]",
    aspect="masks",
    points=1,
    needs=["test_module_values"],
)
def test_module_masks(submission, draw):
    state = parameters(draw, 12)
    module = module_with(submission, 3, state)
    x = draw.normal(batch=2, time=5, width=12)
    for mask in (
        causal(draw, 5),
        draw.mask(keep=0.6, batch=2, head=1, query=1, key=5),
        draw.mask(keep=0.6, batch=2, head=3, query=5, key=5),
        causal(draw, 5)
        & draw.mask(keep=0.6, batch=2, head=1, query=1, key=5),  # may leave a query with nothing
    ):
        y = module(x, mask)
        expect_unchanged(submission)
        wanted = oracle(multi_head(3, mask), x, x, *state.values())
        expect(y, "output", axes="batch time width").close_to(wanted)


@check(
    "keys and values come from the context when there is one",
    aspect="values",
    points=1,
    needs=["test_module_values"],
)
def test_context(submission, draw):
    state = parameters(draw, 12)
    module = module_with(submission, 3, state)
    x = draw.normal(batch=2, time=5, width=12)
    for length in (5, 7, 3):  # as long as x, longer, shorter
        context = draw.normal(batch=2, key=length, width=12)
        wanted = oracle(multi_head(3), x, context, *state.values())
        y = module(x, context=context)
        expect(y, "output", axes="batch time width").close_to(wanted)
        mask = draw.mask(keep=0.6, batch=2, head=1, query=1, key=length)
        wanted = oracle(multi_head(3, mask), x, context, *state.values())
        y = module(x, mask=mask, context=context)
        expect(y, "output under a mask", axes="batch time width").close_to(wanted)


@check(
    "gradients reach all four projections, x and the context",
    aspect="gradient",
    points=1,
    needs=["test_context"],
)
def test_module_gradients(submission, draw):
    state = parameters(draw, 12)
    x = draw.normal(batch=2, time=5, width=12, requires_grad=True)
    context = draw.normal(batch=2, key=4, width=12, requires_grad=True)
    y = module_with(submission, 3, state)(x, context=context)

    def of_inputs(x, context):
        return multi_head(3)(x, context, *(tensor.to(x.dtype) for tensor in state.values()))

    expect_gradients(y, {"x": x, "context": context}, draw, oracle=of_inputs)

    module = module_with(submission, 3, state)  # afresh: gradients of parameters add up
    y = module(x, context=context)
    expect(y, "output", axes="batch time width").is_tensor(shape=(2, 5, 12))
    cotangent = draw.like(y)
    y.backward(cotangent)
    tensors = {"x": x, "context": context, **state}
    wanted = oracle_gradients(multi_head(3), tensors, cotangent)
    for name in PROJECTIONS:
        projection = getattr(module, name)
        for part, parameter in (("weight", projection.weight), ("bias", projection.bias)):
            expect(parameter.grad, f"{name}.{part}.grad").close_to(wanted[f"{name}.{part}"])


@check(
    "under a causal mask later positions cannot change earlier outputs",
    aspect="causality",
    points=0.5,
    needs=["test_parameters"],
)
def test_causality(submission, draw):
    state = parameters(draw, 12)
    module = module_with(submission, 3, state)
    x = draw.normal(batch=2, time=6, width=12)
    changed = x.clone()
    changed[:, 4:] = draw.normal(batch=2, time=2, width=12, scale=10)
    for tokens in (x, changed):
        y = module(tokens, causal(draw, 6))
        expect(y, "output", axes="batch time width").is_tensor(shape=(2, 6, 12))
        wanted = oracle(lambda *ts: multi_head(3, causal(draw, 6))(*ts)[:, :4], x, x, *state.values())
        expect(y[:, :4], "output at positions 0 to 3", axes="batch time width").close_to(wanted)


@check(
    "train() and eval() agree, and a float64 module computes in float64",
    aspect="mode",
    points=0.5,
    needs=["test_parameters"],
)
def test_modes(submission, draw):
    state = parameters(draw, 12)
    module = module_with(submission, 3, state)
    x = draw.normal(batch=2, time=5, width=12)
    wanted = oracle(multi_head(3), x, x, *state.values())
    module.train()
    expect(module(x), "output after train()", axes="batch time width").close_to(wanted)
    module.eval()
    expect(module(x), "output after eval()", axes="batch time width").close_to(wanted)
    module.double()
    x, state = x.double(), {name: tensor.double() for name, tensor in state.items()}
    wanted = oracle(multi_head(3), x, x, *state.values())
    expect(module(x), "output after double()", axes="batch time width").close_to(wanted)


@check(
    "a width that the heads cannot share is a ValueError",
    aspect="errors",
    points=0.5,
    needs=["test_parameters"],
)
def test_indivisible(submission):
    for d_model, num_heads in ((10, 3), (4, 8)):
        with expect_raises("ValueError", what=f"{num_heads} heads cannot share {d_model} columns"):
            submission.MultiHeadAttention(d_model, num_heads)


@check(
    "attention is written from scratch",
    aspect="scratch",
    points=0.5,
    needs=["test_shapes", "test_parameters"],
)
def test_from_scratch(submission, draw):
    tensors = inputs(draw)
    submission.scaled_dot_product_attention(*tensors)
    submission.scaled_dot_product_attention(*tensors, draw.mask(query=4, key=6))
    module = submission.MultiHeadAttention(12, 3)
    module(draw.normal(batch=2, time=5, width=12), causal(draw, 5))
    expect_from_scratch(submission)
