"""Feed-forward live: three activations, what expansion costs, and what each can fit with equal parameters."""

from __future__ import annotations

import statistics
import time
from typing import Any

import torch
from mine import EncoderLayer, FeedForward, gelu
from torch import Tensor, nn
from torch.nn import functional as F

from grader.learner.demos.exhibits import Exhibit, bars, choice, lines, question, table

ACTIVATIONS = ("relu", "gelu", "swiglu")
NAMES = {"relu": "ReLU", "gelu": "GELU", "swiglu": "SwiGLU"}
D_MODEL, HEADS = 128, 4
EXPANSIONS = (1, 2, 4, 8)
HIDDEN = {"relu": 40, "gelu": 40, "swiglu": 24}
"""Hidden units that give each network from one number to one number 121 parameters."""
STEPS, SEEDS = 400, 3
SHOWN = (0, 25, 50, 100, 200, STEPS)


def demo() -> list[Exhibit]:
    """Return what the kata shows."""
    return [*_curves(), _one_position_at_a_time(), *_cost(), _share(), *_fit(), _question()]


def _curves() -> list[Exhibit]:
    x = torch.linspace(-3, 2, 101, requires_grad=True)
    curves, slopes = {}, {}
    for activation in ACTIVATIONS:
        network = FeedForward(1, 1, activation)
        for parameter in network.parameters():
            nn.init.constant_(
                parameter, float(parameter.dim() > 1)
            )  # weights 1, biases 0: the activation is left
        y = network(x[:, None])[:, 0]
        (slope,) = torch.autograd.grad(y.sum(), x)
        curves[NAMES[activation]], slopes[NAMES[activation]] = (x, y), (x, slope)
    lowest = gelu(x.detach()).min()
    return [
        lines(
            "One hidden unit, with weights of 1: what comes out",
            curves,
            x_axis="x",
            y_axis="output",
            note=f"ReLU has a corner; GELU rounds it and dips to {lowest:.2f}. SwiGLU is a product of two "
            "projections of x, here both x itself: silu(x)·x, which grows like x².",
        ),
        lines(
            "Their slopes: what a gradient is multiplied with on its way back",
            slopes,
            x_axis="x",
            y_axis="slope",
            note="Left of 0 ReLU's slope is exactly 0: a unit that is negative on all data learns no more. "
            "The other two let something through there.",
        ),
    ]


def _one_position_at_a_time() -> Exhibit:
    torch.manual_seed(0)
    words = ["she", "gave", "him", "the", "book"]
    network, x = FeedForward(D_MODEL, 4 * D_MODEL, "gelu"), torch.randn(1, len(words), D_MODEL)
    changed = x.clone()
    changed[0, 2] += 1
    moved = (network(changed) - network(x))[0].norm(dim=-1)
    return bars(
        "Change the input at “him”: which outputs notice?",
        words,
        {"change": moved},
        y_axis="change of the output",
        note="Attention mixes positions, the feed-forward network never does: every word goes through it "
        "alone.",
    )


def _cost() -> list[Exhibit]:
    torch.set_num_threads(1)
    networks = {
        (activation, expansion): FeedForward(D_MODEL, expansion * D_MODEL, activation)
        for activation in ACTIVATIONS
        for expansion in EXPANSIONS
    }
    took = _measure(networks, torch.randn(4, 64, D_MODEL, generator=torch.Generator().manual_seed(1)))
    rows = []
    for expansion in EXPANSIONS:
        plain, gated = (_parameters(networks[activation, expansion]) for activation in ("relu", "swiglu"))
        megaflops = 2 * 2 * D_MODEL * expansion * D_MODEL / 1e6
        rows.append([f"{expansion} × {D_MODEL}", plain, gated, megaflops, 1.5 * megaflops])
    gelu_4, swiglu_4 = (took[activation, 4] / took["relu", 4] for activation in ("gelu", "swiglu"))
    return [
        table(
            f"Parameters and arithmetic, D = {D_MODEL}",
            ["d_ff", "parameters", "with a gate", "MFLOP a token", "with a gate"],
            rows,
            note="Two matrices of D × d_ff for ReLU and GELU, three with SwiGLU's gate; all in proportion "
            "to d_ff. For equal parameters SwiGLU gets two thirds of the width: 8/3 D instead of 4 D.",
        ),
        lines(
            "Measured here: a forward pass of 256 tokens",
            {NAMES[a]: (EXPANSIONS, [took[a, e] for e in EXPANSIONS]) for a in ACTIVATIONS},
            x_axis="expansion, d_ff / D",
            y_axis="milliseconds, median of 15",
            note=f"One thread. From 1 to 8, ReLU took {took['relu', 8] / took['relu', 1]:.1f} times as long "
            f"for 8 times the matrix work. At 4, GELU took {gelu_4:.1f} times as long as ReLU for the same "
            f"matrices, SwiGLU {swiglu_4:.1f} times for 1.5 times as much. The figures are this machine's, "
            "and differ from run to run.",
        ),
    ]


