"""Checks of 9.3.5. Expected values of a layer come from `layer`, torch's own operators computed in float64.

An encoder is compared with its own layers, one after the other: what is wrong in a layer costs points there, and
not once more in the stack.
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
)

AXES = "batch time width"
D, H, FF = 12, 3, 20
SILENT = {"attention": "attention.w_o", "feed_forward": "feed_forward.linear2"}
NEARLY_ALL = 0.99999999
"""A dropout that leaves nothing of a few hundred values; 1.0 would be 0/0 in a dropout written by hand."""
PROJECTIONS = ("w_q", "w_k", "w_v", "w_o")


# --- the oracle: an encoder layer in torch's own operators ---


def norm(x, state, name):
    return F.layer_norm(x, x.shape[-1:], state[f"{name}.weight"], state[f"{name}.bias"])


def linear(x, state, name):
    return F.linear(x, state[f"{name}.weight"], state[f"{name}.bias"])


def attend(x, mask, state):
    q, k, v = (
        linear(x, state, f"attention.{name}").unflatten(-1, (H, -1)).transpose(1, 2)
        for name in PROJECTIONS[:3]
    )
    heads = F.scaled_dot_product_attention(q, k, v, mask)
    return linear(heads.transpose(1, 2).flatten(2), state, "attention.w_o")


def feed(x, state, activation):
    hidden = linear(x, state, "feed_forward.linear1")
    if activation == "swiglu":
        hidden = F.silu(linear(x, state, "feed_forward.gate")) * hidden
    else:
        hidden = {"relu": F.relu, "gelu": F.gelu}[activation](hidden)
    return linear(hidden, state, "feed_forward.linear2")


def layer(norm_first=True, activation="relu"):
    """Return the right (x, mask, state) -> output of a layer of H heads."""

    def pre(x, mask, state):
        x = x + attend(norm(x, state, "norm1"), mask, state)
        return x + feed(norm(x, state, "norm2"), state, activation)

    def post(x, mask, state):
        x = norm(x + attend(x, mask, state), state, "norm1")
        return norm(x + feed(x, state, activation), state, "norm2")

    return pre if norm_first else post


# --- helpers ---


def weights(activation="relu"):
    """Return the shapes of a layer's weights; each has a bias as long as it is high."""
    shapes = {f"attention.{name}": [D, D] for name in PROJECTIONS}
    shapes |= {"feed_forward.linear1": [FF, D], "feed_forward.linear2": [D, FF], "norm1": [D], "norm2": [D]}
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
            state[name] = draw.normal(out=shape[0], width=shape[1], scale=shape[1] ** -0.5)
        else:
            is_scale = name.startswith("norm") and name.endswith("weight")
            state[name] = draw.normal(width=shape[0], scale=0.5, shift=1.0 if is_scale else 0.0)
    return state


def stack_state(draw, num_layers, final_norm=True):
    """Draw every parameter of an encoder."""
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
    # Only these: a part that is also held under another name must not get its old values back by that name.
    module.load_state_dict({name: tensor for name, tensor in state.items() if name in own}, strict=False)
    return module, {
        name: tensor if name in own else torch.zeros_like(tensor) for name, tensor in state.items()
    }


def silenced(state, *names):
    """Return the state with these projections giving zero."""
    return {
        name: torch.zeros_like(tensor) if name.rpartition(".")[0] in names else tensor
        for name, tensor in state.items()
    }


def through_layers(encoder, x, mask=None):
    """Send x through an encoder's own layers, one after the other."""
    for index in range(len(encoder.layers)):
        x = encoder.layers[index](x.detach(), mask)
        expect(x, f"output of layer {index}", axes=AXES).is_tensor(shape=tuple(x.shape))
    return x


def inputs(draw, batch=2, time=5, **options):
    return draw.normal(batch=batch, time=time, width=D, **options)


def causal(draw, seq_len):
    return torch.ones(seq_len, seq_len, dtype=torch.bool, device=draw.device).tril()


def without(submission, draw, silent):
    """Return x, and what a layer makes of it, one of whose sublayers gives zero, and what it should."""
    x = inputs(draw)
    module, state = loaded(submission.EncoderLayer(D, H, FF), silenced(layer_state(draw), SILENT[silent]))
    return x, module(x), oracle(layer(), x, None, state)


