"""Are layer and encoder fast? Speed checks of 9.3.5, for `kata check --perf`."""

from __future__ import annotations

import torch
from torch.nn import functional as F

from grader.checks import Work, check, expect, oracle

D, FF, TIME, LAYERS = 64, 128, 16, 9
LAYER_HEADS, ENCODER_HEADS = 32, 16
"""Short sequences, narrow heads: a loop over either costs more than all of the arithmetic."""


def parameters(num_layers):
    """Return the parameters of an encoder, norms that do something included."""
    generator = torch.Generator().manual_seed(935)
    state = {}

    def projection(name, rows, columns):
        state[f"{name}.weight"] = torch.randn(rows, columns, generator=generator) * columns**-0.5
        state[f"{name}.bias"] = 0.5 * torch.randn(rows, generator=generator)

    def norm(name):
        state[f"{name}.weight"] = 1.0 + 0.5 * torch.randn(D, generator=generator)
        state[f"{name}.bias"] = 0.5 * torch.randn(D, generator=generator)

    for index in range(num_layers):
        for name in ("w_q", "w_k", "w_v", "w_o"):
            projection(f"layers.{index}.attention.{name}", D, D)
        projection(f"layers.{index}.feed_forward.linear1", FF, D)
        projection(f"layers.{index}.feed_forward.linear2", D, FF)
        norm(f"layers.{index}.norm1")
        norm(f"layers.{index}.norm2")
    norm("norm")
    return state


STATE = parameters(LAYERS)
OF_LAYER = {
    name.removeprefix("layers.0."): tensor for name, tensor in STATE.items() if name.startswith("layers.0.")
}


# --- the expected values, in torch's own operators ---


def norm(x, state, name):
    return F.layer_norm(x, (D,), state[f"{name}.weight"], state[f"{name}.bias"])


def linear(x, state, name):
    return F.linear(x, state[f"{name}.weight"], state[f"{name}.bias"])


def attend(x, mask, state, heads, at):
    q, k, v = (
        linear(x, state, f"{at}attention.{name}").unflatten(-1, (heads, -1)).transpose(1, 2)
        for name in ("w_q", "w_k", "w_v")
    )
    mixed = F.scaled_dot_product_attention(q, k, v, mask)
    return linear(mixed.transpose(1, 2).flatten(2), state, f"{at}attention.w_o")


def feed(x, state, at):
    return linear(F.relu(linear(x, state, f"{at}feed_forward.linear1")), state, f"{at}feed_forward.linear2")


def pre_norm(x, mask, state, heads, at=""):
    x = x + attend(norm(x, state, f"{at}norm1"), mask, state, heads, at)
    return x + feed(norm(x, state, f"{at}norm2"), state, at)


def post_norm(x, mask, state, heads, at=""):
    x = norm(x + attend(x, mask, state, heads, at), state, f"{at}norm1")
    return norm(x + feed(x, state, at), state, f"{at}norm2")


def stack(x, mask, state):
    for index in range(LAYERS):
        x = pre_norm(x, mask, state, ENCODER_HEADS, f"layers.{index}.")
    return norm(x, state, "norm")


# --- the work ---


def loaded(module, state):
    module.load_state_dict(state, strict=False)  # buffers of its own stay as they are
    return module.requires_grad_(False)


def close(result, wanted):
    expect(result, "output", axes="batch time width").close_to(wanted)


def flops(layers):
    per_position = 2 * (4 * D * D + 2 * D * FF + 2 * TIME * D)
    return lambda batch: layers * batch * TIME * per_position


def layer_work(norm_first):
    function = pre_norm if norm_first else post_norm
    return Work(
        prepare=lambda kata, size: loaded(
            kata.EncoderLayer(D, LAYER_HEADS, FF, norm_first=norm_first), OF_LAYER
        ),
        inputs=lambda draw, size: (draw.normal(batch=size, time=TIME, width=D),),
        call=lambda module, x: module(x),
        right=lambda result, x: close(result, oracle(function, x, None, OF_LAYER, LAYER_HEADS)),
        sizes={"cpu": (8, 16, 32), "cuda": (8, 16, 32)},
        axis="sequences",
        flops=flops(1),
    )


PRE_NORM = layer_work(norm_first=True)
POST_NORM = layer_work(norm_first=False)
ENCODER = Work(
    prepare=lambda kata, size: loaded(kata.Encoder(LAYERS, D, ENCODER_HEADS, FF), STATE),
    inputs=lambda draw, size: (
        draw.normal(batch=size, time=TIME, width=D),
        draw.mask(keep=0.6, batch=size, head=1, query=1, key=TIME),
    ),
    call=lambda module, x, mask: module(x, mask),
    right=lambda result, x, mask: close(result, oracle(stack, x, mask, STATE)),
    sizes={"cpu": (12, 24, 48), "cuda": (12, 24, 48)},
    axis="sequences",
    flops=flops(LAYERS),
)


@check(aspect="performance", threshold="pre_norm")
def test_pre_norm_speed(speed):
    """a pre-norm layer takes all sequences, positions and heads at once

    > a layer takes all sequences, positions and heads at once
    """
    speed.ratio(PRE_NORM)


@check(aspect="performance", threshold="post_norm")
def test_post_norm_speed(speed):
    """a post-norm layer takes all sequences, positions and heads at once

    > a layer takes all sequences, positions and heads at once
    """
    speed.ratio(POST_NORM)


@check(aspect="performance", threshold="encoder")
def test_encoder_speed(speed):
    """an encoder goes through its layers once, with the mask as it came

    > an encoder goes through its layers once, with the mask as it came
    """
    speed.ratio(ENCODER)
