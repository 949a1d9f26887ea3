"""Hidden checks of 9.3.5: what is right only on the visible inputs fails here."""

from __future__ import annotations

import torch

from grader.checks import Part, check, expect, oracle

AXES = "batch time width"


def random_state(draw, trusted):
    """Draw every parameter of a module, as large as the reference's, norms around one."""
    state = {}
    for name, tensor in trusted.state_dict().items():
        if tensor.ndim == 2:
            height, width = tensor.shape
            state[name] = draw.normal(out=height, width=width, scale=width**-0.5)
        else:
            is_scale = "norm" in name and name.endswith("weight")
            state[name] = draw.normal(width=len(tensor), scale=0.5, shift=1.0 if is_scale else 0.0)
    return state


def pair(submission, reference, draw, name, *arguments, **options):
    """Build the submission's module and an oracle (state, x) -> output, with the same random parameters."""
    module = getattr(submission, name)(*arguments, **options)
    state = random_state(draw, getattr(reference, name)(*arguments, **options))
    module.load_state_dict(state, strict=False)

    def forward(state, x, mask=None):
        trusted = getattr(reference, name)(*arguments, **options).to(x.dtype).eval()
        return torch.func.functional_call(trusted, state, (x, mask))

    return module, state, forward


def calls_of(draw, d_model, num_heads, sizes):
    """Draw arguments: without a mask and under masks of several forms."""
    calls = []
    for batch, time in sizes:
        x = draw.normal(batch=batch, time=time, width=d_model)
        mask = draw.mask(keep=0.5, batch=batch, head=num_heads if time > 2 else 1, query=time, key=time)
        calls.append({"x": x, "mask": mask})
    return [*calls, {"x": x}]


@check(
    "a layer keeps its promises for any sizes, heads and options, however it is called",
    aspect="values",
    points=4.5,
    asked=[
        "Layer and encoder work for any sizes, one position and hundreds, and compute in their own dtype.",
        "bool [T, T], or broadcastable to [B, H, T, T]; None allows everything.",
        "Gradients reach x and every parameter.",
    ],
)
def test_layer_contract(submission, reference, draw):
    for num_heads, norm_first, activation, sizes in (
        (1, True, "relu", [(1, 3)]),
        (4, True, "gelu", [(3, 1), (4, 4)]),
        (3, False, "swiglu", [draw.sizes(2, 3, 7)]),
    ):
        d_ff, times = draw.sizes(2, 2, 7)
        width = 4 if num_heads == 4 else num_heads * times  # once all sizes are the same
        made = {"d_model": width, "num_heads": num_heads, "d_ff": d_ff, "dropout": 0.2}
        made |= {"norm_first": norm_first, "activation": activation}
        part = Part("EncoderLayer", made, ["output"], [AXES], [torch.float64, torch.bfloat16])
        part.expect(submission, reference, draw, calls_of(draw, made["d_model"], num_heads, sizes))


@check(
    "an encoder keeps its promises, from its end to its first layer, however it is called",
    aspect="gradient",
    points=4.5,
    asked=[
        "Layer and encoder work for any sizes, one position and hundreds, and compute in their own dtype.",
        "Gradients reach x and every parameter.",
        'norm_first=True, activation="relu"',
    ],
)
def test_encoder_contract(submission, reference, draw):
    for norm_first, sizes in ((True, [draw.sizes(2, 3, 7)]), (False, [(1, 3), (2, 1)])):
        made = {"num_layers": 2, "d_model": 6, "num_heads": 2, "d_ff": 9, "dropout": 0.2}
        made |= {"norm_first": norm_first, "activation": "gelu"}
        part = Part("Encoder", made, ["output"], [AXES], [torch.float64, torch.bfloat16])
        part.expect(submission, reference, draw, calls_of(draw, 6, 2, sizes))


