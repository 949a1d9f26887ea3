"""Sentences about a harbor whose words depend on each other on both sides, from a small seeded grammar.

    sentence = determiner [adjective] person ["near" determiner place] verb determiner thing

Determiner, person and verb agree in number, across the place that may stand between them; the thing is one
that fits the verb.

>>> sentences(2, seed=0).shape
torch.Size([2, 10])
"""

from __future__ import annotations

import random

import torch
from torch import Tensor

PEOPLE = ("keeper", "sailor", "fisher", "child")
PLURALS = ("keepers", "sailors", "fishers", "children")
PLACES = ("hill", "pier", "rock", "beach")
ADJECTIVES = ("old", "young", "quiet", "tired")
VERBS = ("lights", "rings", "sails", "mends")
PLURAL_VERBS = ("light", "ring", "sail", "mend")
THINGS = (("lamp", "fire"), ("bell", "gong"), ("boat", "ship"), ("net", "rope"))
"""What fits each verb."""
PAD, CLS, MASK = 0, 1, 2
SPECIAL = (PAD, CLS, MASK)
WORDS = (
    "<pad>", "<cls>", "<mask>", "the", "this", "these", "near", *PEOPLE, *PLURALS, *PLACES, *ADJECTIVES, *VERBS,
    *PLURAL_VERBS, *(thing for pair in THINGS for thing in pair),
)  # fmt: skip
"""The vocabulary: a word's place in it is its token."""
LENGTH = 10
"""The longest sentence, with <cls>."""

_TOKEN = {word: token for token, word in enumerate(WORDS)}


def sentences(count: int, seed: int = 0) -> Tensor:
    """Return int64 [count, LENGTH], with <cls> in front and padding at the end."""
    rng = random.Random(seed)
    return encode([_sentence(rng) for _ in range(count)])


def encode(texts: list[str]) -> Tensor:
    """Return the tokens of sentences, int64 [N, LENGTH]; `<mask>` is a word like any other."""
    rows = [[CLS, *(_TOKEN[word] for word in text.split())] for text in texts]
    return torch.tensor([row + [PAD] * (LENGTH - len(row)) for row in rows])


def decode(tokens: Tensor) -> str:
    """Return the sentence of one row of tokens [T]."""
    return " ".join(WORDS[token] for token in tokens.tolist() if token not in (PAD, CLS))


def _sentence(rng: random.Random) -> str:
    plural, kind = rng.random() < 0.5, rng.randrange(len(VERBS))
    words = ["these" if plural else "this"]
    if rng.random() < 0.4:
        words.append(rng.choice(ADJECTIVES))
    words.append(rng.choice(PLURALS if plural else PEOPLE))
    if rng.random() < 0.5:
        words += ["near", "the", rng.choice(PLACES)]
    return " ".join([*words, (PLURAL_VERBS if plural else VERBS)[kind], "the", rng.choice(THINGS[kind])])


if __name__ == "__main__":
    for row in sentences(8):
        print(decode(row))
