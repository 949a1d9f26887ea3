"""Does the time grow with the length alone? Speed checks of 9.8.2, for `kata check --perf`."""

from __future__ import annotations

import torch

from grader.checks import Work, check, expect

HEADS, WIDTH = 4, 32


def triple(draw, length):
    return tuple(draw.normal(head=HEADS, time=length, width=WIDTH) for _ in range(3))


def features(x):
    return torch.nn.functional.elu(x.cpu()) + 1


def right_over_all(found, query, key, value):
    """Compare some rows: all of them would be the square that is not wanted."""
    rows = slice(0, query.shape[1], 97)
    weights = features(query[:, rows]) @ features(key).mT
    wanted = weights @ value.cpu() / weights.sum(-1, keepdim=True)
    expect(found[:, rows], "some rows of the output", axes="head query width").close_to(wanted, 1e-3)


def right_from_the_left(found, query, key, value):
    rows = torch.arange(0, query.shape[1], 97)
    weights = features(query[:, rows]) @ features(key).mT
    weights = weights * (torch.arange(key.shape[1]) <= rows[:, None])
    wanted = weights @ value.cpu() / weights.sum(-1, keepdim=True)
    expect(found[:, rows], "some rows of the output", axes="head query width").close_to(wanted, 1e-3)


BOTH = Work(
    inputs=triple,
    call=lambda kata, query, key, value: kata.linear_attention(query, key, value),
    right=right_over_all,
    sizes={"cpu": (512, 4096), "cuda": (2048, 16384)},
    axis="positions",
)
CAUSAL = Work(
    inputs=triple,
    call=lambda kata, query, key, value: kata.linear_attention(query, key, value, causal=True),
    right=right_from_the_left,
    sizes={"cpu": (256, 2048)},
    axis="positions",
)


@check(aspect="performance", threshold="both")
def test_linear_speed(speed):
    """eight times the length takes about eight times as long

    > eight times the length takes about eight times as long
    """
    speed.growth(BOTH)


@check(aspect="performance", threshold="causal")
def test_causal_speed(speed):
    """causal, too, eight times the length takes about eight times as long

    > eight times the length takes about eight times as long
    """
    speed.growth(CAUSAL)
