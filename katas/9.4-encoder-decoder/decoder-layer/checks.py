"""Checks of 9.4.1. Expected values of a layer come from `layer`, torch's own operators computed in float64.

A decoder is compared with its own layers, one after the other: what is wrong in a layer costs points there, and not
once more in the stack.
"""

from __future__ import annotations

import torch
from torch.nn import functional as F

from grader.checks import (
    Part,
    check,
    expect,
    expect_from_scratch,
    fail,
    oracle,
    precondition,
    supposing,
    with_axes,
)

AXES = "batch time width"
D, H, FF = 8, 2, 11
NEARLY_ALL = 0.99999999
"""A dropout that leaves nothing of a few hundred values; 1.0 would be 0/0 in a dropout written by hand."""
PROJECTIONS = ("w_q", "w_k", "w_v", "w_o")
ATTENTIONS = ("self_attention", "cross_attention")
SILENT = {
    "self_attention": "self_attention.w_o",
    "cross_attention": "cross_attention.w_o",
    "feed_forward": "feed_forward.linear2",
}


# --- the oracle: a decoder layer in torch's own operators ---


def norm(x, state, name):
    return F.layer_norm(x, x.shape[-1:], state[f"{name}.weight"], state[f"{name}.bias"])


def linear(x, state, name):
    return F.linear(x, state[f"{name}.weight"], state[f"{name}.bias"])


def attend(x, source, mask, state, part):
    q, k, v = (
        linear(of, state, f"{part}.{name}").unflatten(-1, (H, -1)).transpose(1, 2)
        for of, name in ((x, "w_q"), (source, "w_k"), (source, "w_v"))
    )
    heads = F.scaled_dot_product_attention(q, k, v, mask)
    return linear(heads.transpose(1, 2).flatten(2), state, f"{part}.w_o")


def feed(x, state, activation="relu"):
    hidden = linear(x, state, "feed_forward.linear1")
    if activation == "swiglu":
        hidden = F.silu(linear(x, state, "feed_forward.gate")) * hidden
    else:
        hidden = {"relu": F.relu, "gelu": F.gelu}[activation](hidden)
    return linear(hidden, state, "feed_forward.linear2")


def layer(norm_first=True):
    """Return the right (state, x, memory, self_mask, memory_mask) -> output of a layer of H heads."""

    def pre(state, x, memory, self_mask=None, memory_mask=None):
        y = norm(x, state, "norm1")
        x = x + attend(y, y, self_mask, state, "self_attention")
        x = x + attend(norm(x, state, "norm2"), memory, memory_mask, state, "cross_attention")
        return x + feed(norm(x, state, "norm3"), state)

    def post(state, x, memory, self_mask=None, memory_mask=None):
        x = norm(x + attend(x, x, self_mask, state, "self_attention"), state, "norm1")
        x = norm(x + attend(x, memory, memory_mask, state, "cross_attention"), state, "norm2")
        return norm(x + feed(x, state), state, "norm3")

    return pre if norm_first else post


# --- helpers ---


def weights(activation="relu"):
    """Return the shapes of a layer's weights; each has a bias as long as it is high."""
    shapes = {f"{part}.{name}": [D, D] for part in ATTENTIONS for name in PROJECTIONS}
    shapes |= {"feed_forward.linear1": [FF, D], "feed_forward.linear2": [D, FF]}
    shapes |= {"norm1": [D], "norm2": [D], "norm3": [D]}
    if activation == "swiglu":
        shapes["feed_forward.gate"] = [FF, D]
    return {f"{name}.weight": shape for name, shape in shapes.items()}


def parameters(activation="relu"):
    """Return the shapes of all of a layer's parameters."""
    shapes = weights(activation)
    return shapes | {name.replace(".weight", ".bias"): shape[:1] for name, shape in shapes.items()}


def layer_state(draw, activation="relu"):
    """Draw every parameter of a layer, norms included: fresh ones do nothing that could be told apart."""
    state = {}
    for name, shape in parameters(activation).items():
        if len(shape) == 2:
            state[name] = draw.normal(out=shape[0], width=shape[1], scale=1.5 * shape[1] ** -0.5)
        else:
            is_scale = name.startswith("norm") and name.endswith("weight")
            state[name] = draw.normal(width=shape[0], scale=0.5, shift=1.0 if is_scale else 0.0)
    return state


