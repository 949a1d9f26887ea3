"""Your own language model on a real text: the documentation of Python, or one of yours, character by character."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from pydoc_data import topics

import torch
from budget import steps_within
from mine import generate, train

from grader.learner.demos.exhibits import Exhibit, choice, lines, table, text

NEEDS = ("language-model-capstone",)
SECONDS, MOST, TRIED = 150.0, 3000, 20
"""How long it trains, the most steps, and steps that show how long one takes."""
PARTS, WRITTEN = (0.02, 0.2, 1.0), 240
"""Parts of the steps after which it writes a sample, and how much it writes."""
Step = Callable[[str, int, int], None]


def run(step: Step, data: dict[str, str], own: str | None, prompt: str | None) -> list[Exhibit]:
    """Train for some minutes, with fewer steps first; show what each writes."""
    source = own or "\n".join(topics.topics.values())
    characters = sorted(one for one, _ in Counter(source).most_common(120))
    ids = {one: number for number, one in enumerate(characters)}
    tokens = torch.tensor([ids[one] for one in source if one in ids])
    within = steps_within(SECONDS, lambda count: train(tokens, len(characters), count, 0), TRIED, PARTS)
    steps = int(min(MOST, within))
    start = "".join(one for one in prompt or source[:1] if one in ids) or characters[0]
    begin = torch.tensor([[ids[one] for one in start]])
    frames, rows, logged = {}, [], []
    for number, part in enumerate(PARTS):
        count = max(1, int(part * steps))
        step(f"training, {count:,} steps", number, len(PARTS))
        # The same seed: the longer run begins like the shorter one, but for a schedule that knows where it ends.
        model, logged = train(tokens, len(characters), count, 1)
        written = generate(model, begin, WRITTEN, temperature=0.7, generator=torch.Generator().manual_seed(3))
        said = "".join(characters[one] for one in written[0].tolist())
        frames[f"{count:,} steps"] = text(
            "written", "\n\n".join(line for line in said.split("\n") if line.strip())
        )
        last = sum(loss for _, loss, _ in logged[-10:]) / len(logged[-10:])
        rows.append([f"{count:,}", f"{last:.2f}", f"{math.exp(last):.1f}"])
    step("done", len(PARTS), len(PARTS))
    of = "your text" if own else "the documentation of Python"
    return [
        text("Your language model, on a real text", f"{len(tokens):,} characters of {of}, {len(characters)} kinds. "
             f"Model, training and sampling are yours; a blind guess costs {math.log(len(characters)):.2f} nats."),
        choice("What it writes, by steps of training", "training", frames, start=len(frames) - 1, slider=True),
        lines("Loss of the longest run", {"loss": ([s for s, _, _ in logged], [loss for _, loss, _ in logged])},
              x_axis="step", y_axis="nats a character"),
        table("Where each run ended", ["steps", "loss", "as if it chose among"], rows),
    ]  # fmt: skip
