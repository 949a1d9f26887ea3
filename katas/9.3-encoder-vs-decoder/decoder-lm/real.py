"""Learn to write a real text, character by character: the documentation of Python, or a text of one's own."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from pydoc_data import topics

import torch
from budget import Budget
from torch import Tensor

from grader.learner.demos.exhibits import Exhibit, choice, lines, text

try:
    from mine import DecoderLM, generate, next_token_loss
except ImportError:  # the learner's do not pass yet: the demo's replace them
    from demo import DecoderLM, generate, next_token_loss

NEEDS = ()
SECONDS, BATCH, LENGTH, WRITTEN = 150.0, 24, 96, 300
SAMPLES = (0.0, 0.05, 0.2, 0.5, 1.0)
"""When it writes a sample: parts of the time."""
Step = Callable[[str, int, int], None]


def run(step: Step, data: dict[str, str], own: str | None, prompt: str | None) -> list[Exhibit]:
    """Train for some minutes; show what it writes on the way."""
    source = own or "\n".join(topics.topics.values())
    characters = sorted(one for one, _ in Counter(source).most_common(120))
    ids = {one: number for number, one in enumerate(characters)}
    tokens = torch.tensor([ids[one] for one in source if one in ids])
    cut = int(0.95 * len(tokens))
    if len(tokens) - cut <= LENGTH:
        raise ValueError(
            f"a text of {len(tokens)} characters is too short: {20 * LENGTH + 100} are the least"
        )
    learned, held = tokens[:cut], tokens[cut:]
    torch.manual_seed(0)
    model = DecoderLM(len(characters), 128, 4, 512, 3, LENGTH + WRITTEN + 8)
    start = "".join(one for one in prompt or source[:1] if one in ids)[:LENGTH] or characters[0]
    begun = torch.tensor([[ids[one] for one in start]])
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    budget, due, frames, seen = Budget(SECONDS), list(SAMPLES), {}, 0
    curves: dict[str, tuple[list[int], list[float]]] = {"learned from": ([], []), "held out": ([], [])}
    generator = torch.Generator().manual_seed(1)
    while due:
        done = budget.spent()
        if done >= due[0]:
            frames[f"{SECONDS * due.pop(0):.0f} s"] = text("written", _written(model, begun, characters))
        optimizer.param_groups[0]["lr"] = 2e-3 * min(1.0, seen / 50 + 0.02) * (1 - 0.95 * done)
        loss = _loss(model, learned, generator)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        seen += 1
        if seen % 10 == 1:
            step("training", round(SECONDS * done), round(SECONDS))
            curves["learned from"][0].append(seen)
            curves["learned from"][1].append(float(loss.detach()))
        if seen % 50 == 1:
            with torch.no_grad():
                cost = _loss(model, held, torch.Generator().manual_seed(2))
            curves["held out"][0].append(seen)
            curves["held out"][1].append(float(cost))
    last = curves["held out"][1][-1]
    of = "your text" if own else "the documentation of Python"
    said = f"{len(tokens):,} characters of {of}, at most {SECONDS:.0f} seconds of processor time, {seen:,} steps: "
    said += f"{last:.2f} nats a character, as if it chose among {math.exp(last):.1f}. In minutes a model of characters "
    said += "learns how its text is laid out, and words; sense takes more text and time."
    return [
        text("A model that has read one text", said),
        choice("What it writes, after so long", "training", frames, start=len(frames) - 1, slider=True),
        lines("Loss", curves, x_axis="steps", y_axis="nats a character"),
    ]  # fmt: skip


def _loss(model: torch.nn.Module, tokens: Tensor, generator: torch.Generator) -> Tensor:
    starts = torch.randint(len(tokens) - LENGTH, (BATCH,), generator=generator)
    batch = torch.stack([tokens[at : at + LENGTH] for at in starts.tolist()])
    return next_token_loss(model(batch)[0], batch)


def _written(model: torch.nn.Module, begun: Tensor, characters: list[str]) -> str:
    found = generate(
        model, begun, WRITTEN, temperature=0.7, top_k=20, generator=torch.Generator().manual_seed(3)
    )
    written = "".join(characters[number] for number in found[0].tolist())
    # A page makes one line of a paragraph: the text's own lines are what there is to see.
    return "\n\n".join(line for line in written.split("\n") if line.strip())
