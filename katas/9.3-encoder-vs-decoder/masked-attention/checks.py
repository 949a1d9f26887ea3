"""Checks of 9.3.2. Expected values come from the few lines of torch in `attend`, computed in float64."""

from __future__ import annotations

import math

import torch
from torch.nn.functional import linear

from grader.checks import (
    Part,
    check,
    expect,
    expect_from_scratch,
    expect_raises,
    expect_unchanged,
    fail,
    only_if,
    oracle,
    precondition,
    stand_in,
    supposing,
    with_axes,
)

OUTPUT, WEIGHTS = "batch head query feature", "batch head query key"
KEY = "batch head key width"
AXES = "batch time width"
PROJECTIONS = ("w_q", "w_k", "w_v", "w_o")
INVERTED = "your attention forbids what the mask allows; True should mean that the query may look"


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


@stand_in("scaled_dot_product_attention")
def right_attention(query, key, value, mask=None):
    return attend(mask)(query, key, value)


def multi_head(num_heads, mask=None):
    """Return the right (state, x, context) -> output; a bias that is not there counts as zero."""

    def module(state, x, context=None):
        def project(name, x):
            return linear(x, state[f"{name}.weight"], state.get(f"{name}.bias"))

        source = x if context is None else context
        projected = project("w_q", x), project("w_k", source), project("w_v", source)
        heads = (tensor.unflatten(-1, (num_heads, -1)).transpose(1, 2) for tensor in projected)
        output, _ = attend(mask)(*heads)
        return project("w_o", output.transpose(1, 2).flatten(2))

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


def compare(result, wanted, mask=None, scores=0.0):
    """Compare weights first: when they are wrong, the output can't be right."""
    output = expect(result[0], "output", axes=OUTPUT)
    weights = expect(result[1], "weights", axes=WEIGHTS, picture="attention")
    wanted_output, wanted_weights = wanted
    weights.close_to(wanted_weights, scores=scores)
    if mask is not None:
        weights.is_zero_where(~mask)
    output.close_to(wanted_output, scores=scores)


def parameters(draw, d_model):
    """Draw all weights and biases."""
    state = {}
    for name in PROJECTIONS:
        state[f"{name}.weight"] = draw.normal(out=d_model, width=d_model, scale=d_model**-0.5)
        state[f"{name}.bias"] = draw.normal(out=d_model)
    return state


def module_with(submission, num_heads, state):
    """Build the module, load these parameters, and return it with those that it now computes with."""
    module = submission.MultiHeadAttention(state["w_q.weight"].shape[0], num_heads)
    own = module.state_dict()
    for name in PROJECTIONS:
        if f"{name}.weight" not in own:
            fail(f"no parameter  {name}.weight  it cannot be loaded", stage="names")
    taken = {name: tensor for name, tensor in state.items() if name in own}
    module.load_state_dict({**own, **taken})
    return module, taken


def causal(draw, seq_len):
    return torch.ones(seq_len, seq_len, dtype=torch.bool, device=draw.device).tril()


# --- scaled_dot_product_attention ---


@check(aspect="shape", points=2)
def test_shapes(submission, draw):
    """the output is [.., Tq, dv] and the weights are [.., Tq, Tk]

    > (output [.., Tq, dv], weights [.., Tq, Tk])
    > Both work for any sizes and any number of leading axes
    """
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


@check(aspect="values", follows=test_shapes)
def test_weights_sum_to_one(submission, draw):
    """each query's weights sum to one over the keys

    > Each row of weights sums to one
    """
    query, key, value = inputs(draw)
    _, weights = call(submission, query, key, value)
    expect(weights, "weights", axes=WEIGHTS).is_tensor(shape=(2, 3, 4, 6)).sums_to(1.0, "key")


@check(aspect="values", points=3, follows=test_shapes)
def test_values(submission, draw):
    """without a mask the weights are softmax(q·k / √d) and the output is their average of the values

    > scores [.., Tq, Tk]: every query times every key, divided by the root of d.
    > softmax over the keys.
    """
    for keys in (6, 66):
        tensors = inputs(draw, key=keys)
        compare(call(submission, *tensors), oracle(attend(), *tensors))


@check(aspect="masks", points=3, follows=test_shapes)
def test_mask_values(submission, draw):
    """a forbidden key gets no weight, and the allowed ones share all of it

    > where the mask forbids, make the score -inf, so that the softmax gives it nothing.
    > Each row of weights sums to one
    """
    tensors = inputs(draw, key=7)
    mask = draw.mask(keep=0.5, batch=2, head=3, query=4, key=7)
    result = call(submission, *tensors, mask)
    # However a row is treated of which nothing, or all, is allowed.
    with supposing({INVERTED: lambda: ((result[1] > 0) != mask).all()}):
        compare(result, oracle(attend(mask), *tensors), mask)