def expect_sublayer(submission, draw, silent, why):
    """Compare a layer, one of whose sublayers gives zero, with the right one."""
    _, found, right = without(submission, draw, silent)
    with supposing(lambda: lost_sums(submission, draw)):
        expect(found, "output", axes=AXES).close_to(right, why=why)


def lost_sums(submission, draw):
    """Return the sublayers whose output may take the place of x: where x is lost, a silent one leaves nothing."""

    def is_alone(silent):
        x, found, right = without(submission, draw, silent)
        return torch.allclose(found, right.value.to(found.dtype) - x, atol=1e-4)

    return {
        f"what your {part} returns takes the place of x; it should be added to x": lambda other=other: is_alone(other)
        for part, other in (("attention", "feed_forward"), ("feed_forward", "attention"))
    }


# --- EncoderLayer ---


@check(aspect="shape", points=0.5)
def test_layer_shapes(submission, draw):
    """a layer takes [B, T, D] to [B, T, D], for any B and T

    > [B, T, D], left as it is.
    > Layer and encoder work for any sizes, one position and hundreds
    """
    for norm_first in (True, False):
        module = submission.EncoderLayer(D, H, FF, norm_first=norm_first)
        for batch, time in ((2, 5), (1, 7), (3, 1)):
            y = module(inputs(draw, batch, time))
            expect(y, "output", axes=AXES).is_tensor(shape=(batch, time, D), dtype=torch.float32)


@check(aspect="parameters", points=0.5)
def test_parts(submission):
    """attention, feed_forward, norm1 and norm2 are the parts of a layer

    > attention, feed_forward, norm1, norm2: the parts, which hold all the parameters there are.
    """
    module = submission.EncoderLayer(D, H, FF)
    for name in ("attention", "feed_forward", "norm1", "norm2"):
        getattr(module, name)  # names the one that is not there
    found = {name: list(tensor.shape) for name, tensor in module.named_parameters()}
    wanted = weights()
    there = [name for name in found if name in wanted]
    expect(there, "weights of the parts").has_names(
        wanted, why="a part that is not a module has no parameters"
    )
    for name, shape in wanted.items():
        expect(found[name], f"shape of {name}").is_value(shape)


@check(aspect="parameters")
def test_parameters(submission):
    """a layer has the parameters of its four parts and no others

    > attention, feed_forward, norm1, norm2: the parts, which hold all the parameters there are.
    """
    for activation in ("relu", "swiglu"):
        module = submission.EncoderLayer(D, H, FF, activation=activation)
        found = [name for name, _ in module.named_parameters()]
        expect(found, f"parameters with activation {activation!r}").has_names(parameters(activation))


@check(aspect="values", points=2.5, follows=[test_layer_shapes, test_parts])
def test_attention_sublayer(submission, draw):
    """with a silent feed-forward network the output is x + attention(norm1(x))

    > h = x + drop(attention(norm1(x), M))
    """
    expect_sublayer(submission, draw, "feed_forward", "feed_forward.linear2 gives 0 here, so the network adds nothing")


@check(aspect="values", points=2.5, follows=[test_layer_shapes, test_parts])
def test_feed_forward_sublayer(submission, draw):
    """with silent attention the output is x + feed_forward(norm2(x))

    > y = h + drop(feed_forward(norm2(h)))
    """
    expect_sublayer(submission, draw, "attention", "attention.w_o gives 0 here, so attention adds nothing")


@check(aspect="values", points=4, follows=[test_layer_shapes, test_parts])
def test_pre_norm(submission, draw):
    """pre-norm: the feed-forward network reads the stream to which attention has added

    > h = x + drop(attention(norm1(x), M))
    > y = h + drop(feed_forward(norm2(h)))
    """
    for batch, time in ((2, 5), (1, 1), (1, 66)):
        x = inputs(draw, batch, time, scale=2.0, shift=0.5)
        module, state = loaded(submission.EncoderLayer(D, H, FF), layer_state(draw))
        expect(module(x), "output", axes=AXES).close_to(
            oracle(layer(), x, None, state),
            why="norm2 takes x + attention(norm1(x)), and so does the second sum",
        )


