"""Are masks made fast, and do they stay small? Speed checks of 9.3.1, for `kata check --perf`."""

from __future__ import annotations

import torch

from grader.checks import Work, check, expect

SEQUENCES = 16


# --- causal_mask ---


def causal_inputs(draw, size):
    """Draw a length: a mask that was kept from the call before is of no use."""
    return draw.size(size - 63, size), str(draw.device)


def causal_right(mask, seq_len, device):
    at = torch.arange(seq_len)
    expect(mask, "mask", axes="query key").equals(at[None, :] <= at[:, None])


CAUSAL = Work(
    inputs=causal_inputs,
    call=lambda kata, seq_len, device: kata.causal_mask(seq_len, device=device),
    right=causal_right,
    sizes={"cpu": (1024, 2048, 4096), "cuda": (512, 1024, 2048)},
    axis="positions",
    traffic=lambda size: size * size,  # a byte is written for each pair
)


@check(aspect="performance", threshold="causal_mask")
def test_causal_mask_speed(speed):
    """a causal mask is filled by the tensor, not by Python

    > Tensors fill it, no loop in Python does
    """
    speed.ratio(CAUSAL)


# --- padding_mask ---


def padding_inputs(draw, size):
    """Draw tokens whose padding is anywhere, so that only a look at each of them tells."""
    return (draw.integers(0, 4, batch=SEQUENCES, time=size),)


def padding_right(mask, tokens):
    expect(mask, "mask", axes="batch head query key").equals(tokens.ne(0)[:, None, None, :].cpu())


PADDING = Work(
    inputs=padding_inputs,
    call=lambda kata, tokens: kata.padding_mask(tokens),
    right=padding_right,
    sizes={"cpu": (2048, 4096), "cuda": (4096, 8192)},
    axis="positions",
    traffic=lambda size: SEQUENCES * size * (8 + 1),  # int64 tokens are read, booleans written
)


@check(aspect="performance", threshold="padding_memory")
def test_padding_mask_memory(speed):
    """a padding mask needs memory for each token, not for each pair of them

    > a padding mask takes memory for each token, not for each pair of them
    """
    speed.memory_exponent(PADDING)
