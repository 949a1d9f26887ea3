"""A small text of our own to learn from, and one to be examined on.

Every sentence says what sound animals make, and where. The verb belongs to the animal, in the singular or the plural;
the word before it is a place, in a number of its own, which says nothing about the verb. Whoever is to say the verb
has to look back, three words and more. No sentence of HELD_OUT is in TEXT, though every word of it is.
"""

from __future__ import annotations

import torch

TEXT = """
the hens behind the barns cluck .  the hen by the hill clucks .  the frogs by the trees croak .
the frog near the tree croaks .  the hen near the hills clucks .  the hen behind the gates clucks .
the frogs near the hills croak .  the owls near the tree hoot .  the owl behind the barns hoots .
the owl near the trees hoots .  the hen near the gate clucks .  the owls by the hills hoot .
the hens near the hill cluck .  the owl by the tree hoots .  the frog near the gates croaks .
the owls behind the trees hoot .  the hens near the barn cluck .  the frogs by the hill croak .
the owls by the pond hoot .  the hens by the gates cluck .  the owl behind the hills hoots .
the frog near the ponds croaks .  the hens behind the pond cluck .  the frogs near the gate croak .
the owl behind the gate hoots .  the frog behind the hill croaks .  the owls near the ponds hoot .
the frogs near the barns croak .  the hens by the ponds cluck .  the owl by the gates hoots .
the hen near the pond clucks .  the frog by the barns croaks .  the frog behind the trees croaks .
the hen by the barn clucks .  the frogs behind the gates croak .  the owls by the gate hoot .
"""

HELD_OUT = """
the frogs behind the tree croak .  the hen behind the tree clucks .  the hens by the tree cluck .
the owls by the barns hoot .  the frogs by the barn croak .  the owls behind the hill hoot .
the hens behind the hills cluck .  the hens near the trees cluck .  the frogs behind the ponds croak .
the hen near the barns clucks .  the owls behind the barn hoot .  the hen by the trees clucks .
the owl near the barn hoots .  the frog behind the barn croaks .  the owl near the hill hoots .
the owl behind the pond hoots .  the frog by the gate croaks .  the hen behind the ponds clucks .
the frog by the hills croaks .  the frog by the pond croaks .  the hens behind the gate cluck .
the owls near the gates hoot .  the frogs near the pond croak .  the owl by the ponds hoots .
"""

WORDS = sorted(set(TEXT.split()))
"""The vocabulary: a token is a word's place in it."""
VERB = 5
"""Which word of a sentence takes looking back."""


def encode(text: str) -> torch.Tensor:
    """Return a text as tokens, a row per sentence: int [sentences, 7]."""
    place = {word: token for token, word in enumerate(WORDS)}
    return torch.tensor(
        [[place[word] for word in f"{line} .".split()] for line in text.split(".") if line.strip()]
    )


def decode(tokens: torch.Tensor) -> list[str]:
    """Return rows of tokens as text."""
    return [" ".join(WORDS[token] for token in row) for row in tokens.tolist()]