@check(
    "an encoder of any depth is right, and serves any length",
    aspect="values",
    points=3,
    asked=["xᵢ = layerᵢ(xᵢ₋₁, M)", "Layer and encoder work for any sizes, one position and hundreds"],
)
def test_any_depth(submission, reference, draw):
    for norm_first in (True, False):
        depth = draw.size(2, 6)
        module, state, forward = pair(
            submission, reference, draw, "Encoder", depth, 10, 5, 7, norm_first=norm_first, dropout=0.2
        )
        module.eval()
        for time in draw.sizes(2, 1, 9):
            x = draw.noncontiguous(draw.normal(batch=2, time=time, width=10))
            mask = draw.mask(keep=0.6, batch=2, head=5, query=time, key=time)
            name = f"output of {depth} layers"
            expect(module(x, mask), name, axes=AXES).close_to(oracle(forward, state, x, mask))
            expect(module(x), name, axes=AXES).close_to(oracle(forward, state, x))


@check(
    "dropout reaches every layer of an encoder, and eval() ends it everywhere",
    aspect="mode",
    points=3,
    asked=[
        "how much of each sublayer's output is dropped before it is added; also what FeedForward drops.",
        "Options have to be handed on: from the layer to its feed-forward network, from the encoder to its layers.",
    ],
)
def test_encoder_dropout(submission, reference, draw):
    x = draw.normal(batch=2, time=5, width=8, scale=30.0)  # next to which no eps shows
    module, state, _ = pair(submission, reference, draw, "Encoder", 3, 8, 2, 13, dropout=0.99999999)
    module.train()
    weight, bias = state["norm.weight"], state["norm.bias"]
    wanted = oracle(lambda x, w, b: torch.nn.functional.layer_norm(x, (8,), w, b), x, weight, bias)
    expect(module(x), "norm(x), since all that is added is dropped", axes=AXES).close_to(wanted)

    module, _, _ = pair(submission, reference, draw, "Encoder", 3, 8, 2, 13, dropout=0.5)
    module.train()
    one, other = module(x), module(x)
    expect(one, "output in train mode", axes=AXES).is_tensor(shape=(2, 5, 8))
    expect(one, "output in train mode", axes=AXES).differs_from(other, why="each call drops other features")
    # Each feature by itself, and after each sublayer anew: where both drop it, x is as it was.
    layer, _, _ = pair(submission, reference, draw, "EncoderLayer", 16, 2, 13, dropout=0.5)
    layer.train()
    x16 = draw.normal(batch=12, time=12, width=16)
    kept = layer(x16).detach() == x16
    expect(float(kept.double().mean()), "share of x that a layer leaves as it is").is_between(0.15, 0.35)
    for axis, name in enumerate(("place in all rows", "feature at all positions", "position")):
        expect(bool(kept.all(dim=axis).any()), f"a {name} that a layer leaves as it is").is_value(False)
    module.eval()
    once, again = module(x), module(x)
    expect(once, "output after eval()", axes=AXES).same_as(again, name="the same call again")


@check(
    "hundreds of positions and a deep stack are served as a few are",
    aspect="values",
    asked="Layer and encoder work for any sizes, one position and hundreds",
)
def test_long(submission, reference, draw):
    time = draw.size(300, 420)
    for norm_first in (True, False):
        module, state, forward = pair(
            submission, reference, draw, "Encoder", 1, 6, 2, 9, norm_first=norm_first
        )
        x = draw.normal(batch=1, time=time, width=6)
        mask = draw.mask(keep=0.5, query=time, key=time)
        name = f"output at {time} positions"
        expect(module(x, mask), name, axes=AXES).close_to(oracle(forward, state, x, mask))
    depth = draw.size(13, 16)
    module, state, forward = pair(submission, reference, draw, "Encoder", depth, 6, 2, 9)
    x = draw.normal(batch=2, time=4, width=6)
    expect(module(x), f"output of {depth} layers", axes=AXES).close_to(oracle(forward, state, x))