def stack_state(draw, num_layers, final_norm=True):
    """Draw every parameter of a decoder."""
    state = {}
    for index in range(num_layers):
        state |= {f"layers.{index}.{name}": tensor for name, tensor in layer_state(draw).items()}
    if final_norm:
        state |= {
            "norm.weight": draw.normal(width=D, shift=1.0, scale=0.5),
            "norm.bias": draw.normal(width=D),
        }
    return state


def loaded(module, state):
    """Load these parameters into a module and return it, with the parameters that it now computes with.

    A bias that is not there counts as zero: its absence is another check's matter.
    """
    own = module.state_dict()
    for name in state:
        if name.endswith("weight") and name not in own:
            fail(f"no parameter  {name}  it cannot be loaded", stage="names")
    module.load_state_dict({name: tensor for name, tensor in state.items() if name in own}, strict=False)
    held = module.state_dict()
    return module, {
        name: shared(name, state, held[name]) if name in own else torch.zeros_like(tensor)
        for name, tensor in state.items()
    }


def shared(name, state, held):
    """Return what was loaded under this name, or under another one that the submission has for the same parameter.

    That two parts share their weights is another check's matter, too; any other numbers are no excuse.
    """
    last = name.rpartition(".")[2]
    alike = (tensor for other, tensor in state.items() if other.endswith(last) and tensor.shape == held.shape)
    return next((tensor for tensor in alike if torch.equal(tensor.cpu(), held.cpu())), state[name])


def silenced(state, *parts):
    """Return the state with these sublayers giving zero."""
    names = [SILENT[part] for part in parts]
    return {
        name: torch.zeros_like(tensor) if name.rpartition(".")[0] in names else tensor
        for name, tensor in state.items()
    }


def inputs(draw, batch=2, time=4, source=6, **options):
    """Draw x [B, T, D] and memory [B, S, D]; the memory is neither centred nor of deviation 1."""
    x = draw.normal(batch=batch, time=time, width=D, **options)
    return x, draw.normal(batch=batch, source=source, width=D, scale=1.5, shift=0.7, **options)


def causal(draw, seq_len):
    return torch.ones(seq_len, seq_len, dtype=torch.bool, device=draw.device).tril()


def through_layers(decoder, x, *rest):
    """Send x through a decoder's own layers, one after the other."""
    for index in range(len(decoder.layers)):
        x = decoder.layers[index](x.detach(), *rest)
        expect(x, f"output of layer {index}", axes=AXES).is_tensor(shape=tuple(x.shape))
    return x


def expect_layer(
    submission, draw, silent=(), norm_first=True, masks=(None, None), why="", sizes=((2, 4, 6),)
):
    """Compare a layer, some of whose sublayers give zero, with the right one."""
    for batch, time, source in sizes:
        x, memory = inputs(draw, batch, time, source)
        if masks != (
            None,
            None,
        ):  # What norms make of x and the memory is for other checks: here they can do little.
            x = draw.normal(batch=batch, time=time, width=D, scale=20.0)
            memory = with_axes(F.layer_norm(memory, (D,)), "batch", "source", "width")
        module, state = loaded(
            submission.DecoderLayer(D, H, FF, norm_first=norm_first), silenced(layer_state(draw), *silent)
        )
        wanted = oracle(layer(norm_first), state, x, memory, *masks)
        with supposing(lambda: lost_sums(submission, draw)):
            expect(module(x, memory, *masks), "output", axes=AXES).close_to(wanted, why=why)


def lost_sums(submission, draw):
    """Return the sublayers whose output may take the place of x: where x is lost, a silent one leaves nothing."""

    def is_alone(part):
        x, memory = inputs(draw)
        others = [name for name in SILENT if name != part]
        module, state = loaded(submission.DecoderLayer(D, H, FF), silenced(layer_state(draw), *others))
        return torch.allclose(module(x, memory), layer()(state, x, memory) - x, atol=1e-4)

    return {
        f"what your {part} returns takes the place of x; it should be added to x": lambda part=part: is_alone(part)
        for part in SILENT
    }


