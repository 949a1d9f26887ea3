"""Heads on a BERT: its encoder frozen, one linear layer trained, and how few labels that takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import minilm
import torch
from mine import Encoder
from torch import Tensor, nn
from torch.nn import functional as F

from grader.learner.demos.exhibits import Exhibit, lines, table, text

try:
    from mine import ClassHead, freeze
except ImportError:  # the learner's do not pass yet: the demo's replace them
    from demo import ClassHead, freeze

NEEDS = ("minilm",)
MOST, BATCH, EPOCHS = 90, 32, 60
"""Sentences of each class, how many are read at once, and how often a head reads what it learns from."""
LABELLED = (4, 16, 48)
"""Labelled sentences of each class that a head learns from."""
Step = Callable[[str, int, int], None]


def run(step: Step, data: dict[str, str], own: str | None, prompt: str | None) -> list[Exhibit]:
    """Train a head on the frozen encoder, on one that was never trained, and on counts of words."""
    names, sentences, labels = minilm.chapters(own, MOST)
    trained, fresh = (minilm.SentenceEncoder(Encoder, data["minilm"]) for _ in range(2))
    torch.manual_seed(0)
    for parameter in fresh.encoder.parameters():
        if parameter.dim() > 1:
            nn.init.xavier_uniform_(parameter)
    bodies = {"MiniLM, frozen": trained, "the same encoder, untrained": fresh}
    features = {}
    for number, (name, body) in enumerate(bodies.items()):
        freeze(body.encoder)
        features[name] = _read(body, sentences, lambda done, at=number: step("reading", at * 100 + done, 200))
    features["counts of words"] = _counted(sentences)
    test = slice(len(sentences) * 2 // 3, None)
    curves: dict[str, tuple[list[int], list[float]]] = {name: ([], []) for name in features}
    heads: dict[str, Any] = {}
    for number, count in enumerate(LABELLED):
        rows = _first(labels[: test.start], count, len(names))
        for name, (hidden, mask) in features.items():
            heads[name] = _head(hidden[rows], mask[rows], labels[rows], len(names))
            with torch.no_grad():
                right = (heads[name](hidden[test], mask[test]).argmax(-1) == labels[test]).float().mean()
            curves[name][0].append(count)
            curves[name][1].append(100 * float(right))
        step("training heads", number + 1, len(LABELLED))
    body, head = "MiniLM, frozen", heads["MiniLM, frozen"]
    frozen, learned = (sum(p.numel() for p in one.parameters()) for one in (trained.encoder, head))
    of = "your text, in four quarters" if own else "six chapters of the documentation of Python"
    shown = [prompt] if prompt else sentences[test][:6]
    with torch.no_grad():
        chances = head(*trained.read(shown)).softmax(-1)
    rows = [
        [one, names[int(c.argmax())], f"{float(c.max()):.0%}"] for one, c in zip(shown, chances, strict=True)
    ]
    at_most = "; ".join(f"{name} {values[-1]:.0f}%" for name, (_, values) in curves.items())
    return [
        text("A head on a body that has read", f"{len(sentences)} sentences from {of}; which one is a sentence from? "
             f"{frozen:,} numbers of MiniLM stay as they are, the {learned:,} of a ClassHead are learned."),
        lines("Right on sentences that were not labelled, by the number that were", curves, log_x=True,
              x_axis="labelled sentences of each class", y_axis="% right",
              note=f"With {LABELLED[-1]} labels: {at_most}; a guess: {100 / len(names):.0f}%."),
        table(f"Read by {body}, with a head from {LABELLED[-1]} labels", ["sentence", "said to be from", "sure"], rows),
    ]  # fmt: skip


def _read(
    body: minilm.SentenceEncoder, sentences: list[str], tick: Callable[[int], None]
) -> tuple[Tensor, Tensor]:
    """Return all vectors [N, T, D] and which of them are real: the body never changes, so it reads once."""
    hidden, real = [], []
    for start in range(0, len(sentences), BATCH):
        one, mask = body.read(sentences[start : start + BATCH])
        missing = minilm.LONGEST - one.shape[1]
        hidden.append(F.pad(one, (0, 0, 0, missing)))
        real.append(F.pad(mask, (0, missing)))
        tick(100 * min(start + BATCH, len(sentences)) // len(sentences))
    return torch.cat(hidden), torch.cat(real)


def _counted(sentences: list[str]) -> tuple[Tensor, Tensor]:
    """Return how often each word occurs in each sentence, as one vector [N, 1, V]: no order, and nothing learned."""
    words = [minilm.words_of(one) for one in sentences]
    place = {word: number for number, word in enumerate(sorted({one for some in words for one in some}))}
    counts = torch.zeros(len(sentences), 1, len(place))
    for row, some in enumerate(words):
        for word in some:
            counts[row, 0, place[word]] += 1
    return counts, torch.ones(len(sentences), 1, dtype=torch.bool)


def _first(labels: Tensor, count: int, classes: int) -> Tensor:
    """Return the places of the first sentences of each class."""
    return torch.cat([(labels == one).nonzero()[:count, 0] for one in range(classes)])


def _head(hidden: Tensor, mask: Tensor, labels: Tensor, classes: int) -> Any:
    torch.manual_seed(0)
    head = ClassHead(hidden.shape[-1], classes)
    optimizer = torch.optim.AdamW(head.parameters(), lr=1e-2, weight_decay=0.05)
    for _ in range(EPOCHS):
        loss = F.cross_entropy(head(hidden, mask), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return head
