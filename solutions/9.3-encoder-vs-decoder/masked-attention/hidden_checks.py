"""Hidden checks of 9.3.2: what is right only on the visible inputs fails here."""

from __future__ import annotations

import torch

from grader.checks import Part, check, expect, expect_gradients, fail, oracle

PROJECTIONS = ("w_q", "w_k", "w_v", "w_o")
AXES = "batch time width"


def attend(reference, mask=None):
    """Return the reference's attention under this mask, as an oracle takes it."""
    mask = None if mask is None else mask.cpu()
    return lambda query, key, value: reference.scaled_dot_product_attention(query, key, value, mask)


def call(submission, *arguments):
    result = submission.scaled_dot_product_attention(*arguments)
    return expect(result, "(output, weights)").is_tuple(2)


def compare(result, wanted, lead):
    (output, weights), (wanted_output, wanted_weights) = result, wanted
    expect(weights, "weights", axes=f"{lead} query key").close_to(wanted_weights)
    expect(output, "output", axes=f"{lead} query feature").close_to(wanted_output)


def random_state(draw, d_model):
    """Draw every weight and bias of a module of this width."""
    state = {}
    for name in PROJECTIONS:
        state[f"{name}.weight"] = draw.normal(out=d_model, width=d_model, scale=d_model**-0.5)
        state[f"{name}.bias"] = draw.normal(out=d_model)
    return state


def build(package, d_model, num_heads, state):
    """Build a module with these parameters; return it with those that it took.

    A bias that is not there counts as zero: its absence is another check's matter.
    """
    module = package.MultiHeadAttention(d_model, num_heads)
    own = module.state_dict()
    for name in PROJECTIONS:
        if f"{name}.weight" not in own:
            fail(f"no parameter  {name}.weight  it cannot be loaded", stage="names")
    module.load_state_dict({**own, **{name: tensor for name, tensor in state.items() if name in own}})
    return module, {
        name: tensor if name in own else torch.zeros_like(tensor) for name, tensor in state.items()
    }


def expected(reference, num_heads, state, mask, *tensors):
    """Run the reference module in float64 and in the inputs' dtype; x and perhaps the context follow."""
    d_model = state["w_q.bias"].shape[0]
    mask = None if mask is None else mask.cpu()

    def forward(state, x, context=None):
        module = reference.MultiHeadAttention(d_model, num_heads).to(x.dtype)
        module.load_state_dict(state)
        return module(x, mask=mask, context=context)

    return oracle(forward, state, *tensors)


HALF = [torch.bfloat16]


@check(
    "attention keeps its promises at every size, in every dtype, however it is called",
    aspect="values",
    points=4.5,
    asked=[
        "Both work for any sizes and any number of leading axes",
        "Results have the dtype of what was given, float64 and bfloat16 alike",
        "may attend to nothing gets zero weights and a zero output, and no NaN, here or in the gradient",
        "nothing is kept from one call to the next",
    ],
)
def test_attention_contract(submission, reference, draw):
    axes = ["batch head query feature", "batch head query key"]
    part = Part("scaled_dot_product_attention", outputs=["output", "weights"], axes=axes, dtypes=HALF)
    calls = []
    for batch, head, query, key in (draw.sizes(4, 2, 9), (1, 2, 6, 6), (1, 1, 1, 70), (2, 1, 5, 1)):
        width, feature = draw.sizes(2, 2, 9)
        tensors = {
            "query": draw.normal(batch=batch, head=head, query=query, width=width),
            "key": draw.normal(batch=batch, head=head, key=key, width=width),
            "value": draw.normal(batch=batch, head=head, key=key, feature=feature),
        }
        mask = draw.mask(keep=0.4, batch=batch, head=1, query=query, key=key)
        mask[:, :, draw.size(0, query - 1)] = query == 1  # of several queries one is blind
        calls += [tensors, {**tensors, "mask": mask}]
    part.expect(submission, reference, draw, calls)


@check(
    "a module keeps its promises for any lengths, masks and contexts, in every dtype, however it is called",
    aspect="masks",
    points=4.5,
    asked=[
        "Both work for any sizes and any number of leading axes",
        "bool [T, Tk], or broadcastable to [B, H, T, Tk]; Tk is the length of what is looked at.",
        "where keys and values come from; None means x itself.",
        "Results have the dtype of what was given, float64 and bfloat16 alike",
        "nothing is kept from one call to the next",
    ],
    stand_ins=["scaled_dot_product_attention"],
)
def test_module_contract(submission, reference, draw):
    part = Part("MultiHeadAttention", {"d_model": 8, "num_heads": 2}, axes=[AXES], dtypes=HALF)
    batch, time = draw.sizes(2, 3, 9)
    x, context = (draw.normal(batch=batch, time=size, width=8) for size in (time, time + 2))
    one, short = draw.normal(batch=1, time=1, width=8), draw.normal(batch=1, time=2, width=8)
    calls = [
        {"x": x, "mask": draw.mask(keep=0.5, query=time, key=time)},  # first: what is kept must be a mask
        {"x": x},
        {"x": x, "mask": draw.mask(keep=0.5, query=time, key=time), "context": context[:, :time]},
        {"x": x, "mask": draw.mask(batch=batch, head=2, query=1, key=time + 2), "context": context},
        {
            "x": context,
            "mask": draw.mask(keep=0.5, batch=batch, head=1, query=time + 2, key=time),
            "context": x,
        },
        {"x": one, "mask": None, "context": short},
        {"x": x, "mask": draw.mask(keep=0.5, head=2, query=time, key=time)},
    ]
    part.expect(submission, reference, draw, calls)


