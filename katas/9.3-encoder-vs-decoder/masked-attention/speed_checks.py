"""Is attention fast? Speed checks of 9.3.2, for `kata check --perf`."""

from __future__ import annotations

import math
import random

import torch
from torch.nn.functional import linear, scaled_dot_product_attention

from grader.checks import Work, check, expect, oracle

WIDTHS = (256, 512)
NAMES = ("w_q", "w_k", "w_v", "w_o")


# --- scaled_dot_product_attention ---


def masked(draw, **axes):
    """Draw a mask of both kinds, causal and for padding, under which some queries see nothing."""
    batch, time = axes["batch"], axes["time"]
    padding = draw.mask(keep=0.9, batch=batch, head=1, query=1, key=time)
    padding[:, :, :, 0] = False
    return padding & torch.ones(time, time, dtype=torch.bool, device=draw.device).tril()


def attention_inputs(draw, batch, head, time, width):
    query = draw.normal(batch=batch, head=head, query=time, width=width)
    key = draw.normal(batch=batch, head=head, key=time, width=width)
    value = draw.normal(batch=batch, head=head, key=time, feature=width)
    return query, key, value, masked(draw, batch=batch, time=time)


def attention_right(result, query, key, value, mask):
    allowed = mask.cpu()
    blind = ~allowed.any(dim=-1, keepdim=True)

    def attend(query, key, value):
        scores = (query @ key.mT).div_(math.sqrt(query.shape[-1]))
        weights = scores.masked_fill_(~(allowed | blind), -math.inf).softmax(dim=-1).masked_fill_(blind, 0)
        return weights @ value, weights

    output, weights = expect(result, "(output, weights)").is_tuple(2)
    wanted_output, wanted_weights = oracle(attend, query, key, value)
    expect(weights, "weights", axes="batch head query key").close_to(wanted_weights)
    expect(output, "output", axes="batch head query feature").close_to(wanted_output)


ATTENTION = Work(
    inputs=lambda draw, size: attention_inputs(draw, 1, 4, size, 64),
    call=lambda kata, *tensors: kata.scaled_dot_product_attention(*tensors),
    right=attention_right,
    sizes={"cpu": (128, 256, 512), "cuda": (128, 256, 512)},
    axis="positions",
    flops=lambda time: 4 * 4 * time * time * 64,
)


@check(aspect="performance", threshold="attention")
def test_attention_speed(speed):
    """attention does its arithmetic once, for all queries at a time

    > the arithmetic is done once, for all queries, sequences and heads at a time
    """
    speed.ratio(ATTENTION)


def some_queries_right(result, query, key, value, mask):
    """Look at 64 queries alone, which are chosen now: nobody needs the memory of all of them in float64."""
    heads, time, width = query.shape[1:]
    output, weights = expect(result, "(output, weights)").is_tuple(2)
    expect(output, "output", axes="batch head query feature").is_tensor((1, heads, time, width), query.dtype)
    expect(weights, "weights", axes="batch head query key").is_tensor((1, heads, time, time), query.dtype)
    secret = random.SystemRandom()  # torch's global generator begins everywhere alike
    some = torch.tensor(secret.sample(range(time), 64))
    chosen = (output[:, :, some], weights[:, :, some])
    attention_right(chosen, query[:, :, some], key, value, mask[:, :, some])


PEAK = Work(
    inputs=lambda draw, size: attention_inputs(draw, 1, 2, size, 64),
    call=lambda kata, *tensors: kata.scaled_dot_product_attention(*tensors),
    right=some_queries_right,
    sizes={"cpu": (2048,), "cuda": (4096,)},
    axis="positions",
    traffic=lambda time: 2 * time * time * 4 + time * time + 4 * 2 * time * 64 * 4,
)


@check(aspect="performance", threshold="attention_memory")
def test_attention_memory(speed):
    """attention holds few tables of scores at a time, in the numbers it was given

    > few tables of scores are held at once, in the numbers that were given
    """
    speed.memory(PEAK)


SHORT = Work(
    inputs=lambda draw, size: attention_inputs(draw, size, 16, 32, 16),
    call=lambda kata, *tensors: kata.scaled_dot_product_attention(*tensors),
    right=attention_right,
    sizes={"cpu": (8, 16, 32), "cuda": (8, 16, 32)},
    axis="sequences",
    flops=lambda batch: 4 * batch * 16 * 32 * 32 * 16,
)


@check(aspect="performance", threshold="many_heads")
def test_many_heads_speed(speed):
    """many short sequences and heads cost no loop over them

    > the arithmetic is done once, for all queries, sequences and heads at a time
    """
    speed.ratio(SHORT)


# --- MultiHeadAttention ---


def parameters(width):
    generator = torch.Generator().manual_seed(width)
    state = {}
    for name in NAMES:
        state[f"{name}.weight"] = torch.randn(width, width, generator=generator) * width**-0.5
        state[f"{name}.bias"] = torch.randn(width, generator=generator)
    return state


STATES = {width: parameters(width) for width in WIDTHS}


def module_of(kata, width, num_heads):
    module = kata.MultiHeadAttention(width, num_heads)
    module.load_state_dict({**module.state_dict(), **STATES[width]})
    module.requires_grad_(False)
    return module


def module_right(y, x, mask, num_heads):
    def forward(state, x):
        q, k, v = (
            linear(x, state[f"{name}.weight"], state[f"{name}.bias"])
            .unflatten(-1, (num_heads, -1))
            .transpose(1, 2)
            for name in ("w_q", "w_k", "w_v")
        )
        heads = scaled_dot_product_attention(q, k, v, attn_mask=mask.cpu())
        return linear(heads.transpose(1, 2).flatten(2), state["w_o.weight"], state["w_o.bias"])

    expect(y, "output", axes="batch time width").close_to(oracle(forward, STATES[x.shape[-1]], x))


def module_inputs(draw, batch, time, width):
    x = draw.normal(batch=batch, time=time, width=width)
    return x, torch.ones(time, time, dtype=torch.bool, device=draw.device).tril()


MODULE = Work(
    prepare=lambda kata, size: module_of(kata, 256, 16),
    inputs=lambda draw, size: module_inputs(draw, size, 16, 256),
    call=lambda module, x, mask: module(x, mask),
    right=lambda y, x, mask: module_right(y, x, mask, 16),
    sizes={"cpu": (16, 32, 64), "cuda": (16, 32, 64)},
    axis="sequences",
    flops=lambda batch: batch * 16 * (8 * 256 * 256 + 4 * 16 * 256),
)


@check(aspect="performance", threshold="multi_head")
def test_multi_head_speed(speed):
    """the module projects all positions of all sequences at once

    > the arithmetic is done once, for all queries, sequences and heads at a time
    """
    speed.ratio(MODULE)


HEADS = Work(
    prepare=lambda kata, size: module_of(kata, 512, size),
    inputs=lambda draw, size: (*module_inputs(draw, 4, 64, 512), size),
    call=lambda module, x, mask, _: module(x, mask),
    right=module_right,
    sizes={"cpu": (1, 4, 16)},
    axis="heads",
    flops=lambda _: 4 * 64 * (8 * 512 * 512 + 4 * 64 * 512),
)


@check(aspect="performance", threshold="heads")
def test_heads_speed(speed):
    """more heads over the same width cost little more

    > the arithmetic is done once, for all queries, sequences and heads at a time
    > It costs about as much as one wide head
    """
    speed.growth(HEADS)