@check(aspect="masks", points=2, follows=test_mask_values)
def test_mask_shapes(submission, draw):
    """a mask may have any shape that broadcasts to [.., Tq, Tk]

    > bool, broadcastable to [.., Tq, Tk], True where attention is allowed; None allows everything.
    """
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


@check(aspect="masks", points=3, needs=test_weights_sum_to_one)
def test_fully_masked(submission, draw):
    """a query that may attend to nothing gets zero weights and a zero output, not NaN

    > may attend to nothing gets zero weights and a zero output, and no NaN, here or in the gradient
    """
    tensors = inputs(draw)
    some_queries = draw.mask(keep=0.6, batch=2, head=1, query=4, key=6)
    some_queries[0, 0, 2] = False
    some_queries[1, 0, 0] = False
    whole_sequence = draw.mask(keep=0.6, batch=2, head=1, query=1, key=6)
    whole_sequence[1] = False
    for mask in (some_queries, whole_sequence):
        output, weights = call(submission, *tensors, mask)
        blind = ~mask.any(dim=-1, keepdim=True).expand(2, 3, 4, 1)
        weights = expect(weights, "weights", axes=WEIGHTS, picture="attention").is_tensor(shape=(2, 3, 4, 6))
        output = expect(output, "output", axes=OUTPUT).is_tensor(shape=(2, 3, 4, 7))
        weights.is_finite().is_zero_where(blind)
        output.is_finite().is_zero_where(blind)


ATTENTION = Part(
    "scaled_dot_product_attention",
    outputs=["output", "weights"],
    axes=[OUTPUT, WEIGHTS],
    dtypes=[torch.bfloat16],
    gradients=False,
)


def given(draw):
    """Draw what `ATTENTION` is called with."""
    mask = draw.mask(keep=0.6, batch=2, head=1, query=4, key=6)
    mask[..., 0] = True  # a query that sees nothing is another check's matter
    return dict(zip(("query", "key", "value"), inputs(draw), strict=True)) | {"mask": mask}


@check(aspect="gradient", points=2, follows=test_mask_values)
def test_gradients(submission, draw):
    """gradients reach query, key and value through the output and through the weights

    > gradients reach all that was given, and all four projections
    """
    ATTENTION.expect_gradients(submission, right_attention, draw, [given(draw)])


@check(aspect="gradient", points=2, follows=test_fully_masked)
def test_fully_masked_gradients(submission, draw):
    """a query that may attend to nothing has a zero gradient, and puts NaN into no other

    > may attend to nothing gets zero weights and a zero output, and no NaN, here or in the gradient
    """
    blind = given(draw)
    blind["mask"][0, 0, 1] = False
    blind["mask"][1] = False
    ATTENTION.expect_gradients(submission, right_attention, draw, [blind])


def large(draw, **spread):
    """Draw query, key and value whose scores are in the ten thousands."""
    query = draw.normal(batch=2, head=3, query=5, width=8, **spread)
    key = draw.normal(batch=2, head=3, key=7, width=8, **spread)
    return query, key, draw.normal(batch=2, head=3, key=7, feature=6)


def large_and_apart(draw):
    """Draw such that each query has one key whose score is far above the others, however scores are scaled."""
    while True:
        query, key, value = large(draw, scale=100.0)
        best = (query @ key.transpose(-2, -1)).topk(2).values
        if float((best[..., 0] - best[..., 1]).min()) > 300:
            return query, key, value


@check(aspect="stability", follows=test_shapes)
def test_large_scores(submission, draw):
    """scores in the ten thousands do not overflow

    > exp(89) is beyond float32; torch's softmax subtracts each row's maximum first
    """

    def compare_scores(tensors):
        compare(call(submission, *tensors), oracle(attend(), *tensors), scores=40_000)

    with only_if("ordinary scores must give the right weights", lambda: compare_scores(large(draw))):
        compare_scores(large_and_apart(draw))


@check(aspect="stability", follows=test_mask_values)
def test_large_forbidden_scores(submission, draw):
    """a forbidden key stays out however large its score is

    > -10000 for -∞: a large enough score overtakes it.
    """
    query, key, value = large(draw, scale=8.0, shift=80.0)
    mask = draw.mask(keep=0.5, query=1, key=7)
    # Every allowed score is now about -20,000, every forbidden one about 20,000.
    key = with_axes(torch.where(mask.mT, -key, key), *KEY.split())
    output, weights = call(submission, query, key, value, mask)
    weights = expect(weights, "weights", axes=WEIGHTS, picture="attention").is_tensor(shape=(2, 3, 5, 7))
    weights.is_finite().is_zero_where(~mask.expand(2, 3, 5, 7)).sums_to(1.0, "key", scores=20_000)
    expect(output, "output", axes=OUTPUT).is_finite()


