"""Is the feed-forward network fast? Speed checks of 9.3.4, for `kata check --perf`."""

from __future__ import annotations

import torch
from torch.nn import functional as F
from torch.nn.functional import linear

from grader.checks import Work, check, expect, oracle

D, FF, TIME = 512, 2048, 32


def parameters():
    generator = torch.Generator().manual_seed(934)
    state = {}
    for name, rows, columns in (("linear1", FF, D), ("gate", FF, D), ("linear2", D, FF)):
        state[f"{name}.weight"] = torch.randn(rows, columns, generator=generator) * columns**-0.5
        state[f"{name}.bias"] = torch.randn(rows, generator=generator)
    return state


STATE = parameters()


def layer(name, x, state):
    return linear(x, state[f"{name}.weight"], state[f"{name}.bias"])


def relu_network(x, state):
    return layer("linear2", F.relu(layer("linear1", x, state)), state)


def swiglu_network(x, state):
    return layer("linear2", F.silu(layer("gate", x, state)) * layer("linear1", x, state), state)


def work(activation, network, products):
    state = {name: t for name, t in STATE.items() if products == 3 or not name.startswith("gate")}

    def prepare(kata, size):
        module = kata.FeedForward(D, FF, activation)
        module.load_state_dict(state, strict=False)  # a layer may have a second name
        return module.requires_grad_(False)

    def right(result, x):
        expect(result, "output", axes="batch time width").close_to(oracle(network, x, state))

    return Work(
        prepare=prepare,
        inputs=lambda draw, size: (draw.normal(batch=size, time=TIME, width=D),),
        call=lambda module, x: module(x),
        right=right,
        sizes={"cpu": (1, 2, 4), "cuda": (4, 8, 16)},
        axis="sequences",
        flops=lambda batch: 2 * products * batch * TIME * D * FF,
    )


RELU = work("relu", relu_network, 2)
SWIGLU = work("swiglu", swiglu_network, 3)


@check(aspect="performance", threshold="feed_forward")
def test_feed_forward_speed(speed):
    """the network is two products over all positions

    > the network is two products over all positions at once, three with a gate
    """
    speed.ratio(RELU)


@check(aspect="performance", threshold="gate")
def test_gate_speed(speed):
    """with a gate the network is three products over all positions

    > the network is two products over all positions at once, three with a gate
    """
    speed.ratio(SWIGLU)
