"""Hidden checks of 9.3.5: what is right only on the visible inputs fails here."""

from __future__ import annotations

import functools

import torch

from grader.checks import check, expect, expect_gradients, oracle, oracle_gradients

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


@check(
    "a layer is right for any sizes and numbers of heads",
    aspect="values",
    points=3,
    asked=[
        "Layer and encoder work for any sizes, one position and hundreds",
        "bool [T, T], or broadcastable to [B, H, T, T]; None allows everything.",
    ],
)
def test_any_size(submission, reference, draw):
    for num_heads, options in (
        (1, {}),
        (4, {"activation": "gelu"}),
        (2, {"norm_first": False, "activation": "swiglu"}),
        (3, {"norm_first": False}),
    ):
        batch, time, d_ff, times = draw.sizes(4, 2, 9)
        d_model = num_heads * times
        module, state, forward = pair(
            submission, reference, draw, "EncoderLayer", d_model, num_heads, d_ff, **options
        )
        x = draw.normal(batch=batch, time=time, width=d_model)
        mask = draw.mask(keep=0.5, batch=batch, head=1, query=time, key=time)
        expect(module(x), "output", axes=AXES).close_to(oracle(forward, state, x))
        expect(module(x, mask), "output under a mask", axes=AXES).close_to(oracle(forward, state, x, mask))


@check(
    "arguments may be given by position, in the order of the signature",
    aspect="arguments",
    points=2,
    asked=['norm_first=True, activation="relu"'],
)
def test_positional_arguments(submission, reference, draw):
    x, mask = draw.normal(batch=3, time=4, width=8), draw.mask(query=4, key=4)
    for name, arguments in (
        ("EncoderLayer", (8, 2, 14, 0.5, False, "gelu")),
        ("Encoder", (2, 8, 2, 14, 0.5, False, "swiglu")),
    ):
        module, state, forward = pair(submission, reference, draw, name, *arguments)
        module.eval()
        expect(module(x, mask), f"output of {name}", axes=AXES).close_to(oracle(forward, state, x, mask))


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
    "gradients find their way from the end of an encoder to its first layer",
    aspect="gradient",
    points=3,
    asked="Gradients reach x and every parameter.",
)
def test_encoder_gradients(submission, reference, draw):
    for norm_first in (True, False):
        module, state, forward = pair(
            submission, reference, draw, "Encoder", 3, 9, 3, 14, norm_first=norm_first, activation="gelu"
        )
        x = draw.normal(batch=2, time=5, width=9, requires_grad=True)
        mask = draw.mask(keep=0.6, batch=2, head=1, query=1, key=5)

        def of_x(x, state=state, forward=forward, mask=mask):
            return forward({name: t.cpu().to(x.dtype) for name, t in state.items()}, x, mask.cpu())

        y = module(x, mask)
        expect_gradients(y, {"x": x}, draw, oracle=of_x)
        y = module(x, mask)
        names = [
            f"layers.{index}.{part}.weight" for index in (0, 2) for part in ("norm1", "feed_forward.linear1")
        ]
        tensors = {name: state[name] for name in names}

        def of_weights(*tensors, names=names, state=state, forward=forward, mask=mask, x=x):
            dtype = tensors[0].dtype
            rest = {name: t.cpu().to(dtype) for name, t in state.items()}
            return forward(
                {**rest, **dict(zip(names, tensors, strict=True))}, x.detach().cpu().to(dtype), mask.cpu()
            )

        before = {name: functools.reduce(getattr, name.split("."), module).grad for name in names}
        cotangent = draw.like(y)
        (y * cotangent).sum().backward()
        wanted = oracle_gradients(of_weights, tensors, cotangent)
        for name in names:
            gradient = functools.reduce(getattr, name.split("."), module).grad
            expect(gradient, f"{name}.grad").is_tensor(shape=tuple(state[name].shape))
            if before[name] is not None:
                gradient = gradient - before[name]  # gradients of parameters add up
            expect(gradient, f"{name}.grad").close_to(wanted[name])


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
    module.eval()
    once, again = module(x), module(x)
    expect(once, "output after eval()", axes=AXES).same_as(again, name="the same call again")


@check(
    "hundreds of positions and a deep stack are served as a few are",
    aspect="values",
    points=1,
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


@check(
    "each call obeys its own mask and the parameters of now, whatever came before",
    aspect="masks",
    points=1,
    asked=[
        "a result depends on x, the mask of this very call and the parameters as they are now",
        "nothing is kept from one call to the next",
    ],
)
def test_in_turns(submission, reference, draw):
    x = draw.normal(batch=2, time=5, width=8)
    masks = [draw.mask(keep=0.5, batch=2, head=1, query=5, key=5) for _ in range(2)]
    for name, arguments in (("EncoderLayer", (8, 2, 14)), ("Encoder", (2, 8, 2, 14))):
        built = [pair(submission, reference, draw, name, *arguments) for _ in range(2)]
        for mask in (masks[0], masks[1], None, masks[0]):
            for module, state, forward in built:
                given = (x,) if mask is None else (x, mask)
                expect(module(*given), f"output of {name}", axes=AXES).close_to(
                    oracle(forward, state, *given)
                )
        (module, _, forward), (_, state, _) = built
        module.load_state_dict(state, strict=False)
        expect(module(x), f"output of {name}, loaded anew", axes=AXES).close_to(oracle(forward, state, x))