# --- DecoderLayer ---


@check(aspect="shape")
def test_layer_shapes(submission, draw):
    """a layer takes x [B, T, D] and memory [B, S, D] to [B, T, D], for any B, T and S

    > memory: [B, S, D]
    > Layer and decoder work for any sizes
    """
    for norm_first in (True, False):
        module = submission.DecoderLayer(D, H, FF, norm_first=norm_first)
        for batch, time, source in ((2, 5, 3), (1, 1, 7), (3, 6, 1)):
            y = module(*inputs(draw, batch, time, source))
            expect(y, "output", axes=AXES).is_tensor(shape=(batch, time, D), dtype=torch.float32)


@check(aspect="parameters")
def test_parts(submission):
    """three sublayers and three norms are the parts of a layer

    > Together these six hold all the parameters there are.
    """
    module = submission.DecoderLayer(D, H, FF)
    for name in (*ATTENTIONS, "feed_forward", "norm1", "norm2", "norm3"):
        getattr(module, name)  # names the one that is not there
    found = {name: list(tensor.shape) for name, tensor in module.named_parameters()}
    wanted = weights()
    there = [name for name in found if name in wanted]
    expect(there, "weights of the parts").has_names(wanted, why="a part that is held twice counts once")
    for name, shape in wanted.items():
        expect(found[name], f"shape of {name}").is_value(shape)


@check(aspect="parameters")
def test_parameters(submission):
    """a layer has the parameters of its six parts and no others

    > Together these six hold all the parameters there are.
    """
    for activation in ("relu", "swiglu"):
        module = submission.DecoderLayer(D, H, FF, activation=activation)
        found = [name for name, _ in module.named_parameters()]
        expect(found, f"parameters with activation {activation!r}").has_names(parameters(activation))


@check(aspect="values", points=2, follows=[test_layer_shapes, test_parts])
def test_self_attention_sublayer(submission, draw):
    """with the other two silent the output is x + self_attention(norm1(x))

    > a = x + drop(self_attention(norm1(x), self_mask))
    """
    silent = ("cross_attention", "feed_forward")
    expect_layer(submission, draw, silent, why="the other two sublayers give 0 here, and add nothing")


@check(aspect="values", points=3, follows=[test_layer_shapes, test_parts])
def test_cross_attention_sublayer(submission, draw):
    """with the other two silent the output is x + cross_attention(norm2(x), memory)

    > b = a + drop(cross_attention(norm2(a), memory_mask, memory))
    > taken as it is, without a norm of this layer.
    """
    silent = ("self_attention", "feed_forward")
    expect_layer(
        submission, draw, silent, why="queries come from norm2(x), keys and values from the memory as it is"
    )


@check(aspect="values", points=2, follows=[test_layer_shapes, test_parts])
def test_feed_forward_sublayer(submission, draw):
    """with both attentions silent the output is x + feed_forward(norm3(x))

    > y = b + drop(feed_forward(norm3(b)))
    """
    expect_layer(submission, draw, ATTENTIONS, why="both attentions give 0 here, and add nothing")


@check(aspect="values", points=3, follows=[test_layer_shapes, test_parts])
def test_pre_norm(submission, draw):
    """pre-norm: each sublayer reads the stream to which the one before it has added

    > a = x + drop(self_attention(norm1(x), self_mask))
    > b = a + drop(cross_attention(norm2(a), memory_mask, memory))
    > y = b + drop(feed_forward(norm3(b)))
    """
    expect_layer(submission, draw, sizes=((2, 4, 6), (1, 1, 2), (1, 66, 3)))


@check(aspect="values", points=3, follows=[test_layer_shapes, test_parts])
def test_post_norm(submission, draw):
    """post-norm: each sum is normalised, and no sublayer's input is

    > a = norm1(x + drop(self_attention(x, self_mask)))
    > y = norm3(b + drop(feed_forward(b)))
    """
    expect_layer(submission, draw, norm_first=False, sizes=((2, 4, 6), (1, 5, 2)))