@check(aspect="values", points=4, follows=[test_layer_shapes, test_parts])
def test_post_norm(submission, draw):
    """post-norm: each sum is normalised, and no sublayer's input is

    > h = norm1(x + drop(attention(x, M)))
    > y = norm2(h + drop(feed_forward(h)))
    """
    for batch, time in ((2, 5), (1, 1)):
        x = inputs(draw, batch, time, scale=2.0, shift=0.5)
        module, state = loaded(submission.EncoderLayer(D, H, FF, norm_first=False), layer_state(draw))
        expect(module(x), "output with norm_first=False", axes=AXES).close_to(
            oracle(layer(norm_first=False), x, None, state),
            why="x and the first sum go into a sublayer as they are",
        )


@check(aspect="values", points=1.5, follows=test_parts)
def test_activations(submission, draw):
    """the feed-forward network gets the layer's activation

    > that of the feed-forward network: relu, gelu or swiglu.
    """
    x = inputs(draw, scale=2.0)
    for activation in ("gelu", "swiglu"):
        state = layer_state(draw, activation)
        module, state = loaded(submission.EncoderLayer(D, H, FF, activation=activation), state)
        expect(
            module.feed_forward(x), f"output of feed_forward with activation {activation!r}", axes=AXES
        ).close_to(oracle(lambda x, state, activation=activation: feed(x, state, activation), x, state))


@check(aspect="masks", points=0.5, follows=test_layer_shapes)
def test_masks(submission, draw):
    """a masked key is as good as not there, under either order of the norms

    > True where attention is allowed
    """
    x = inputs(draw, time=6)
    hidden = torch.arange(6, device=draw.device) < 4  # the last two keys, for every query
    for norm_first in (True, False):
        module = submission.EncoderLayer(D, H, FF, norm_first=norm_first)
        short = module(x[:, :4])
        for mask, said in ((hidden[None, None, None], "padding"), (causal(draw, 6), "causal")):
            if said == "causal":
                short = torch.cat([module(x[:, : t + 1])[:, t:] for t in range(4)], dim=1)
            y = module(x, mask)
            expect(y, "output", axes=AXES).is_tensor(shape=(2, 6, D))
            expect(y[:, :4], f"output at positions 0 to 3 under a {said} mask", axes=AXES).same_as(
                short, name="the one without the hidden positions"
            )


@check(aspect="masks", points=1.5, follows=test_attention_sublayer)
def test_mask_shapes(submission, draw):
    """attention obeys masks of [T, T], [B, 1, 1, T] and [B, H, T, T], also one that leaves nothing

    > bool [T, T], or broadcastable to [B, H, T, T]; None allows everything.
    """
    x = inputs(draw)
    blind = draw.mask(keep=0.6, batch=2, head=1, query=1, key=5)
    blind[1] = False  # a sequence of padding only
    state = silenced(layer_state(draw), "feed_forward.linear2")
    module, state = loaded(submission.EncoderLayer(D, H, FF), state)
    for mask in (
        draw.mask(keep=0.6, query=5, key=5),
        draw.mask(keep=0.6, batch=2, head=1, query=1, key=5),
        draw.mask(keep=0.6, batch=2, head=H, query=5, key=5),
        blind,
    ):
        expect(module(x, mask), "output under a mask", axes=AXES).close_to(oracle(layer(), x, mask, state))


def part(name, norm_first=True, **options):
    """Return the contract of a layer, or of an encoder of one layer, and the right function of its parameters."""
    sizes = {"num_layers": 1} if name == "Encoder" else {}
    made = sizes | {"d_model": D, "num_heads": H, "d_ff": FF, "dropout": 0.2, "norm_first": norm_first}

    def right(state, x, mask=None):
        own = {key.removeprefix("layers.0."): tensor for key, tensor in state.items()}
        x = layer(norm_first)(x, mask, own)
        return norm(x, state, "norm") if sizes and norm_first else x

    return Part(name, made, ["output"], [AXES], [torch.float64, torch.bfloat16], **options), right


def call(draw):
    return {"x": inputs(draw), "mask": draw.mask(keep=0.6, batch=2, head=1, query=5, key=5)}


@check(aspect="gradient", points=1.5, follows=test_pre_norm)
def test_pre_norm_gradients(submission, draw):
    """pre-norm: gradients reach x and every parameter, past the sublayers and through them

    > Gradients reach x and every parameter.
    """
    contract, right = part("EncoderLayer")
    contract.expect_gradients(submission, right, draw, [call(draw)])


@check(aspect="gradient", points=1.5, follows=test_post_norm)
def test_post_norm_gradients(submission, draw):
    """post-norm: gradients reach x and every parameter

    > Gradients reach x and every parameter.
    """
    contract, right = part("EncoderLayer", norm_first=False)
    contract.expect_gradients(submission, right, draw, [call(draw)])


