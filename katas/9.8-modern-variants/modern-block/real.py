"""The block is a language model of today: SmolLM2 loaded into it strictly, asked, and timed with and without cache."""

from __future__ import annotations

import time
from collections.abc import Callable
from pydoc_data import topics
from typing import Any

import smollm2
import torch
from torch import Tensor
from torch.nn import functional as F

from grader.learner.demos.exhibits import Exhibit, bars, lines, table, text

try:
    from mine import ModernLM

    CACHED = True
except (
    ImportError
):  # the learner's does not pass yet: the demo's stand-in, which reads the whole text at every step
    from demo import ModernLM

    CACHED = False
try:
    from mine import top_p
except ImportError:
    top_p = None

NEEDS = ("smollm2",)
Step = Callable[[str, int, int], None]
CAPITAL = "The capital of France is"
QUESTION = "What is the capital of Italy, and what should I see there?"
ANSWER, TIMED, READ, LIKELIEST = 120, 24, 400, 1000
"""Tokens of an answer, steps that are timed, tokens of a text that the loss is taken of, tokens drawn from."""


class Writer:
    """Write one token after the other, with the cache or by reading everything again."""

    def __init__(self, model: Any, ids: list[int], cached: bool) -> None:
        self.model, self.ids, self.cached, self.cache = model, ids, cached, None
        self.generator = torch.Generator().manual_seed(0)

    @torch.no_grad()
    def step(self, sample: bool = False) -> tuple[int, float]:
        """Return the next token, and the seconds that it took."""
        started = time.perf_counter()
        new = self.ids if self.cache is None else self.ids[-1:]
        if self.cached:
            logits, self.cache = self.model(torch.tensor([new]), self.cache)
        else:
            logits, _ = self.model(torch.tensor([self.ids]))
        row = logits[0, -1]
        if sample and top_p is not None:
            # A filter that compares all tokens with all others is right, and of 49,152 it would need gigabytes.
            likely = row.topk(min(LIKELIEST, len(row)))
            chances = top_p(likely.values / 0.7, 0.9).softmax(-1)
            token = int(likely.indices[torch.multinomial(chances, 1, generator=self.generator)])
        else:
            token = int(row.argmax())
        self.ids = [*self.ids, token]
        return token, time.perf_counter() - started


def run(step: Step, data: dict[str, str], own: str | None, prompt: str | None) -> list[Exhibit]:
    """Ask the model, and time it."""
    step("loading", 0, 1)
    vocabulary = smollm2.Vocabulary(data["smollm2"])
    model, options = smollm2.model_of(ModernLM, data["smollm2"])
    said = f"All weights of SmolLM2 went into ModernLM by name and shape, strictly. {options}"
    return [
        text("This block is a language model of today", said),
        _best(model, vocabulary),
        _answer(step, model, vocabulary, prompt or QUESTION),
        *_speed(step, model, vocabulary),
        _paid(step, model, vocabulary, own),
    ]


@torch.no_grad()
def _best(model: Any, vocabulary: smollm2.Vocabulary) -> Exhibit:
    logits, _ = model(torch.tensor([vocabulary.encode(CAPITAL)]))
    best = logits[0, -1].softmax(-1).topk(5)
    rows = [[vocabulary.decode([int(at)]), f"{float(chance):.1%}"] for chance, at in zip(*best, strict=True)]
    return table(f"What comes after “{CAPITAL}”", ["token", "probability"], rows)


def _answer(step: Step, model: Any, vocabulary: smollm2.Vocabulary, question: str) -> Exhibit:
    turns = f"<|im_start|>user\n{question}{smollm2.END}\n<|im_start|>assistant\n"
    writer, written = Writer(model, vocabulary.encode(turns), CACHED), []
    most = ANSWER if CACHED else ANSWER // 3
    end = vocabulary.ids.get(smollm2.END)
    for number in range(most):
        token, _ = writer.step(sample=True)
        step("answering", number + 1, most)
        if token == end:
            break
        written.append(token)
    how = "always the best token"
    if top_p is not None:
        how = f"drawn by your top_p (0.9, at temperature 0.7) from the {LIKELIEST:,} likeliest"
    return text(f"Asked: {question}", f"{vocabulary.decode(written)}\n\n({len(written)} tokens, {how}.)")


def _speed(step: Step, model: Any, vocabulary: smollm2.Vocabulary) -> list[Exhibit]:
    lengths, ids = (16, 64, 128), vocabulary.encode(topics.topics["class"])
    ways = {"with the cache": True, "without": False} if CACHED else {"without a cache": False}
    curves: dict[str, tuple[list[float], list[float]]] = {}
    rates: dict[str, float] = {}
    for name, cached in ways.items():
        times = []
        for number, length in enumerate(lengths, 1):
            writer = Writer(model, ids[:length], cached)
            writer.step()  # reads the prompt
            steps = TIMED // 3
            times.append(sum(writer.step()[1] for _ in range(steps)) / steps)
            step(f"timing {name}", number, len(lengths))
        curves[name] = (list(lengths), [1000 * one for one in times])
        rates[name] = 1 / times[-1]
    shown = bars(
        f"Tokens a second after {lengths[-1]} tokens",
        list(rates),
        {"tokens a second": list(rates.values())},
        y_axis="tokens a second",
    )
    note = "Without it, every step reads the whole text again."
    if not CACHED:
        note += " The cache is what you write in this kata."
    return [
        shown,
        lines("Milliseconds a token", curves, x_axis="tokens so far", y_axis="milliseconds", note=note),
    ]


@torch.no_grad()
def _paid(step: Step, model: Any, vocabulary: smollm2.Vocabulary, own: str | None) -> Exhibit:
    source = own or topics.topics["for"]
    ids = torch.tensor(vocabulary.encode(source[: 8 * READ])[:READ])
    step("reading", 0, 1)
    logits, _ = model(ids[None])
    costs: Tensor = F.cross_entropy(logits[0, :-1], ids[1:], reduction="none")
    step("reading", 1, 1)

    def shown(some: Tensor) -> str:
        return vocabulary.decode(some.tolist()).replace("\n", "¶")

    hardest = costs.topk(min(8, len(costs))).indices.tolist()
    rows = [
        [shown(ids[max(0, at - 6) : at + 1]), shown(ids[at + 1 : at + 2]), f"{float(costs[at]):.1f}"]
        for at in sorted(hardest)
    ]
    of = "your text" if own else "Python's documentation of `for`"
    title = f"What it did not expect in {of}: {float(costs.mean()):.2f} nats a token"
    return table(title, ["after", "came", "nats"], rows)