@check(
    "one leading axis or three work as two do", aspect="shape", points=2, asked="any number of leading axes"
)
def test_leading_axes(submission, reference, draw):
    query, key = draw.sizes(2, 2, 7)  # never as many as columns: what fits by chance says nothing
    for lead in ({"batch": 3}, {"group": 2, "batch": 3, "head": 4}):
        tensors = (
            draw.normal(**lead, query=query, width=8),
            draw.normal(**lead, key=key, width=8),
            draw.normal(**lead, key=key, feature=9),
        )
        for mask in (
            draw.mask(keep=0.5, query=query, key=key),
            draw.mask(keep=0.5, **{**lead, "batch": 1}, query=1, key=key),
            draw.mask(keep=0.5, **lead, query=query, key=key),
        ):
            compare(
                call(submission, *tensors, mask), oracle(attend(reference, mask), *tensors), " ".join(lead)
            )


@check(
    "any number of heads that divides the width works, down to one column each",
    aspect="values",
    points=4,
    asked=["Head h reads columns h·D/H up to (h+1)·D/H", "one head and as many as columns"],
    stand_ins=["scaled_dot_product_attention"],
)
def test_head_counts(submission, reference, draw):
    for d_model, num_heads in ((15, 5), (14, 7), (6, 6), (draw.size(2, 9) * 3, 3)):
        batch, time = draw.sizes(2, 2, 9)
        state = random_state(draw, d_model)
        x = draw.normal(batch=batch, time=time, width=d_model)
        module, state = build(submission, d_model, num_heads, state)
        y = module(x)
        wanted = expected(reference, num_heads, state, None, x)
        expect(y, f"output of {num_heads} heads over {d_model} columns", axes=AXES).close_to(wanted)


@check(
    "a sequence of padding only leaves no NaN in the module, forward or backward",
    aspect="gradient",
    points=4,
    asked=[
        "may attend to nothing gets zero weights and a zero output, and no NaN, here or in the gradient",
        "gradients reach all that was given, and all four projections",
    ],
    stand_ins=["scaled_dot_product_attention"],
)
def test_padding_only(submission, reference, draw):
    batch, time = draw.sizes(
        2, 4, 7
    )  # never as long as there are heads: what exchanges them has no right shape
    state = random_state(draw, 9)
    mask = draw.mask(keep=0.6, batch=batch, head=1, query=1, key=time)
    mask[draw.size(0, batch - 1)] = False
    module, state = build(submission, 9, 3, state)
    x = draw.normal(batch=batch, time=time, width=9, requires_grad=True)
    y = module(x, mask)
    expect(y, "output", axes=AXES).close_to(expected(reference, 3, state, mask, x))

    trusted, _ = build(reference, 9, 3, state)
    expect_gradients(y, {"x": x}, draw, oracle=lambda x: trusted.to(x.dtype)(x, mask.cpu()))


@check(
    "hundreds of positions and many heads are served as a few are",
    aspect="values",
    asked=["Both work for any sizes and any number of leading axes", "one position and hundreds"],
)
def test_long(submission, reference, draw):
    query, key = draw.size(300, 420), draw.size(520, 640)
    tensors = (
        draw.normal(batch=1, head=2, query=query, width=9),
        draw.normal(batch=1, head=2, key=key, width=9),
        draw.normal(batch=1, head=2, key=key, feature=5),
    )
    mask = draw.mask(keep=0.5, query=query, key=key)
    compare(call(submission, *tensors, mask), oracle(attend(reference, mask), *tensors), "batch head")
    heads, time = draw.size(17, 24), draw.size(260, 300)
    module, state = build(submission, 3 * heads, heads, random_state(draw, 3 * heads))
    x = draw.normal(batch=1, time=time, width=3 * heads)
    mask = draw.mask(keep=0.5, query=time, key=time)
    y = module(x, mask)
    expect(y, f"output of {heads} heads", axes=AXES).close_to(expected(reference, heads, state, mask, x))