@check(aspect="arguments", points=2, follows=[test_values, test_mask_values, test_mask_shapes])
def test_attention_promises(submission, draw):
    """however attention is called, its result is that of these arguments, in their dtype, and leaves them as they were

    > Arguments are left as they were and need not be contiguous in memory.
    > All may be given by position or by name.
    > returns the dtype of its inputs, float64 and bfloat16 alike
    > Nothing is kept from one call to the next.
    """
    call = given(draw)
    unmasked = {name: tensor for name, tensor in call.items() if name != "mask"}
    ATTENTION.expect(submission, right_attention, draw, [unmasked, call])


# --- MultiHeadAttention ---


@check(aspect="parameters")
def test_parameters(submission):
    """the parameters are w_q, w_k, w_v and w_o, each [D, D] with a bias

    > w_q, w_k, w_v, w_o: nn.Linear(D, D), the only parameters.
    """
    module = submission.MultiHeadAttention(12, 3)
    wanted = {f"{name}.weight": [12, 12] for name in PROJECTIONS} | {
        f"{name}.bias": [12] for name in PROJECTIONS
    }
    found = {name: list(tensor.shape) for name, tensor in module.named_parameters()}
    expect(found, "parameters").has_names(wanted)
    for name, shape in wanted.items():
        expect(found[name], f"shape of {name}").is_value(shape)


@check(aspect="parameters", follows=test_parameters)
def test_without_bias(submission):
    """with bias=False no projection has a bias

    > whether the four projections have a bias.
    """
    module = submission.MultiHeadAttention(12, 3, bias=False)
    found = [name for name, _ in module.named_parameters()]
    expect(found, "parameters").has_names(f"{name}.weight" for name in PROJECTIONS)


@check(aspect="values", points=4, follows=test_parameters, stand_ins=["scaled_dot_product_attention"])
def test_module_values(submission, draw):
    """head h attends with columns h·D/H to (h+1)·D/H, scaled by its own width

    > Head h reads columns h·D/H up to (h+1)·D/H
    > The heads divide by √(D/H), not by √D
    """
    state = parameters(draw, 12)
    for num_heads, batch, time in ((3, 2, 5), (1, 2, 5), (4, 1, 1), (3, 1, 66)):
        x = draw.normal(batch=batch, time=time, width=12)
        module, taken = module_with(submission, num_heads, state)
        expect(module(x), "output", axes=AXES).close_to(oracle(multi_head(num_heads), taken, x))


@check(aspect="masks", points=2, follows=test_module_values, stand_ins=["scaled_dot_product_attention"])
def test_module_masks(submission, draw):
    """the module obeys masks of [T, T], [B, 1, 1, T] and [B, H, T, T]

    > bool [T, Tk], or broadcastable to [B, H, T, Tk]; Tk is the length of what is looked at.
    """
    module, state = module_with(submission, 3, parameters(draw, 12))
    x = draw.normal(batch=2, time=5, width=12)
    late = draw.mask(keep=0.6, batch=2, head=1, query=1, key=5)
    late[1, ..., 0] = False  # under a causal mask this leaves the first query with nothing
    for mask in (
        causal(draw, 5),
        draw.mask(keep=0.6, batch=2, head=1, query=1, key=5),
        draw.mask(keep=0.6, batch=2, head=3, query=5, key=5),
        causal(draw, 5) & late,
    ):
        y = module(x, mask)
        expect_unchanged(submission)
        wanted = oracle(multi_head(3, mask), state, x)
        expect(y, "output", axes=AXES).close_to(wanted)


@check(aspect="values", points=2, follows=test_module_values, stand_ins=["scaled_dot_product_attention"])
def test_context(submission, draw):
    """keys and values come from the context when there is one

    > where keys and values come from; None means x itself.
    """
    module, state = module_with(submission, 3, parameters(draw, 12))
    x = draw.normal(batch=2, time=5, width=12)
    for length in (5, 7, 3):  # as long as x, longer, shorter
        context = draw.normal(batch=2, key=length, width=12)
        y = module(x, context=context)
        expect_unchanged(submission)
        wanted = oracle(multi_head(3), state, x, context)
        expect(y, "output", axes=AXES).close_to(wanted)


@check(aspect="masks", follows=[test_context, test_module_masks], stand_ins=["scaled_dot_product_attention"])
def test_context_masks(submission, draw):
    """a mask over the context hides positions of the context

    > bool [T, Tk], or broadcastable to [B, H, T, Tk]; Tk is the length of what is looked at.
    """
    module, state = module_with(submission, 3, parameters(draw, 12))
    x, context = draw.normal(batch=2, time=5, width=12), draw.normal(batch=2, key=7, width=12)
    for mask in (
        draw.mask(keep=0.6, batch=2, head=1, query=1, key=7),
        draw.mask(keep=0.6, query=5, key=7),
    ):
        wanted = oracle(multi_head(3, mask), state, x, context)
        expect(module(x, mask, context), "output", axes=AXES).close_to(wanted)


