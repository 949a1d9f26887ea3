"""Is layer norm fast? Speed checks of 9.3.3, for `kata check --perf`."""

from __future__ import annotations

import torch
from torch.nn.functional import layer_norm

from grader.checks import Work, check, expect, oracle

D = 768


def parameters():
    generator = torch.Generator().manual_seed(933)
    return {
        "weight": 1.0 + 0.5 * torch.randn(D, generator=generator),
        "bias": torch.randn(D, generator=generator),
    }


STATE = parameters()


def prepare(kata, size):
    module = kata.LayerNorm(D)
    module.load_state_dict(STATE, strict=False)  # buffers of its own stay as they are
    return module.requires_grad_(False)


def right(result, x):
    def normalized(x, weight, bias):
        return layer_norm(x, (D,), weight, bias)

    expect(result, "output", axes="row width").close_to(oracle(normalized, x, *STATE.values()))


LAYER_NORM = Work(
    prepare=prepare,
    inputs=lambda draw, size: (draw.normal(row=size, width=D, scale=10.0, shift=5.0),),
    call=lambda module, x: module(x),
    right=right,
    sizes={"cpu": (96, 192, 384), "cuda": (96, 192, 384)},
    axis="rows",
    traffic=lambda rows: 2 * rows * D * 4,
)


@check(aspect="performance", threshold="layer_norm")
def test_layer_norm_speed(speed):
    """all positions are normalised at once

    > all positions are normalised at once, in a few passes over the memory that x takes
    """
    speed.ratio(LAYER_NORM)


@check(aspect="performance", threshold="layer_norm_roofline")
def test_layer_norm_roofline(speed):
    """the time is that of a few passes over the memory that x takes

    > all positions are normalised at once, in a few passes over the memory that x takes
    """
    speed.roofline(LAYER_NORM)