@check(aspect="mode", points=1.5, follows=[test_layer_shapes, test_parts])
def test_dropout_of_sublayers(submission, draw):
    """dropout acts on each sublayer's output before it is added, not on x

    > on each sublayer's output *before* it is added
    > Never on the stream itself
    """
    x = inputs(draw)
    drawn = layer_state(draw)
    for norm_first in (True, False):
        module, _ = loaded(
            submission.EncoderLayer(D, H, FF, norm_first=norm_first),
            silenced(drawn, "attention.w_o", "feed_forward.linear2"),
        )
        silent = module(x)
        module, _ = loaded(
            submission.EncoderLayer(D, H, FF, dropout=NEARLY_ALL, norm_first=norm_first), drawn
        )
        module.train()
        expect(module(x), f"output with all dropped, norm_first={norm_first}", axes=AXES).same_as(
            silent,
            name="the one when both sublayers give 0",
            why="this dropout leaves nothing of what it takes, so the layer should be left with x alone",
        )


@check(
    aspect="mode",
    points=1.5,
    follows=[test_dropout_of_sublayers, test_attention_sublayer, test_feed_forward_sublayer],
)
def test_dropout_rate(submission, draw):
    """of a sublayer's output the share `dropout` is dropped, and the rest grows by 1 / (1 - dropout)

    > how much of each sublayer's output is dropped before it is added; also what FeedForward drops.
    """
    x = inputs(draw, batch=8, time=15)
    rate = 0.3
    drawn = layer_state(draw)
    for silent, active in (("feed_forward.linear2", "attention"), ("attention.w_o", "feed_forward")):
        module, state = loaded(submission.EncoderLayer(D, H, FF, dropout=rate), silenced(drawn, silent))
        module.train()
        y = module(x)
        expect(y, "output", axes=AXES).is_tensor(shape=(8, 15, D), dtype=torch.float32)
        dropped = y.detach().cpu() == x.cpu()
        share = float(dropped.float().mean())
        expect(share, f"share of the output of {active} that is dropped, with dropout={rate}").is_between(
            rate - 0.07, rate + 0.07, why="dropped features leave x as it was"
        )
        if active == "attention":  # the network's own dropout makes its values unforeseeable

            def kept(x, state):
                return torch.where(dropped, x, x + (layer()(x, None, state) - x) / (1 - rate))

            expect(y, f"output with dropout={rate}", axes=AXES).close_to(
                oracle(kept, x, state), why="what is kept is divided by 1 - dropout before it is added"
            )


@check(aspect="mode", follows=[test_layer_shapes, test_parts])
def test_dropout_in_feed_forward(submission, draw):
    """the dropout is passed on to FeedForward

    > how much of each sublayer's output is dropped before it is added; also what FeedForward drops.
    """
    module, _ = loaded(submission.EncoderLayer(D, H, FF, dropout=NEARLY_ALL), layer_state(draw))
    module.train()
    one, other = module.feed_forward(inputs(draw)), module.feed_forward(inputs(draw))
    expect(one, "output of feed_forward with all dropped", axes=AXES).same_as(
        other,
        name="the one for another input",
        why="when all of its hidden features are dropped, no input shows",
    )


@check(aspect="mode", follows=[test_layer_shapes, test_parts])
def test_eval(submission, draw):
    """eval() turns dropout off, and a dropout of 0 is none

    > `nn.functional.dropout(y, p)` drops after `eval()` too, unless you tell it
    """
    x = inputs(draw)
    for norm_first in (True, False):
        state = layer_state(draw)
        module, _ = loaded(submission.EncoderLayer(D, H, FF, norm_first=norm_first), state)
        plain = module(x)
        module, _ = loaded(submission.EncoderLayer(D, H, FF, dropout=0.4, norm_first=norm_first), state)
        module.eval()
        expect(module(x), "output with dropout=0.4 after eval()", axes=AXES).same_as(
            plain, name="the one without dropout, in train mode"
        )


@check(aspect="arguments", points=0.5, follows=[test_pre_norm, test_post_norm, test_mask_shapes, test_eval])
def test_layer_promises(submission, draw):
    """however a layer is called, its result is that of these arguments and parameters, which it leaves as they were

    > compute in their own dtype
    > Arguments are left as they were and need not be contiguous in memory.
    > Layer and encoder work for any sizes, one position and hundreds
    """
    contract, right = part("EncoderLayer", gradients=False)
    contract.expect(submission, right, draw, [call(draw)])


