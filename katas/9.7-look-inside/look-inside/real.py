"""A real model looked into: its induction heads found by the score and switched off, and what each layer would say."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import smollm2
import torch
from torch import Tensor
from torch.nn import functional as F

from grader.learner.demos.exhibits import Exhibit, bars, heatmap, lines, panel, table, text

try:
    from mine import ablate_heads, induction_score
except ImportError:  # the learner's do not pass yet: the demo's replace them
    from demo import ablate_heads, induction_score
try:
    from mine import ModernLM
except ImportError:
    from demo import ModernLM

NEEDS = ("smollm2",)
PERIOD, ROWS, OFF, WEAK = 40, 2, 8, 0.1
"""Random tokens that are repeated once, texts of them, heads that are switched off; scores below it are not shown."""
CAPITAL, PARIS = "The capital of France is", " Paris"


def run(
    step: Callable[[str, int, int], None], data: dict[str, str], own: str | None, prompt: str | None
) -> list[Exhibit]:
    """Find the heads that copy, and switch them off."""
    step("loading", 0, 5)
    vocabulary = smollm2.Vocabulary(data["smollm2"])
    model, options = smollm2.model_of(ModernLM, data["smollm2"])
    for layer in model.layers:
        layer.attention.num_heads = smollm2.HEADS
    half = torch.randint(
        100, len(vocabulary.tokens), (ROWS, PERIOD), generator=torch.Generator().manual_seed(0)
    )
    tokens = torch.cat((half, half), dim=1)
    step("finding heads", 1, 5)
    with torch.no_grad(), watched(model, smollm2.base_of(ModernLM)) as weights:
        whole = paid(model, tokens)
        if len(weights) < len(model.layers):
            raise ValueError(
                "ModernLM is watched where it calls w_q, w_k and w_o: it has to call them as modules"
            )
        scores = induction_score(torch.stack(weights), PERIOD).mean(1)  # [layers, H]
    best = [divmod(int(at), smollm2.HEADS) for at in scores.flatten().topk(OFF).indices]
    near = [(layer, head) for layer in {layer for layer, _ in best} for head in range(smollm2.HEADS)]
    others = sorted(set(near) - set(best), key=lambda one: float(scores[one]))[:OFF]
    costs = {"all heads on": whole}
    for number, (name, heads) in enumerate(
        ((f"the best {OFF} off", best), (f"{len(others)} others off", others)), 2
    ):
        step("switching heads off", number, 5)
        costs[name] = without(model, tokens, heads)
    step("looking at layers", 4, 5)
    lens = _lens(model, vocabulary, prompt or CAPITAL, None if prompt else PARIS)
    layers, named = len(scores), [f"head {head}" for head in range(smollm2.HEADS)]
    # Thirty rows, most of them empty, would push what was found out of a terminal's sight.
    strong = [layer for layer in range(layers) if scores[layer].max() >= WEAK] or [best[0][0]]
    parts = {
        name: (float(cost[:, : PERIOD - 1].mean()), float(cost[:, PERIOD:].mean()))
        for name, cost in costs.items()
    }
    curves = {
        name: (list(range(1, cost.shape[1] + 1)), cost.mean(0).tolist()) for name, cost in costs.items()
    }
    said = f"{PERIOD} tokens drawn at random, then the same again: nothing helps with the second half but looking up "
    said += f"what followed last time. The score says which heads do. {options}"
    return [
        text("Heads of SmolLM2", said),
        heatmap("Induction score of each head",
                [panel("score", scores[strong], [f"layer {i}" for i in strong], named)], row_axis="layer",
                column_axis="head", note=f"Of {layers} layers, those with a head that scores {WEAK} or more."),
        table("The heads that copy most", ["layer", "head", "score"],
              [[layer, head, f"{float(scores[layer, head]):.2f}"] for layer, head in best]),
        bars(f"Switched off: what a token costs without {OFF} of {layers * smollm2.HEADS} heads", list(parts),
             {"first half": [one for one, _ in parts.values()], "second half": [two for _, two in parts.values()]},
             y_axis="nats a token", note="The others are the heads of the same layers that copy least."),
        lines("Token by token", curves, x_axis="position", y_axis="nats",
              note=f"From position {PERIOD} on, everything has been read before."),
        lens,
    ]  # fmt: skip


def paid(model: Any, tokens: Tensor) -> Tensor:
    """Return what each token but the first costs."""
    logits = model(tokens)[0][:, :-1]
    return F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten(), reduction="none").view(
        len(tokens), -1
    )


@torch.no_grad()
def without(model: Any, tokens: Tensor, heads: list[tuple[int, int]]) -> Tensor:
    """Return what tokens cost while heads are off."""
    with ExitStack() as off:
        for layer in {layer for layer, _ in heads}:
            off.enter_context(ablate_heads(model, layer, [head for at, head in heads if at == layer]))
        return paid(model, tokens)


@contextmanager
def watched(model: Any, base: float) -> Iterator[list[Tensor]]:
    """Collect each layer's attention weights, computed anew from its queries and keys."""
    seen: dict[str, Tensor] = {}
    found: list[Tensor] = []

    def heads(name: str) -> Tensor:
        return smollm2.turned(seen[name].unflatten(-1, (-1, width)).transpose(1, 2), base)

    def finish(*_: Any) -> None:
        queries, keys = heads("w_q"), heads("w_k")
        keys = keys.repeat_interleave(queries.shape[1] // keys.shape[1], dim=1)
        scores = queries @ keys.mT / width**0.5
        later = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
        found.append(scores.masked_fill(later, -torch.inf).softmax(-1))

    width = model.layers[0].attention.w_q.out_features // smollm2.HEADS
    handles = []
    for layer in model.layers:
        for name in ("w_q", "w_k"):
            part = getattr(layer.attention, name)
            handles.append(part.register_forward_hook(lambda _, __, out, name=name: seen.update({name: out})))
        handles.append(layer.attention.w_o.register_forward_pre_hook(finish))
    try:
        yield found
    finally:
        for handle in handles:
            handle.remove()


@torch.no_grad()
def _lens(model: Any, vocabulary: smollm2.Vocabulary, prompt: str, answer: str | None) -> Exhibit:
    streams: list[Tensor] = []

    def keep(_: Any, inputs: tuple[Tensor, ...]) -> None:
        streams.append(inputs[0][0, -1])

    # The next norm is given what a layer made: a layer itself need not be called as one module.
    norms = [*(layer.norm1 for layer in model.layers[1:]), model.norm]
    handles = [norm.register_forward_pre_hook(keep) for norm in norms]
    last = model(torch.tensor([vocabulary.encode(prompt)]))[0][0, -1]
    for handle in handles:
        handle.remove()
    token = vocabulary.encode(answer)[0] if answer else int(last.argmax())
    chances = [float(model.head(model.norm(stream)).softmax(-1)[token]) for stream in streams]
    said = vocabulary.decode([token])
    curve = {f"chance of “{said}”": (list(range(1, len(chances) + 1)), chances)}
    note = "The last norm and the head read the residual stream early: the logit lens."
    title, axes = (
        f"What each layer would say after “{prompt}”",
        {"x_axis": "after layer", "y_axis": "probability"},
    )
    return lines(title, curve, **axes, note=note)
