"""A model that was trained with softmax reads with linear attention: what it costs at length, and what is lost."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pydoc_data import topics
from typing import Any

import smollm2
import torch
from torch import Tensor
from torch.nn import functional as F

from grader.learner.demos.exhibits import Exhibit, bars, lines, table, text

try:
    from mine import linear_attention
except ImportError:  # the learner's does not pass yet: the demo's replaces it
    from demo import linear_attention
try:
    from mine import ModernLM
except ImportError:  # the cost is shown without it
    ModernLM = None

NEEDS = ()
LENGTHS = (512, 1024, 2048, 4096, smollm2.LONGEST)
READ, CAPITAL = 300, "The capital of France is"
"""Tokens of a text that the loss is taken of, and what is asked."""
WIDTH = 64
Step = Callable[[str, int, int], None]


def run(step: Step, data: dict[str, str], own: str | None, prompt: str | None) -> list[Exhibit]:
    """Time both kinds of attention, and put one in the place of the other."""
    shown = [_cost(step), _matrix()]
    if "smollm2" in data and ModernLM is not None:
        shown += _lost(step, data["smollm2"], own or topics.topics["for"], prompt or CAPITAL)
        rest = "Then linear attention takes the place of softmax in some layers of the trained model."
    else:
        rest = "What is lost is measured in your ModernLM: kata data get smollm2, and pass modern-block."
    said = f"Attention of SmolLM2's size, {smollm2.HEADS} heads of width {WIDTH}, at lengths up to the "
    said += f"{smollm2.LONGEST:,} tokens that it reads. {rest}"
    return [text("Attention at length", said), *shown]


@torch.no_grad()
def _cost(step: Step) -> Exhibit:
    ways = {
        "softmax": lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True),
        "linear": lambda q, k, v: linear_attention(q, k, v, causal=True),
    }
    curves: dict[str, tuple[list[int], list[float]]] = {name: ([*LENGTHS], []) for name in ways}
    for number, length in enumerate(LENGTHS, 1):
        given = [torch.randn(1, smollm2.HEADS, length, WIDTH) for _ in range(3)]
        for name, way in ways.items():
            # Its own processor time: what others do on this machine is not part of the cost.
            since = time.process_time()
            way(*given)
            curves[name][1].append(1000 * (time.process_time() - since))
        step("timing", number, len(LENGTHS))
    note = "Twice the length: four times the work for all pairs, twice for a state that is carried along."
    slower = curves["linear"][1][-1] / curves["softmax"][1][-1]
    if slower > 1:
        note += f" At {LENGTHS[-1]:,} tokens your linear one takes {slower:.1f} times as long as torch's own softmax: "
        note += "up to here it saves memory alone, and the lines cross further right."
    axes = {"x_axis": "tokens", "y_axis": "milliseconds"}
    return lines("One layer, causal", curves, **axes, log_x=True, log_y=True, note=note)


def _matrix() -> Exhibit:
    state = f"{4e-6 * smollm2.HEADS * WIDTH * (WIDTH + 1):.2f}"
    rows = [[f"{length:,}", f"{4e-6 * smollm2.HEADS * length**2:,.0f}", state] for length in LENGTHS]
    return table("Megabytes of one layer", ["tokens", "all pairs", "linear, the state"], rows)


@torch.no_grad()
def _lost(step: Step, folder: str, source: str, prompt: str) -> list[Exhibit]:
    step("loading", 0, 1)
    vocabulary = smollm2.Vocabulary(folder)
    model, _ = smollm2.model_of(ModernLM, folder)
    ids = torch.tensor([vocabulary.encode(source[: 8 * READ])[:READ]])
    asked = torch.tensor([vocabulary.encode(prompt)])
    count = len(model.layers)
    costs, rows = {}, []
    parts = sorted({0, 1, count // 4, count})
    for number, part in enumerate(parts, 1):
        with linear(model, range(part)):
            costs[f"{part} of {count}"] = float(F.cross_entropy(model(ids)[0][0, :-1], ids[0, 1:]))
            best = model(asked)[0][0, -1].softmax(-1).topk(3)
        said = [
            f"{vocabulary.decode([int(at)])} {float(chance):.0%}" for chance, at in zip(*best, strict=True)
        ]
        rows.append([f"{part} of {count}", ", ".join(said)])
        step("reading", number, len(parts))
    note = "Its weights were trained for softmax: models with linear attention are trained with it from the start."
    loss = {"nats a token": list(costs.values())}
    return [
        bars(
            "Linear attention in the first layers: what a token costs",
            list(costs),
            loss,
            y_axis="nats",
            note=note,
        ),
        table(f"What comes after “{prompt}”", ["linear layers", "likeliest"], rows),
    ]


@contextmanager
def linear(model: Any, layers: range) -> Iterator[None]:
    """Let linear attention replace that of some layers, from the queries, keys and values that they compute."""
    handles, base = [], smollm2.base_of(type(model))
    for layer in (model.layers[number] for number in layers):
        seen: dict[str, Tensor] = {}

        def keep(part: str, seen: dict[str, Tensor]) -> Callable[..., None]:
            return lambda _, __, out: seen.update({part: out})

        def put(_: Any, __: Any, seen: dict[str, Tensor] = seen) -> tuple[Tensor]:
            q, k, v = (
                seen[part].unflatten(-1, (heads, -1)).transpose(1, 2)
                for part, heads in (("w_q", smollm2.HEADS), ("w_k", smollm2.SHARED), ("w_v", smollm2.SHARED))
            )
            k, v = (x.repeat_interleave(smollm2.HEADS // smollm2.SHARED, dim=1) for x in (k, v))
            y = linear_attention(smollm2.turned(q, base), smollm2.turned(k, base), v, causal=True)
            return (y.transpose(1, 2).flatten(2),)

        attention = layer.attention
        handles += [
            getattr(attention, part).register_forward_hook(keep(part, seen)) for part in ("w_q", "w_k", "w_v")
        ]
        handles.append(attention.w_o.register_forward_pre_hook(put))
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()
