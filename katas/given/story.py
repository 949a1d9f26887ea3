"""A world of small stories, and a trained model that writes them: weights in story.safetensors next to this file.

The stories are made by a grammar. Every name in them is put together anew, of syllables: no name can be known from
earlier stories, and anyone who wants to guess it has to look where it stood before in this one.

The model is the ModernLM of 9.8.1. Its tokens are single characters.
"""

from __future__ import annotations

import math
import random
from collections import Counter, defaultdict
from pathlib import Path

import torch
from safetensors.torch import load_file

CHARACTERS = "\n ,.?abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
"""The vocabulary: a token is a character's place in it. A story begins and ends with a new line."""
SIZES = {
    "vocab_size": len(CHARACTERS),
    "d_model": 96,
    "num_heads": 6,
    "num_kv_heads": 2,
    "d_ff": 256,
    "num_layers": 3,
    "max_len": 512,
}
"""How the trained model was built."""
HELD_OUT = 1_000_000
"""The model was trained on stories of seeds below this. From here on they are new to it."""

SYLLABLES = [a + b for a in "bdfgklmnprstvz" for b in "aeiou"]
CREATURES = ["fox", "owl", "goat", "horse", "duck", "dog", "cat", "mouse"]
THINGS = ["key", "drum", "lamp", "rope", "coin", "book", "boat", "bell"]
COLORS = ["red", "green", "golden", "small", "brown", "blue"]
PLACES = ["lake", "mill", "bridge", "forest", "tower", "garden", "cave", "well"]


def encode(text: str) -> torch.Tensor:
    """Return a text as tokens, int64 [T]."""
    return torch.tensor([CHARACTERS.index(character) for character in text], dtype=torch.int64)


def decode(tokens: torch.Tensor) -> str:
    """Return tokens [T] as a text."""
    return "".join(CHARACTERS[token] for token in tokens.tolist())


def story(seed: int) -> str:
    """Return a story, the same for each seed: a new line and 300 to 500 characters."""
    chance = random.Random(seed)
    hero, friend, land = (_name(chance) for _ in range(3))
    creature, other = chance.sample(CREATURES, 2)
    thing, color = chance.choice(THINGS), chance.choice(COLORS)
    home, *places = chance.sample(PLACES, 4)
    lines = [
        chance.choice(
            [
                f"{hero} the {creature} lived by the {home} of {land}.",
                f"By the {home} of {land} lived a {creature}, and the {creature} was called {hero}.",
            ]
        ),
        f"{hero} had a {color} {thing} and a friend, {friend} the {other}.",
        chance.choice(
            [
                f"One day the {color} {thing} was gone.",
                f"One day {hero} lost the {color} {thing}.",
            ]
        ),
    ]
    for number, place in enumerate(places):
        who, whom = chance.sample([hero, friend], 2)
        if number == len(places) - 1:
            lines.append(
                chance.choice(
                    [
                        f"In the end {who} found the {thing} by the {place}, and {whom} was glad.",
                        f"Then {who} came to the {place}, and there was the {color} {thing} of {hero}.",
                    ]
                )
            )
        else:
            lines.append(
                chance.choice(
                    [
                        f"{who} looked by the {place}, but the {thing} was not there.",
                        f"{who} asked {whom}, is the {color} {thing} by the {place}? No, said {whom}.",
                        f"{who} and {whom} went to the {place}, and found no {thing}.",
                    ]
                )
            )
    lines.append(
        chance.choice(
            [
                f"So {hero} and {friend} went home to the {home} of {land}.",
                f"All of {land} heard of {hero} the {creature} and {friend} the {other}.",
            ]
        )
    )
    return "\n" + " ".join(lines)


def text(first: int, count: int) -> str:
    """Return the stories of `count` seeds from `first` on, one after the other."""
    return "".join(story(seed) for seed in range(first, first + count)) + "\n"


def weights() -> dict[str, torch.Tensor]:
    """Return the trained model's parameters, as `load_state_dict` takes them."""
    return load_file(Path(__file__).with_name("story.safetensors"))


def ngram_loss(read: str, asked: list[str], order: int) -> float:
    """Return what an n-gram model pays for a character of `asked`, in nats.

    It has counted in `read` what followed the last order - 1 characters. How much it trusts a count depends on how
    often it has seen the context, and in how many ways that went on (Witten and Bell); the rest is for the shorter
    context.
    """
    after: dict[str, Counter[str]] = defaultdict(Counter)
    for place, character in enumerate(read):
        for length in range(min(order - 1, place) + 1):
            after[read[place - length : place]][character] += 1
    total = characters = 0.0
    for text in asked:
        for place in range(1, len(text)):
            share = 1 / len(CHARACTERS)
            for length in range(min(order - 1, place) + 1):
                seen = after.get(text[place - length : place])
                if seen is None:
                    break
                number, kinds = seen.total(), len(seen)
                share = (seen[text[place]] + kinds * share) / (number + kinds)
            total -= math.log(share)
            characters += 1
    return total / characters


def _name(chance: random.Random) -> str:
    return "".join(chance.choice(SYLLABLES) for _ in range(chance.choice([2, 3]))).capitalize()
