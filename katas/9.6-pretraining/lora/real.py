"""A real model adapted: SmolLM2 reads a text with an adapter, writes with it, and is itself again afterwards."""

from __future__ import annotations

from collections.abc import Callable
from pydoc_data import topics
from typing import Any

import smollm2
import torch
from budget import Budget
from torch import Tensor
from torch.nn import functional as F

from grader.learner.demos.exhibits import Exhibit, lines, table, text

try:
    from mine import adapter_state, inject, merge, unmerge
except ImportError:  # the learner's do not pass yet: the demo's replace them
    from demo import adapter_state, inject, merge, unmerge
try:
    from mine import ModernLM
except ImportError:
    from demo import ModernLM

NEEDS = ("smollm2",)
NAMES, RANK, SECONDS, LENGTH, MOST, WRITTEN = ["w_q", "w_v"], 8, 120.0, 128, 6000, 40
"""What is adapted, for how long; tokens of a window, tokens that are read, tokens that are written."""
PROMPT = "The statement"
Step = Callable[[str, int, int], None]


def run(step: Step, data: dict[str, str], own: str | None, prompt: str | None) -> list[Exhibit]:
    """Adapt the model to a text, and take the adapter out again."""
    step("loading", 0, round(SECONDS))
    vocabulary = smollm2.Vocabulary(data["smollm2"])
    model, options = smollm2.model_of(ModernLM, data["smollm2"])
    ids = torch.tensor(vocabulary.encode((own or "\n\n".join(topics.topics.values()))[: 8 * MOST])[:MOST])
    if len(ids) < 40:
        raise ValueError(f"a text of {len(ids)} tokens is too short: 40 or more are needed")
    cut = len(ids) * 9 // 10
    start = vocabulary.encode(prompt or PROMPT)
    torch.manual_seed(0)
    inject(model, NAMES, RANK, 2 * RANK)
    rows = [["before", _continued(model, vocabulary, start)]]
    before = {name: value for name, value in model.state_dict().items() if name.endswith("base.weight")}
    before = {name: value.clone() for name, value in before.items()}
    curve = _learn(step, model, ids[:cut], ids[cut - 1 :])
    rows.append(["with the adapter", _continued(model, vocabulary, start)])
    merge(model)
    rows.append(["merged", _continued(model, vocabulary, start)])
    unmerge(model)
    state, after = adapter_state(model), model.state_dict()
    same = sum(torch.equal(after[name], value) for name, value in before.items())
    size, whole = (sum(value.numel() for value in values) for values in (state.values(), model.parameters()))
    of = "your text" if own else "the documentation of Python"
    said = (
        f"{cut:,} tokens of {of}, {curve[0][-1]} steps. The adapter has {size:,} numbers, the model {whole - size:,}. "
        f"After unmerge {same} of {len(before)} weights have the bits of before. {options}"
    )
    return [
        text("SmolLM2 with an adapter", said),
        lines("What a token costs in the last tenth, which it did not learn from", {"loss": curve}, x_axis="step",
              y_axis="nats a token"),
        table("What it writes", ["", "text"], rows),
    ]  # fmt: skip


def _learn(step: Step, model: Any, read: Tensor, held: Tensor) -> tuple[list[int], list[float]]:
    """Take steps on windows until the time is over; return what the held-out text costs on the way."""
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-3, weight_decay=0.0)
    length, generator = min(LENGTH, len(read) - 1), torch.Generator().manual_seed(0)
    curve: tuple[list[int], list[float]] = ([0], [_cost(model, held)])
    budget, number = Budget(SECONDS), 0
    while (spent := budget.spent()) < 1:
        begin = int(torch.randint(len(read) - length, (), generator=generator))
        optimizer.zero_grad()
        _loss(model, read[begin : begin + length + 1]).backward()
        optimizer.step()
        number += 1
        step("learning", round(SECONDS * spent), round(SECONDS))
        if number % 10 == 0:
            curve[0].append(number)
            curve[1].append(_cost(model, held))
    return curve


def _loss(model: Any, ids: Tensor) -> Tensor:
    return F.cross_entropy(model(ids[None, :-1])[0][0], ids[1:])


@torch.no_grad()
def _cost(model: Any, held: Tensor) -> float:
    return float(_loss(model, held[: 2 * LENGTH]))


@torch.no_grad()
def _continued(model: Any, vocabulary: smollm2.Vocabulary, ids: list[int]) -> str:
    """Return what it writes, always the best token, reading everything again at each step."""
    ids = [*ids]
    for _ in range(WRITTEN):
        ids.append(int(model(torch.tensor([ids]))[0][0, -1].argmax()))
    return vocabulary.decode(ids)
