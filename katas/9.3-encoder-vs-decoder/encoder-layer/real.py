"""The encoder is a BERT: trained weights loaded into it strictly, and sentences found by what they mean."""

from __future__ import annotations

import re
from collections.abc import Callable
from pydoc_data import topics

import minilm
import torch
from mine import Encoder
from torch import Tensor
from torch.nn import functional as F

from grader.learner.demos.exhibits import Exhibit, heatmap, panel, table, text

try:
    from mine import pool
except ImportError:  # the learner's does not pass yet

    def pool(hidden: Tensor, mask: Tensor, strategy: str) -> Tensor:
        """Return the mean over real tokens."""
        return (hidden * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)


NEEDS = ("minilm",)
QUESTION = "How do I do something again and again?"
MOST, BATCH = 1200, 32
"""Sentences that are read, and how many at once."""
PAIRS = [
    "The film was a delight.", "I enjoyed the movie very much.",
    "The bridge is closed because of ice.", "You cannot cross the river: it is frozen over.",
    "She plays the violin in an orchestra.", "He is a musician.",
    "The oven has to be hot before the bread goes in.", "Baking begins with heat.",
]  # fmt: skip


def run(
    step: Callable[[str, int, int], None], data: dict[str, str], own: str | None, prompt: str | None
) -> list[Exhibit]:
    """Search among sentences by what they mean."""
    model, question = minilm.SentenceEncoder(Encoder, data["minilm"]), prompt or QUESTION
    sentences = minilm.sentences_of(own or "\n\n".join(topics.topics.values()))
    sentences = sentences[:: -(-len(sentences) // MOST)]
    parts = []
    for start in range(0, len(sentences), BATCH):
        parts.append(vectors_of(model, sentences[start : start + BATCH]))
        step("reading sentences", min(start + BATCH, len(sentences)), len(sentences))
    close = torch.cat(parts) @ vectors_of(model, [question])[0]
    best = close.argsort(descending=True)[:8].tolist()
    words = set(re.findall(r"\w+", question.lower()))
    shared = [
        len(words & set(re.findall(r"\w+", one.lower()))) / (1 + len(one.split())) ** 0.5 for one in sentences
    ]
    plain = sorted(range(len(sentences)), key=shared.__getitem__, reverse=True)[:4]
    of = "your text" if own else "the documentation of Python"
    count = sum(parameter.numel() for parameter in model.encoder.parameters())
    return [
        text("This encoder is a BERT", f"All {count:,} trained weights of MiniLM's layers went into Encoder, by name "
             "and shape, strictly. Nothing was trained here: what follows is computed by the code of 9.3.5."),
        table(f"Closest in meaning to “{question}”, of {len(sentences)} sentences of {of}", ["cosine", "sentence"],
              [[f"{float(close[at]):.2f}", sentences[at]] for at in best]),
        table("What a search for the same words finds", ["cosine", "sentence"],
              [[f"{float(close[at]):.2f}", sentences[at]] for at in plain],
              note="Words in common, whatever they mean; the cosine is that of the encoder."),
        _pairs(model),
    ]  # fmt: skip


def vectors_of(model: minilm.SentenceEncoder, sentences: list[str]) -> Tensor:
    """Return a vector of length 1 for each sentence: the mean over its tokens."""
    return F.normalize(pool(*model.read(sentences), "mean"), dim=-1)


def _pairs(model: minilm.SentenceEncoder) -> Exhibit:
    vectors = vectors_of(model, PAIRS)
    names = [f"{number // 2 + 1}{'ab'[number % 2]}" for number in range(len(PAIRS))]
    lines = "  ".join(f"{name}: {sentence}" for name, sentence in zip(names, PAIRS, strict=True))
    shown = panel("cosine", vectors @ vectors.T, names, names)
    axes = dict.fromkeys(("row_axis", "column_axis"), "sentence")
    return heatmap(
        "Four pairs that say much the same in other words", [shown], **axes, diverging=True, note=lines
    )