MODULE = Part(
    "MultiHeadAttention",
    {"d_model": 12, "num_heads": 3},
    axes=[AXES],
    dtypes=[torch.bfloat16],
    gradients=False,
)


def right_module(state, x, mask, context):
    return multi_head(3, mask)(state, x, context)


def module_call(draw):
    """Draw what `MODULE` is called with."""
    mask = draw.mask(keep=0.6, batch=2, head=1, query=1, key=7)
    mask[..., 0] = True
    x, context = draw.normal(batch=2, time=5, width=12), draw.normal(batch=2, key=7, width=12)
    return {"x": x, "mask": mask, "context": context}


@check(aspect="gradient", follows=test_context, stand_ins=["scaled_dot_product_attention"])
def test_module_gradients(submission, draw):
    """gradients reach all four projections, x and the context

    > gradients reach all that was given, and all four projections
    """
    MODULE.expect_gradients(submission, right_module, draw, [module_call(draw)])


@check(aspect="arguments", points=2, follows=test_context_masks, stand_ins=["scaled_dot_product_attention"])
def test_module_promises(submission, draw):
    """however the module is called, its result is that of these arguments and parameters, in their dtype

    > Arguments are left as they were and need not be contiguous in memory.
    > All may be given by position or by name.
    > returns the dtype of its inputs, float64 and bfloat16 alike
    > Nothing is kept from one call to the next.
    """
    MODULE.expect(submission, right_module, draw, [module_call(draw)])


@check(aspect="causality", follows=test_parameters, stand_ins=["scaled_dot_product_attention"])
def test_causality(submission, draw):
    """under a causal mask later positions cannot change earlier outputs

    > where the mask forbids, make the score -inf, so that the softmax gives it nothing.
    """
    module, _ = module_with(submission, 3, parameters(draw, 12))
    x = draw.normal(batch=2, time=6, width=12)
    changed = x.clone()
    changed[:, 4:] = draw.normal(batch=2, time=2, width=12)
    mask = causal(draw, 6)
    before, after = module(x, mask), module(with_axes(changed, "batch", "time", "width"), mask)
    with precondition("the module must read x"):
        for y in (before, after):
            expect(y, "output", axes=AXES).is_tensor(shape=(2, 6, 12))
        late = expect(after[:, 4:], "output at positions 4 and 5", axes=AXES)
        late.differs_from(before[:, 4:], why="x was changed at these positions")
    early = expect(after[:, :4], "output at positions 0 to 3", axes=AXES)
    early.same_as(
        before[:, :4], name="the output for another future", why="only positions 4 and 5 were changed"
    )


@check(aspect="mode", follows=test_parameters, stand_ins=["scaled_dot_product_attention"])
def test_modes(submission, draw):
    """train() and eval() agree, and a float64 module computes in float64

    > the same call returns the same result
    > returns the dtype of its inputs, float64 and bfloat16 alike
    """
    module, _ = module_with(submission, 3, parameters(draw, 12))
    x = draw.normal(batch=2, time=5, width=12)
    module.train()
    with precondition("the module must give [B, T, D]"):
        trained = expect(module(x), "output", axes=AXES).is_tensor(shape=(2, 5, 12)).actual
    module.eval()
    expect(module(x), "output in eval mode", axes=AXES).same_as(trained, name="the one in train mode")
    module.double()
    y = module(x.double())
    expect(y, "output after double()", axes=AXES).is_tensor(shape=(2, 5, 12), dtype=torch.float64)


@check(aspect="errors", follows=test_parameters)
def test_indivisible(submission):
    """a width that the heads cannot share raises ValueError

    > H; ValueError when it does not divide d_model.
    """
    for d_model, num_heads in ((10, 3), (4, 8)):
        with expect_raises("ValueError", what=f"{num_heads} heads cannot share {d_model} columns"):
            submission.MultiHeadAttention(d_model, num_heads)


@check(aspect="scratch", follows=[test_shapes, test_parameters])
def test_from_scratch(submission, draw):
    """attention is written from scratch

    > torch's own attention operators are what you are building
    """
    tensors = inputs(draw)
    with precondition("function and module must return something"):
        submission.scaled_dot_product_attention(*tensors)
        submission.scaled_dot_product_attention(*tensors, draw.mask(query=4, key=6))
        module = submission.MultiHeadAttention(12, 3)
        module(draw.normal(batch=2, time=5, width=12), causal(draw, 5))
    expect_from_scratch(submission)