# --- Encoder ---


@check(aspect="shape")
def test_encoder_shapes(submission, draw):
    """an encoder takes [B, T, D] to [B, T, D]

    > Layer and encoder work for any sizes, one position and hundreds
    """
    for norm_first in (True, False):
        module = submission.Encoder(3, D, H, FF, norm_first=norm_first)
        for batch, time in ((2, 5), (1, 1)):
            y = module(inputs(draw, batch, time))
            expect(y, "output", axes=AXES).is_tensor(shape=(batch, time, D), dtype=torch.float32)


@check(aspect="parameters")
def test_encoder_layers(submission):
    """an encoder has num_layers layers, each with parameters of its own

    > layers: nn.ModuleList of EncoderLayer.
    > the layers, each with parameters of its own
    """
    module = submission.Encoder(3, D, H, FF)
    wanted = {f"layers.{index}.{name}" for index in range(3) for name in weights()}
    # The weights alone: a bias too few or a parameter too many has cost its point above.
    found = [name for name, _ in module.named_parameters() if name in wanted]
    expect(found, "weights of the layers").has_names(
        wanted, why="a layer used twice counts once, and one in a plain list is not found at all"
    )


@check(aspect="parameters")
def test_encoder_norm(submission):
    """an encoder has a norm of its own when norm_first, and no other parameter

    > after the last layer, a LayerNorm when norm_first, else nn.Identity.
    """
    for norm_first in (True, False):
        module = submission.Encoder(2, D, H, FF, norm_first=norm_first)
        found = [name for name, _ in module.named_parameters() if not name.startswith("layers.")]
        expect(found, f"parameters outside the layers, with norm_first={norm_first}").has_names(
            ["norm.weight", "norm.bias"] if norm_first else []
        )


@check(aspect="values", points=2.5, follows=[test_encoder_shapes, test_encoder_layers])
def test_encoder_pre_norm(submission, draw):
    """pre-norm: an encoder is its layers, one after the other, and a last norm

    > xᵢ = layerᵢ(xᵢ₋₁, M)
    > output = norm(x_last)
    """
    for num_layers, batch, time in ((3, 2, 5), (1, 1, 66), (2, 2, 1)):
        x = inputs(draw, batch, time)
        state = stack_state(draw, num_layers)
        module, _ = loaded(submission.Encoder(num_layers, D, H, FF), state)
        y = module(x)
        stream = through_layers(module, x)
        expect(y, f"output of {num_layers} layers", axes=AXES).same_as(
            norm(stream.detach().cpu(), {name: tensor.cpu() for name, tensor in state.items()}, "norm"),
            name="that of its layers one after the other, with a last norm",
        )


@check(aspect="values", points=1.5, follows=[test_encoder_shapes, test_encoder_layers])
def test_encoder_post_norm(submission, draw):
    """post-norm: an encoder ends with its last layer, and norm changes nothing

    > xᵢ = layerᵢ(xᵢ₋₁, M)
    > output = x_last
    """
    x = inputs(draw, scale=2.0)
    state = stack_state(draw, 3, final_norm=False)
    module, _ = loaded(submission.Encoder(3, D, H, FF, norm_first=False), state)
    if module.norm is None:
        fail("wrong type  norm with norm_first=False  got None  want an nn.Identity", stage="type")
    expect(module.norm(x), "norm(x) with norm_first=False", axes=AXES).equals(x.detach().cpu())
    y = module(x)
    expect(y, "output with norm_first=False", axes=AXES).same_as(
        through_layers(module, x), name="that of its layers one after the other"
    )


@check(aspect="masks", points=1.5, follows=[test_encoder_shapes, test_encoder_layers])
def test_encoder_masks(submission, draw):
    """every layer of an encoder gets the mask

    > Send x through all layers, each under the same mask.
    """
    x = inputs(draw)
    module, _ = loaded(
        submission.Encoder(3, D, H, FF, norm_first=False), stack_state(draw, 3, final_norm=False)
    )
    for mask in (causal(draw, 5), draw.mask(keep=0.6, batch=2, head=1, query=1, key=5)):
        y = module(x, mask)
        wanted = through_layers(module, x, mask)
        last = getattr(module, "norm", None)  # whether there should be one is for others to ask
        wanted = wanted if last is None else last(wanted.detach())
        expect(y, "output under a mask", axes=AXES).same_as(
            wanted, name="that of its layers one after the other, each with the mask"
        )