@torch.no_grad()
def _measure(networks: dict[tuple[str, int], nn.Module], x: Tensor) -> dict[tuple[str, int], float]:
    """Return the milliseconds of a forward pass: in turns, so that what disturbs one disturbs all."""
    times: dict[tuple[str, int], list[float]] = {key: [] for key in networks}
    for _ in range(18):
        for key, network in networks.items():
            start = time.perf_counter()
            network(x)
            times[key].append(time.perf_counter() - start)
    return {key: 1000 * statistics.median(found[3:]) for key, found in times.items()}


def _share() -> Exhibit:
    parts: dict[str, list[float]] = {"feed-forward": [], "attention": [], "norms": []}
    for expansion in EXPANSIONS:
        layer = EncoderLayer(D_MODEL, HEADS, expansion * D_MODEL)
        whole = _parameters(layer)
        own = [_parameters(layer.feed_forward), _parameters(layer.attention)]
        for name, count in zip(parts, [*own, whole - sum(own)], strict=True):
            parts[name].append(100 * count / whole)
    return bars(
        "What share of an encoder layer's parameters is it?",
        [f"d_ff = {expansion} D" for expansion in EXPANSIONS],
        parts,
        y_axis="% of the layer",
        note="Attention has 4 matrices of D × D, whatever d_ff is. At the usual expansion of 4, two thirds "
        "of a layer are feed-forward.",
    )


def _fit() -> list[Exhibit]:
    x = torch.linspace(-3, 3, 121)[:, None]
    target = torch.sin(2 * x) + 0.5 * x.abs()
    aim = (x[:, 0], target[:, 0])
    curves: dict[int, dict[str, Any]] = {step: {"target": aim} for step in SHOWN}
    rows = []
    for activation in ACTIVATIONS:
        errors = []
        for seed in range(SEEDS):
            torch.manual_seed(seed)
            network = FeedForward(1, HIDDEN[activation], activation)
            optimizer = torch.optim.Adam(network.parameters(), lr=0.02)
            for step in range(STEPS + 1):
                if seed == 0 and step in SHOWN:
                    curves[step][NAMES[activation]] = (x[:, 0], network(x).detach()[:, 0])
                if step == STEPS:
                    break
                loss = F.mse_loss(network(x), target)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            output = network(x).detach()
            errors.append(float(F.mse_loss(output, target)) ** 0.5)
        counted = [HIDDEN[activation], _parameters(network)]
        rows.append([NAMES[activation], *counted, *(round(error, 3) for error in errors)])
    means = ", ".join(f"{row[0]} {statistics.mean(row[-SEEDS:]):.2f}" for row in rows)
    return [
        choice(
            f"Fitted to sin 2x + |x|/2 in {STEPS} steps",
            "training step",
            {step: lines("fit", fits, x_axis="x", y_axis="y") for step, fits in curves.items()},
            start=len(SHOWN) - 1,
            slider=True,
            note="Look at the bends: a sum of ReLUs is made of straight pieces, the others are smooth.",
        ),
        table(
            "Error of the fit at equal parameters",
            ["activation", "hidden units", "parameters", *(f"draw {seed + 1}" for seed in range(SEEDS))],
            rows,
            note=f"Root of the mean squared error, for {SEEDS} draws of the first weights; on average "
            f"{means}. See also how much a draw matters: one small curve does not rank activations.",
        ),
    ]


def _parameters(module: nn.Module) -> int:
    return sum(parameter.numel() for parameter in module.parameters())


def _question() -> Exhibit:
    return question(
        "You change the vector of “him”. How many other words get another output from the feed-forward "
        "network?",
        seen="Change the input at",
        answer="None: its bar is 0 at every other word. Attention has bars everywhere.",
    )
