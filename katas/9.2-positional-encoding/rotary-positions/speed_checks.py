"""Are all pairs of all rows turned at once? Speed check of 9.2.2, for `kata check --perf`."""

from __future__ import annotations

import torch

from grader.checks import Work, check, expect, oracle

HEADS, WIDTH = 2, 256


def rows(draw, length):
    return (draw.normal(head=HEADS, time=length, width=WIDTH),)


def turned(x):
    wide = torch.promote_types(torch.get_default_dtype(), torch.float32)
    columns = torch.arange(0, WIDTH, 2, dtype=wide)
    angle = torch.arange(x.shape[-2], dtype=wide)[:, None] * 10000.0 ** (-columns / WIDTH)
    turns = torch.polar(torch.ones_like(angle), angle)
    return torch.view_as_real(torch.view_as_complex(x.to(wide).unflatten(-1, (-1, 2))) * turns).flatten(-2)


def right(found, x):
    expect(found, "rotated", axes="head time width").close_to(oracle(turned, x.cpu()), 1e-3)


ROTATION = Work(
    inputs=rows,
    call=lambda kata, x: kata.rotate(x),
    right=right,
    sizes={"cpu": (32, 64, 128), "cuda": (64, 128, 256)},
    axis="rows",
    traffic=lambda length: 2 * HEADS * length * WIDTH * 4,
)


@check(aspect="performance", threshold="rotate")
def test_rotate_speed(speed):
    """all pairs of all rows are turned at once, by slices

    > All pairs of all rows are turned at once: no loop over pairs or positions, and no matrix for each position.
    """
    speed.ratio(ROTATION)
