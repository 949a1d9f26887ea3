"""The encoder layer live: where its parameters are, what it costs by depth and length, what each layer changes."""

from __future__ import annotations

import time

import torch
from mine import Encoder, EncoderLayer
from torch import Tensor, nn

from grader.demos.exhibits import Exhibit, bars, choice, heatmap, lines, panel, table

D_MODEL, HEADS, D_FF = 64, 4, 256
LENGTHS = [32, 64, 128, 256, 512]
DEPTHS = [1, 2, 4, 8]


def demo() -> list[Exhibit]:
    """Return what the kata shows."""
    torch.manual_seed(0)
    return [
        _parameters(),
        _cost_by_length(),
        _time_by_length(),
        _cost_by_depth(),
        _similarity(),
        _size_by_depth(),
    ]


def count(module: nn.Module) -> int:
    """Return the number of parameters."""
    return sum(parameter.numel() for parameter in module.parameters())


def flops(length: int) -> dict[str, float]:
    """Return the multiply-adds of one layer for one sequence, twice each as is usual."""
    return {
        "projections (4 D²)": 2 * length * 4 * D_MODEL**2,
        "scores and averages (2 T D)": 2 * length * 2 * length * D_MODEL,
        "feed-forward (2 D d_ff)": 2 * length * 2 * D_MODEL * D_FF,
    }


def _parameters() -> Exhibit:
    layer = EncoderLayer(D_MODEL, HEADS, D_FF)
    parts = {name: count(getattr(layer, name)) for name in ("attention", "feed_forward", "norm1", "norm2")}
    rows = [[name, size, f"{size / count(layer):.0%}"] for name, size in parts.items()]
    return table(
        f"Where the parameters are (D = {D_MODEL}, {HEADS} heads, d_ff = {D_FF})",
        ["part", "parameters", "share"],
        [
            *rows,
            ["one layer", count(layer), "100%"],
            ["6 layers and a last norm", count(Encoder(6, D_MODEL, HEADS, D_FF)), ""],
        ],
        note="With d_ff = 4 D the feed-forward network has twice as many as attention. The norms hardly count.",
    )


def _cost_by_length() -> Exhibit:
    series = {name: (LENGTHS, [flops(length)[name] / 1e6 for length in LENGTHS]) for name in flops(1)}
    return lines(
        "Arithmetic of one layer against the length",
        series,
        x_axis="length T",
        y_axis="million operations",
        log_x=True,
        log_y=True,
        note="Two parts grow with T, one with T². It overtakes the projections at T = 2 D and the rest at T = 6 D.",
    )


def _time_by_length() -> Exhibit:
    layer = EncoderLayer(D_MODEL, HEADS, D_FF).eval()
    times = [_least_ms(layer, torch.randn(4, length, D_MODEL)) for length in LENGTHS]
    per_token = [1000 * t / (4 * length) for t, length in zip(times, LENGTHS, strict=True)]
    return table(
        "Time of one layer, measured here (4 sequences, one thread)",
        ["length", "ms", "µs a token"],
        [[length, round(t, 2), round(u, 2)] for length, t, u in zip(LENGTHS, times, per_token, strict=True)],
        note=f"Were the cost only linear in the length, a token would cost the same at every length. Here it costs "
        f"{per_token[0]:.1f} µs at {LENGTHS[0]} and {per_token[-1]:.1f} µs at {LENGTHS[-1]}. Two things move it: the "
        "calls, whose cost many tokens share, and the table of T × T, of which each token pays a row.",
    )


def _cost_by_depth() -> Exhibit:
    x = torch.randn(4, 64, D_MODEL)
    times, sizes = [], []
    for depth in DEPTHS:
        encoder = Encoder(depth, D_MODEL, HEADS, D_FF).eval()
        times.append(_least_ms(encoder, x))
        sizes.append(count(encoder) / 1000)
    return table(
        "Depth: parameters and time, measured here",
        ["layers", "thousand parameters", "ms", "ms a layer"],
        [
            [d, round(s, 1), round(t, 2), round(t / d, 2)]
            for d, s, t in zip(DEPTHS, sizes, times, strict=True)
        ],
        note=f"From {DEPTHS[0]} to {DEPTHS[-1]} layers: {sizes[-1] / sizes[0]:.1f} times the parameters, "
        f"{times[-1] / times[0]:.1f} times the time. Layers run one after the other and share nothing.",
    )


def _states(encoder: Encoder, x: Tensor) -> list[Tensor]:
    states = [x]
    with torch.no_grad():
        for layer in encoder.layers:
            states.append(layer(states[-1]))
    return states


def _similarity() -> Exhibit:
    x = torch.randn(8, 32, D_MODEL)
    frames, kept = {}, []
    for name, norm_first in (("pre-norm", True), ("post-norm", False)):
        states = [
            s.flatten(0, 1)
            for s in _states(Encoder(6, D_MODEL, HEADS, D_FF, norm_first=norm_first).eval(), x)
        ]
        cosines = [[float(torch.cosine_similarity(a, b, dim=-1).mean()) for b in states] for a in states]
        labels = ["input", *(str(depth) for depth in range(1, 7))]
        kept.append(f"{name} {cosines[0][-1]:.2f}")
        frames[name] = heatmap(
            "cosine",
            [panel(name, cosines, labels, labels)],
            row_axis="after layer",
            column_axis="after layer",
        )
    return choice(
        "How alike are the representations of a token after each layer? (cosine, untrained)",
        "norm",
        frames,
        note=f"Input against the last layer: {', '.join(kept)}. The residual path keeps the input in view.",
    )


def _size_by_depth() -> Exhibit:
    x = torch.randn(8, 32, D_MODEL)
    sizes = {}
    for name, norm_first in (("pre-norm", True), ("post-norm", False)):
        states = _states(Encoder(6, D_MODEL, HEADS, D_FF, norm_first=norm_first).eval(), x)
        sizes[name] = [float(state.norm(dim=-1).mean()) for state in states]
    return bars(
        "Length of a token's vector after each layer",
        ["input", *range(1, 7)],
        sizes,
        y_axis="mean norm",
        note="From the input to the last layer: "
        + ", ".join(f"{name} {lengths[0]:.1f} to {lengths[-1]:.1f}" for name, lengths in sizes.items())
        + ". A pre-norm stream is only ever added to; that is why the encoder ends with a norm of its own.",
    )


@torch.no_grad()
def _least_ms(module: nn.Module, x: Tensor) -> float:
    times = []
    for _ in range(7):
        start = time.perf_counter()
        module(x)
        times.append(1000 * (time.perf_counter() - start))
    return min(times)
