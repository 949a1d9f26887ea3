"""Hidden checks of 9.3.2: what is right only on the visible inputs fails here."""

from __future__ import annotations

import torch

from grader.checks import check, expect, expect_gradients, expect_unchanged, fail, oracle

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


@check(
    "attention is right for any sizes",
    aspect="values",
    points=4,
    asked=[
        "Both work for any sizes and any number of leading axes",
        "may attend to nothing gets zero weights and a zero output, and no NaN, here or in the gradient",
    ],
)
def test_any_size(submission, reference, draw):
    for _ in range(3):
        batch, head, query, key, width, feature = draw.sizes(6, 1, 17)
        tensors = (
            draw.normal(batch=batch, head=head, query=query, width=width),
            draw.normal(batch=batch, head=head, key=key, width=width),
            draw.normal(batch=batch, head=head, key=key, feature=feature),
        )
        compare(call(submission, *tensors), oracle(attend(reference), *tensors), "batch head")
        mask = draw.mask(keep=0.4, batch=batch, head=1, query=query, key=key)
        mask[:, :, draw.size(0, query - 1)] = False
        compare(call(submission, *tensors, mask), oracle(attend(reference, mask), *tensors), "batch head")
        expect_unchanged(submission)


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
    "one module serves sequences of any length, masked or not",
    aspect="masks",
    points=4,
    asked=[
        "Both work for any sizes and any number of leading axes",
        "bool [T, Tk], or broadcastable to [B, H, T, Tk]; Tk is the length of what is looked at.",
        "where keys and values come from; None means x itself.",
    ],
    stand_ins=["scaled_dot_product_attention"],
)
def test_module_is_reusable(submission, reference, draw):
    module, state = build(submission, 8, 2, random_state(draw, 8))
    # A context longer than x, one that is shorter, and one of any length.
    first, second, third = draw.sizes(3, 2, 12)
    lengths = ((first, first + draw.size(1, 4)), (second, draw.size(1, second - 1)), (third, draw.size(1, 6)))
    for time, key in lengths:
        batch = draw.size(1, 6)
        x = draw.noncontiguous(draw.normal(batch=batch, time=time, width=8))
        context = draw.normal(batch=batch, key=key, width=8)
        for mask in (
            None,
            draw.mask(keep=0.5, query=time, key=time),
            draw.mask(batch=batch, head=2, query=1, key=time),
        ):
            expect(module(x, mask), "output", axes=AXES).close_to(expected(reference, 2, state, mask, x))
        mask = draw.mask(keep=0.5, query=time, key=key)
        wanted = expected(reference, 2, state, mask, x, context)
        expect(module(x, mask, context), "output with a context", axes=AXES).close_to(wanted)


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
    points=1,
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


@check(
    "each call obeys its own mask and its own module, whatever came before",
    aspect="masks",
    points=1,
    asked=[
        "A result depends on the arguments of its own call and on the module's own weights",
        "nothing is kept from one call to the next",
    ],
)
def test_in_turns(submission, reference, draw):
    tensors = (
        draw.normal(batch=2, head=3, query=4, width=5),
        draw.normal(batch=2, head=3, key=6, width=5),
        draw.normal(batch=2, head=3, key=6, feature=7),
    )
    masks = [draw.mask(keep=0.5, query=4, key=6) for _ in range(2)]
    for mask in (masks[0], masks[1], None, masks[0]):
        arguments = tensors if mask is None else (*tensors, mask)
        wanted = oracle(attend(reference, mask), *tensors)
        compare(call(submission, *arguments), wanted, "batch head")
    x, context = draw.normal(batch=2, time=4, width=12), draw.normal(batch=2, key=6, width=12)
    built = [(heads, *build(submission, 12, heads, random_state(draw, 12))) for heads in (2, 3)]
    for mask, source in ((masks[0], context), (None, None), (masks[1], context), (None, context)):
        for heads, module, state in built:
            given = (x,) if source is None else (x, source)
            wanted = expected(reference, heads, state, mask, *given)
            expect(module(x, mask, source), f"output of {heads} heads", axes=AXES).close_to(wanted)