@check(aspect="masks", points=2, follows=[test_self_attention_sublayer, test_cross_attention_sublayer])
def test_self_mask(submission, draw):
    """self_mask says which positions of x may attend to which, and says nothing about the memory

    > bool [T, T], or broadcastable to [B, H, T, T]; None allows all.
    """
    for mask in (causal(draw, 4), draw.mask(keep=0.5, batch=2, head=H, query=4, key=4)):
        # As long as x, so that a mask in the wrong place raises nothing.
        expect_layer(submission, draw, ("feed_forward",), masks=(mask, None), sizes=((2, 4, 4),))


@check(aspect="masks", points=2, follows=[test_self_attention_sublayer, test_cross_attention_sublayer])
def test_memory_mask(submission, draw):
    """memory_mask says which positions of the memory each position of x may attend to, and may allow none

    > bool [T, S], or broadcastable to [B, H, T, S].
    """
    padding = torch.tensor([[True, True, False, False], [False] * 4], device=draw.device)[:, None, None]
    for mask in (draw.mask(keep=0.4, query=4, key=4), padding):
        expect_layer(submission, draw, ("feed_forward",), masks=(None, mask), sizes=((2, 4, 4),))
    for batch, axes in ((2, {"batch": 2, "head": 1}), (3, {"head": H})):
        wide = draw.mask(keep=0.5, **axes, query=4, key=6)
        expect_layer(submission, draw, ("feed_forward",), masks=(None, wide), sizes=((batch, 4, 6),))


@check(aspect="causality", follows=test_layer_shapes)
def test_causality(submission, draw):
    """under a causal mask later positions of x change no earlier output, but all of the memory does

    > the whole memory, from its first position to its last
    """
    x, memory = inputs(draw, time=5)
    other, another = inputs(draw, time=5)
    mask = causal(draw, 5)
    module, _ = loaded(submission.DecoderLayer(D, H, FF), layer_state(draw))
    before = module(x, memory, mask)
    expect(before, "output", axes=AXES).is_tensor(shape=(2, 5, D))
    later = module(torch.cat((x[:, :3], other[:, 3:]), dim=1), memory, mask)
    expect(later[:, :3], "output at positions 0 to 2", axes=AXES).same_as(
        before[:, :3], name="the output for another future of x"
    )
    end = module(x, torch.cat((memory[:, :5], another[:, 5:]), dim=1), mask)
    expect(end[:, :1], "output at position 0", axes=AXES).differs_from(
        before[:, :1], why="the last position of the memory was changed, and every position may look at it"
    )


def part(name, **options):
    """Return the contract of a layer, or of a decoder of one layer, and the right function of its parameters."""
    sizes = {"num_layers": 1} if name == "Decoder" else {}
    made = sizes | {"d_model": D, "num_heads": H, "d_ff": FF, "dropout": 0.2}

    def right(state, x, *rest, **masks):
        own = {key.removeprefix("layers.0."): tensor for key, tensor in state.items()}
        x = layer()(own, x, *rest, **masks)
        return norm(x, state, "norm") if sizes else x

    return Part(name, made, ["output"], [AXES], [torch.float64, torch.bfloat16], **options), right


def call(draw):
    x, memory = inputs(draw)
    over = draw.mask(keep=0.5, batch=2, head=1, query=4, key=6)
    return {"x": x, "memory": memory, "self_mask": causal(draw, 4), "memory_mask": over}


@check(aspect="gradient", points=2, follows=test_pre_norm)
def test_gradients(submission, draw):
    """gradients reach x, the memory and every parameter

    > Gradients reach x, the memory and every parameter.
    """
    contract, right = part("DecoderLayer")
    contract.expect_gradients(submission, right, draw, [call(draw)])


@check(aspect="mode", follows=[test_layer_shapes, test_parts])
def test_dropout_of_sublayers(submission, draw):
    """dropout acts on each sublayer's output before it is added, not on x or the memory

    > how much of each sublayer's output is dropped before it is added
    """
    x, memory = inputs(draw)
    drawn = layer_state(draw)
    for norm_first in (True, False):
        module, _ = loaded(submission.DecoderLayer(D, H, FF, norm_first=norm_first), silenced(drawn, *SILENT))
        alone = module(x, memory)
        module, _ = loaded(
            submission.DecoderLayer(D, H, FF, dropout=NEARLY_ALL, norm_first=norm_first), drawn
        )
        module.train()
        expect(module(x, memory), f"output with all dropped, norm_first={norm_first}", axes=AXES).same_as(
            alone,
            name="the one when all sublayers give 0",
            why="this dropout leaves nothing of what it takes, so the layer should be left with x alone",
        )
    module = submission.DecoderLayer(D, H, FF, dropout=0.5).to(draw.device).train()
    x, memory = inputs(draw, 12, 12)
    kept = module(x, memory).detach() == x
    for axis, name in enumerate(("place in all rows", "feature at all positions", "position")):
        expect(bool(kept.all(dim=axis).any()), f"a {name} that a layer leaves as it is").is_value(False)


