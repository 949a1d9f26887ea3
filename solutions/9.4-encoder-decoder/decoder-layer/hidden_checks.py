"""Hidden checks of 9.4.1: what is right only on the visible inputs fails here."""

from __future__ import annotations

import torch

from grader.checks import check, expect, expect_gradients, oracle

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
    """Build the submission's module and an oracle (state, x, memory, …) -> output, with the same random parameters."""
    module = getattr(submission, name)(*arguments, **options)
    state = random_state(draw, getattr(reference, name)(*arguments, **options))
    module.load_state_dict(state, strict=False)

    def forward(state, x, *rest):
        trusted = getattr(reference, name)(*arguments, **options).to(x.dtype).eval()
        return torch.func.functional_call(trusted, state, (x, *rest))

    return module, state, forward


def sequences(draw, batch, time, source, width, **options):
    x = draw.normal(batch=batch, time=time, width=width, **options)
    return x, draw.normal(batch=batch, source=source, width=width, scale=2.0, shift=0.5, **options)


@check(
    "a layer is right for any sizes, masks and numbers of heads",
    aspect="values",
    points=2.5,
    asked=["Layer and decoder work for any sizes", "bool [T, S], or broadcastable to [B, H, T, S]."],
)
def test_any_size(submission, reference, draw):
    for num_heads, options in (
        (1, {}),
        (4, {"activation": "gelu"}),
        (2, {"norm_first": False, "activation": "swiglu"}),
        (3, {"norm_first": False}),
    ):
        batch, time, source, d_ff, times = draw.sizes(5, 2, 9)
        width = num_heads * times
        arguments = (width, num_heads, d_ff)
        module, state, forward = pair(submission, reference, draw, "DecoderLayer", *arguments, **options)
        x, memory = sequences(draw, batch, time, source, width)
        masks = (
            draw.mask(keep=0.5, batch=batch, head=1, query=time, key=time),
            draw.mask(keep=0.5, batch=batch, head=num_heads, query=time, key=source),
        )
        for rest in ((memory,), (memory, *masks)):
            expect(module(x, *rest), "output", axes=AXES).close_to(oracle(forward, state, x, *rest))


@check(
    "arguments may be given by position and by name",
    aspect="arguments",
    points=1.5,
    asked="forward(x, memory, self_mask=None, memory_mask=None)",
)
def test_ways_to_call(submission, reference, draw):
    x, memory = sequences(draw, 2, 4, 4, 8)
    own, over = draw.mask(query=4, key=4), draw.mask(keep=0.4, query=4, key=4)
    for name, arguments in (
        ("DecoderLayer", (8, 2, 14, 0.5, False, "gelu")),
        ("Decoder", (2, 8, 2, 14, 0.5, False, "swiglu")),
    ):
        module, state, forward = pair(submission, reference, draw, name, *arguments)
        module.eval()
        wanted = oracle(forward, state, x, memory, own, over)
        expect(module(x, memory, own, over), f"output of {name}", axes=AXES).close_to(wanted)
        named = module(memory=memory, memory_mask=over, x=x, self_mask=own)
        expect(named, f"output of {name}", axes=AXES).close_to(wanted)


@check(
    "a decoder of any depth is right, and serves any lengths",
    aspect="values",
    points=2,
    asked=["xᵢ = layerᵢ(xᵢ₋₁, memory, self_mask, memory_mask)", "Layer and decoder work for any sizes"],
)
def test_any_depth(submission, reference, draw):
    for norm_first in (True, False):
        depth = draw.size(2, 5)
        module, state, forward = pair(
            submission, reference, draw, "Decoder", depth, 10, 5, 7, norm_first=norm_first, dropout=0.2
        )
        module.eval()
        first, second = draw.sizes(2, 1, 9), draw.sizes(2, 1, 9)
        for time, source in (first, second, first):  # the last as long as the first, with other numbers
            x, memory = sequences(draw, 2, time, source, 10)
            over = draw.mask(keep=0.6, batch=2, head=5, query=time, key=source)
            rest = (memory, draw.mask(keep=0.6, query=time, key=time), over)
            name = f"output of {depth} layers"
            expect(module(x, *rest), name, axes=AXES).close_to(oracle(forward, state, x, *rest))


@check(
    "the memory gets its gradient from every layer that looked at it",
    aspect="gradient",
    points=1.5,
    asked="Gradients reach x, the memory and every parameter.",
)
def test_memory_gradient(submission, reference, draw):
    for norm_first in (True, False):
        module, state, forward = pair(
            submission, reference, draw, "Decoder", 3, 6, 3, 9, norm_first=norm_first, activation="gelu"
        )
        x, memory = sequences(draw, 2, 4, 5, 6, requires_grad=True)

        def right(x, memory, state=state, forward=forward):
            return forward({name: tensor.cpu().to(x.dtype) for name, tensor in state.items()}, x, memory)

        expect_gradients(module(x, memory), {"x": x, "memory": memory}, draw, oracle=right)


@check(
    "hundreds of positions are served as a few are",
    aspect="values",
    points=1,
    asked="Layer and decoder work for any sizes",
)
def test_long(submission, reference, draw):
    time, source = draw.sizes(2, 150, 300)
    module, state, forward = pair(submission, reference, draw, "Decoder", 1, 6, 2, 9)
    x, memory = sequences(draw, 1, time, source, 6)
    rest = (memory, draw.mask(query=time, key=time), draw.mask(query=time, key=source))
    expect(module(x, *rest), f"output at {time} and {source} positions", axes=AXES).close_to(
        oracle(forward, state, x, *rest)
    )


@check(
    "each call has its own memory, its own masks and the parameters of now",
    aspect="masks",
    points=1.5,
    asked="nothing is kept from one call to the next",
)
def test_in_turns(submission, reference, draw):
    calls = []
    for _ in range(2):
        x, memory = sequences(draw, 2, 4, 5, 8)
        calls += [(x, memory), (x, memory, draw.mask(query=4, key=4), draw.mask(keep=0.4, query=4, key=5))]
    for name, arguments in (("DecoderLayer", (8, 2, 14)), ("Decoder", (2, 8, 2, 14))):
        built = [pair(submission, reference, draw, name, *arguments) for _ in range(2)]
        for given in (*calls, calls[1]):
            for module, state, forward in built:
                expect(module(*given), f"output of {name}", axes=AXES).close_to(
                    oracle(forward, state, *given)
                )
        (module, _, forward), (_, state, _) = built
        module.load_state_dict(state, strict=False)
        wanted = oracle(forward, state, *calls[0])
        expect(module(*calls[0]), f"output of {name}, loaded anew", axes=AXES).close_to(wanted)