@check(aspect="arguments", points=1.5, follows=[test_layer_shapes, test_encoder_layers])
def test_encoder_options(submission, draw):
    """an encoder passes dropout, norm_first and activation on to its layers

    > Options have to be handed on: from the layer to its feed-forward network, from the encoder to its layers.
    """
    x = inputs(draw)
    for options in ({"activation": "swiglu"}, {"norm_first": False}, {"dropout": NEARLY_ALL}):
        drawn = layer_state(draw, options.get("activation", "relu"))
        encoder = submission.Encoder(2, D, H, FF, **options)
        said = ", ".join(f"{name}={value!r}" for name, value in options.items())
        alone, _ = loaded(submission.EncoderLayer(D, H, FF, **options), drawn)
        wanted = alone(x)
        for index in range(2):
            inside, _ = loaded(encoder.layers[index], drawn)
            expect(inside(x), f"output of layers[{index}] with {said}", axes=AXES).same_as(
                wanted, name="that of your EncoderLayer with the same option"
            )


@check(aspect="causality", follows=test_encoder_shapes)
def test_causality(submission, draw):
    """under a causal mask later positions cannot change earlier outputs, however many layers there are

    > one unmasked layer undoes all the masked ones
    """
    x, other = inputs(draw, time=7), inputs(draw, time=7)
    changed = torch.cat((x[:, :4], other[:, 4:]), dim=1)
    module, mask = submission.Encoder(3, D, H, FF), causal(draw, 7)
    before, after = module(x, mask), module(changed, mask)
    with precondition("an encoder must read x"):
        for y in (before, after):
            expect(y, "output", axes=AXES).is_tensor(shape=(2, 7, D))
        expect(after[:, 4:], "output at positions 4 to 6", axes=AXES).differs_from(
            before[:, 4:], why="x was changed at these positions"
        )
    expect(after[:, :4], "output at positions 0 to 3", axes=AXES).same_as(
        before[:, :4], name="the output for another future", why="only positions 4 to 6 were changed"
    )


@check(aspect="padding", follows=test_encoder_shapes)
def test_padding(submission, draw):
    """what is in masked padding changes no output of a real position

    > one unmasked layer undoes all the masked ones
    """
    x, other = (inputs(draw, batch=3, time=7) for _ in range(2))
    real = draw.mask(keep=0.5, batch=3, key=7)
    # Row 0 in place of the others shows: it has padding where row 1 has none, and two keys to weigh.
    real[0, :2], real[0, 3], real[1, 3] = True, False, True
    changed = torch.where(real[..., None], x, other)
    module = submission.Encoder(3, D, H, FF, norm_first=False)
    before, after = (module(tensor, real[:, None, None, :]) for tensor in (x, changed))
    for y in (before, after):
        expect(y, "output", axes=AXES).is_tensor(shape=(3, 7, D))
    after, before = (torch.where(real[..., None], y, 0.0) for y in (after, before))
    expect(after, "output at real positions", axes=AXES).same_as(
        before,
        name="the output for other padding",
        why="only padding was changed, and the mask hides it",
    )


@check(
    aspect="arguments",
    points=0.5,
    follows=[test_layer_promises, test_encoder_pre_norm, test_encoder_masks, test_pre_norm_gradients],
)
def test_encoder_promises(submission, draw):
    """however an encoder is called, its result is that of these arguments and parameters

    > compute in their own dtype
    > Arguments are left as they were and need not be contiguous in memory.
    > Layer and encoder work for any sizes, one position and hundreds
    """
    contract, right = part("Encoder")
    contract.expect(submission, right, draw, [call(draw)])


@check(aspect="scratch", points=0.5)
def test_from_scratch(submission, draw):
    """layer and encoder are written from scratch

    > is what you are writing, so do not use it
    """
    x, mask = inputs(draw), causal(draw, 5)
    with precondition("layer and encoder must return something"):
        for norm_first in (True, False):
            submission.EncoderLayer(D, H, FF, norm_first=norm_first)(x, mask)
            submission.Encoder(2, D, H, FF, norm_first=norm_first)(x, mask)
    expect_from_scratch(submission)