@check(aspect="arguments", follows=test_parts)
def test_feed_forward_options(submission, draw):
    """the feed-forward network gets the layer's dropout and activation

    > that of the feed-forward network: relu, gelu or swiglu.
    > also what FeedForward drops.
    """
    x, _ = inputs(draw)
    for activation in ("gelu", "swiglu"):
        module, state = loaded(
            submission.DecoderLayer(D, H, FF, activation=activation), layer_state(draw, activation)
        )
        wanted = oracle(lambda x, state, activation=activation: feed(x, state, activation), x, state)
        expect(module.feed_forward(x), f"feed_forward(x) with activation {activation!r}", axes=AXES).close_to(
            wanted
        )
    module, _ = loaded(submission.DecoderLayer(D, H, FF, dropout=NEARLY_ALL), layer_state(draw))
    module.train()
    one, other = (module.feed_forward(inputs(draw)[0]) for _ in range(2))
    expect(one, "output of feed_forward with all dropped", axes=AXES).same_as(
        other, name="the one for another input", why="when all hidden features are dropped, no input shows"
    )


@check(aspect="mode", points=0.5, follows=[test_layer_shapes, test_parts])
def test_eval(submission, draw):
    """eval() turns dropout off

    > After `eval()` nothing is dropped.
    """
    x, memory = inputs(draw)
    state = layer_state(draw)
    module, _ = loaded(submission.DecoderLayer(D, H, FF), state)
    plain = module(x, memory)
    module, _ = loaded(submission.DecoderLayer(D, H, FF, dropout=0.4), state)
    module.eval()
    expect(module(x, memory), "output with dropout=0.4 after eval()", axes=AXES).same_as(
        plain, name="the one without dropout, in train mode"
    )


@check(aspect="arguments", points=0.5, follows=[test_pre_norm, test_self_mask, test_memory_mask, test_eval])
def test_layer_promises(submission, draw):
    """however a layer is called, its result is that of these arguments and parameters, which it leaves as they were

    > Arguments are left as they were and need not be contiguous in memory.
    > compute in their own dtype
    > a result depends only on the arguments of this call and on the parameters as they are now
    """
    contract, right = part("DecoderLayer", gradients=False)
    contract.expect(submission, right, draw, [call(draw)])


# --- Decoder ---


@check(aspect="parameters")
def test_decoder_layers(submission):
    """a decoder has num_layers layers, each with parameters of its own

    > layers: nn.ModuleList of DecoderLayer.
    > each with parameters of its own
    """
    module = submission.Decoder(3, D, H, FF)
    wanted = {f"layers.{index}.{name}" for index in range(3) for name in weights()}
    found = [name for name, _ in module.named_parameters() if name in wanted]
    expect(found, "weights of the layers").has_names(
        wanted, why="a layer used twice counts once, and one in a plain list is not found at all"
    )


@check(aspect="values", points=2, follows=test_decoder_layers)
def test_decoder_pre_norm(submission, draw):
    """pre-norm: a decoder is its layers, each with the same memory, and a last norm

    > xᵢ = layerᵢ(xᵢ₋₁, memory, self_mask, memory_mask)
    > output = norm(x_last)
    """
    for num_layers, batch, time in ((2, 1, 66), (1, 2, 1)):
        x, memory = inputs(draw, batch, time)
        state = stack_state(draw, num_layers)
        module, _ = loaded(submission.Decoder(num_layers, D, H, FF), state)
        y = module(x, memory)
        stream = through_layers(module, x, memory).detach().cpu()
        expect(y, f"output of {num_layers} layers", axes=AXES).same_as(
            norm(stream, {name: tensor.cpu() for name, tensor in state.items()}, "norm"),
            name="that of its layers one after the other, with a last norm",
        )


