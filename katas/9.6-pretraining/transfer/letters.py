"""Short letters about what was bought, with tags, a span, a degree and a topic, from a small seeded grammar.

    letter = [greeting] "the" thing ["from" place] verb [degree] quality [("and" | "but") [degree] quality]

What is bought of a kind comes from places of that kind. "and" joins two praises or two complaints, "but" one of each.
So the letters alone, without a label, tell which things belong together and which words mean well.

- tags: what each word is: other, thing, place, quality, degree
- span: from the first to the last word of what is said of the thing: "very slow", "good and quite cheap"
- degree: how strong the praise is, from -2 ("very bad") to 2 ("very good"); the mean of two
- topic: which kind of thing it is about, by the thing itself

>>> letters(2, seed=0).tokens.shape
torch.Size([2, 14])
"""

from __future__ import annotations

import random
from dataclasses import dataclass

import torch
from torch import Tensor

TOPICS = ("clothes", "tools", "food", "books")
THINGS = (
    ("coat", "shirt", "hat", "scarf"),
    ("saw", "drill", "hammer", "ladder"),
    ("bread", "cheese", "soup", "cake"),
    ("novel", "atlas", "diary", "guide"),
)
"""Things of each topic."""
PLACES = (("tailor", "weaver"), ("smith", "foundry"), ("farm", "baker"), ("printer", "library"))
"""Where things of each topic come from."""
GOOD, BAD = ("good", "fine", "lovely", "cheap"), ("bad", "poor", "ugly", "dear")
DEGREES = {"slightly": 0.5, "quite": 1.0, "very": 2.0}
VERBS = ("is", "was", "seems")
GREETINGS = ("hello", "dear sir", "thanks")
TAGS = ("other", "thing", "place", "quality", "degree")
PAD, CLS, MASK = 0, 1, 2
WORDS = (
    "<pad>", "<cls>", "<mask>", "the", "from", "and", "but", "hello", "sir", "thanks", *VERBS, *DEGREES, *GOOD, *BAD,
    *(word for kind in (*PLACES, *THINGS) for word in kind),
)  # fmt: skip
"""The vocabulary; "dear" is one word with two meanings."""
LENGTH = 14

_TOKEN = {word: token for token, word in enumerate(WORDS)}


@dataclass(frozen=True)
class Letters:
    """Letters and all that is known of them."""

    tokens: Tensor
    """int64 [N, LENGTH], with <cls> in front and padding at the end."""
    tags: Tensor
    """int64 [N, LENGTH]: the place of each word's tag in TAGS, -100 at <cls> and padding."""
    start: Tensor
    """int64 [N]: where the opinion begins."""
    end: Tensor
    """int64 [N]: its last word."""
    degree: Tensor
    """float32 [N]: from -2 to 2."""
    topic: Tensor
    """int64 [N]: the place of the topic in TOPICS."""


def letters(count: int, seed: int = 0) -> Letters:
    """Return so many letters, the same for the same seed."""
    rng = random.Random(seed)
    tokens = torch.full((count, LENGTH), PAD)
    tags = torch.full((count, LENGTH), -100)
    start, end = torch.zeros(count, dtype=torch.int64), torch.zeros(count, dtype=torch.int64)
    degree, topic = torch.zeros(count), torch.zeros(count, dtype=torch.int64)
    for row in range(count):
        words, begin, strength, kind = _letter(rng)
        tokens[row, 0] = CLS
        for place, (word, tag) in enumerate(words, 1):
            tokens[row, place], tags[row, place] = _TOKEN[word], TAGS.index(tag)
        start[row], end[row], degree[row], topic[row] = begin + 1, len(words), strength, kind
    return Letters(tokens, tags, start, end, degree, topic)


def decode(tokens: Tensor) -> str:
    """Return the letter of one row of tokens [T]."""
    return " ".join(WORDS[token] for token in tokens.tolist() if token not in (PAD, CLS))


def _letter(rng: random.Random) -> tuple[list[tuple[str, str]], int, float, int]:
    """Return words with tags, where the opinion begins, how strong it is, and the topic."""
    kind = rng.randrange(len(TOPICS))
    words = [(word, "other") for word in rng.choice(GREETINGS).split()] if rng.random() < 0.5 else []
    words += [("the", "other"), (rng.choice(THINGS[kind]), "thing")]
    if rng.random() < 0.7:
        words += [("from", "other"), ("the", "other"), (rng.choice(PLACES[kind]), "place")]
    words.append((rng.choice(VERBS), "other"))
    begin, strengths = len(words), []
    good = rng.random() < 0.5
    for again in range(2 if rng.random() < 0.6 else 1):
        if again:
            joined = rng.random() < 0.6
            words.append(("and" if joined else "but", "other"))
            good = good if joined else not good
        factor = 1.0
        if rng.random() < 0.6:
            word = rng.choice(tuple(DEGREES))
            factor = DEGREES[word]
            words.append((word, "degree"))
        words.append((rng.choice(GOOD if good else BAD), "quality"))
        strengths.append(factor if good else -factor)
    return words, begin, sum(strengths) / len(strengths), kind


if __name__ == "__main__":
    some = letters(8)
    for row in range(8):
        print(f"{float(some.degree[row]):+.2f}  {TOPICS[int(some.topic[row])]:8}  {decode(some.tokens[row])}")
