"""Sentences about films whose mood hinges on order and negation, from a small seeded grammar.

    sentence = clause "but" clause
    clause   = "the" noun "was" ["not"] ["very"] adjective

One clause praises and the other complains; what comes after *but* is the verdict. *Not* turns an adjective
around. Every sentence comes with its mirror image, the same two clauses in the other order, which has the other
label. So both labels have exactly the same words: counting words tells nothing, whatever the adjectives.

>>> train, test = splits(train=4, test=2, seed=0)
>>> tuple(train.tokens.shape), train.labels.tolist()
((4, 12), [0, 1, 0, 1])
"""

from __future__ import annotations

import random
from typing import NamedTuple

import torch
from torch import Tensor

NOUNS = ("acting", "camera", "ending", "music", "plot", "story")
PRAISE = ("brilliant", "clever", "good", "moving")
COMPLAINT = ("bad", "boring", "clumsy", "dull")
WORDS = ("<pad>", "<cls>", "the", "was", "not", "very", "but", *NOUNS, *PRAISE, *COMPLAINT)
"""The vocabulary: a word's place in it is its token. Padding is 0; every sentence begins with <cls>, 1."""
MOODS = ("negative", "positive")
"""What the labels 0 and 1 mean."""
NEGATED, INTENSE = 0.35, 0.25
"""How often a clause has "not", and "very"."""

_TOKEN = {word: token for token, word in enumerate(WORDS)}


class Sentences(NamedTuple):
    """Tokens int64 [N, T], padded at the end with 0, and labels int64 [N]."""

    tokens: Tensor
    labels: Tensor


def splits(train: int = 640, test: int = 200, seed: int = 0) -> tuple[Sentences, Sentences]:
    """Return sentences to train on and others to test with; no sentence is in both. Both numbers are even."""
    rng = random.Random(seed)
    pairs: dict[tuple[str, str], None] = {}  # a dict, since a set has no order
    while len(pairs) < (train + test) // 2:
        pairs[_clause(rng, True), _clause(rng, False)] = None
    texts, labels = [], []
    for good, bad in pairs:
        texts += [f"{good} but {bad}", f"{bad} but {good}"]
        labels += [0, 1]
    tokens = encode(texts)
    return Sentences(tokens[:train], torch.tensor(labels[:train])), Sentences(
        tokens[train:], torch.tensor(labels[train:])
    )


def encode(texts: list[str]) -> Tensor:
    """Return the tokens of sentences, int64 [N, T], with <cls> in front and padding at the end."""
    rows = [[_TOKEN["<cls>"], *(_TOKEN[word] for word in text.split())] for text in texts]
    length = max(map(len, rows))
    return torch.tensor([row + [0] * (length - len(row)) for row in rows])


def decode(tokens: Tensor) -> str:
    """Return the sentence of one row of tokens [T]."""
    return " ".join(WORDS[token] for token in tokens.tolist() if token > 1)


def _clause(rng: random.Random, praise: bool) -> str:
    negated, intense = rng.random() < NEGATED, rng.random() < INTENSE
    adjective = rng.choice(PRAISE if praise != negated else COMPLAINT)
    return " ".join(["the", rng.choice(NOUNS), "was", *["not"] * negated, *["very"] * intense, adjective])


if __name__ == "__main__":
    for tokens, label in zip(*splits(train=8, test=2)[0], strict=True):
        print(MOODS[label].ljust(8), decode(tokens))