@check(aspect="values", follows=test_decoder_layers)
def test_decoder_post_norm(submission, draw):
    """post-norm: a decoder ends with its last layer, and norm changes nothing

    > output = x_last
    > after the last layer, a LayerNorm when norm_first, else nn.Identity.
    """
    x, memory = inputs(draw)
    module, _ = loaded(
        submission.Decoder(2, D, H, FF, norm_first=False), stack_state(draw, 2, final_norm=False)
    )
    outside = [name for name, _ in module.named_parameters() if not name.startswith("layers.")]
    expect(outside, "parameters outside the layers, with norm_first=False").has_names([])
    if module.norm is None:
        fail("wrong type  norm with norm_first=False  got None  want an nn.Identity", stage="type")
    expect(module.norm(x), "norm(x) with norm_first=False", axes=AXES).equals(x)
    expect(module(x, memory), "output with norm_first=False", axes=AXES).same_as(
        through_layers(module, x, memory), name="that of its layers one after the other"
    )


@check(aspect="masks", follows=test_decoder_layers)
def test_decoder_masks(submission, draw):
    """every layer of a decoder gets both masks, each in its place

    > Send x through all layers, each with the same memory and under the same masks.
    """
    x, memory = inputs(draw, time=5, source=5)
    module, _ = loaded(
        submission.Decoder(2, D, H, FF, norm_first=False), stack_state(draw, 2, final_norm=False)
    )
    over = draw.mask(keep=0.5, batch=2, head=1, query=1, key=5)
    for masks in ((causal(draw, 5), None), (None, over), (causal(draw, 5), over)):
        y = module(x, memory, *masks)
        wanted = through_layers(module, x, memory, *masks)
        last = getattr(module, "norm", None)  # whether there should be one is for others to ask
        wanted = wanted if last is None else last(wanted.detach())
        expect(y, "output under masks", axes=AXES).same_as(
            wanted, name="that of its layers one after the other, each with both masks"
        )


@check(aspect="arguments", follows=[test_layer_shapes, test_decoder_layers])
def test_decoder_options(submission, draw):
    """a decoder passes dropout, norm_first and activation on to its layers

    > d_model, num_heads, d_ff, dropout, norm_first, activation: those of each layer.
    """
    x, memory = inputs(draw)
    post = {"norm_first": False, "activation": "gelu"}  # an option may get lost where another is given
    for options in ({"activation": "swiglu"}, post, {"dropout": NEARLY_ALL}):
        drawn = layer_state(draw, options.get("activation", "relu"))
        decoder = submission.Decoder(2, D, H, FF, **options)
        alone, _ = loaded(submission.DecoderLayer(D, H, FF, **options), drawn)
        wanted = alone(x, memory)
        for index in range(2):
            inside, _ = loaded(decoder.layers[index], drawn)
            expect(inside(x, memory), f"output of layers[{index}]", axes=AXES).same_as(
                wanted, name="that of your DecoderLayer with the same option"
            )


@check(
    aspect="arguments",
    points=0.5,
    follows=[test_layer_promises, test_gradients, test_decoder_pre_norm, test_decoder_masks],
)
def test_decoder_promises(submission, draw):
    """however a decoder is called, its result is that of these arguments and parameters

    > Gradients reach x, the memory and every parameter.
    > compute in their own dtype
    > a result depends only on the arguments of this call and on the parameters as they are now
    """
    contract, right = part("Decoder")
    contract.expect(submission, right, draw, [call(draw)])


@check(aspect="scratch", points=0.5)
def test_from_scratch(submission, draw):
    """layer and decoder are written from scratch

    > `nn.Transformer…` is what you are writing, so do not use it.
    """
    x, memory = inputs(draw)
    with precondition("layer and decoder must return something"):
        for norm_first in (True, False):
            submission.DecoderLayer(D, H, FF, norm_first=norm_first)(x, memory)
            submission.Decoder(2, D, H, FF, norm_first=norm_first)(x, memory)
    expect_from_scratch(submission)
