"""English sentences and their Spanish, from a small seeded grammar.

    sentence = noun phrase, ["not"] verb, noun phrase

In English adjectives come before their noun and never change. In Spanish they come after it, in the other order, and
article and adjectives take the noun's gender and number: *the small white cows* are *las vacas blancas pequeñas*. The
verb agrees with the subject in both, and *do not see*, *does not see* are *no ven*, *no ve*. So the languages share
neither the order of their words nor their number, and what an article has to be stands two or three words further on.

>>> train, test = splits(train=3, test=1, seed=0)
>>> spell(train.source[0], SOURCE_WORDS)
'the cat follows the dogs'
>>> spell(train.target[0], TARGET_WORDS)
'el gato sigue los perros'
"""

from __future__ import annotations

import random
from typing import NamedTuple

import torch
from torch import Tensor

PAD, BOS, EOS = 0, 1, 2
"""Tokens of both languages: what fills a row up, what a decoder reads first, and what ends a sentence."""

_NOUNS = {  # singular and plural, in both languages, and the Spanish gender
    "dog": ("dogs", "perro", "perros", "m"),
    "cat": ("cats", "gato", "gatos", "m"),
    "horse": ("horses", "caballo", "caballos", "m"),
    "cow": ("cows", "vaca", "vacas", "f"),
    "hen": ("hens", "gallina", "gallinas", "f"),
    "goat": ("goats", "cabra", "cabras", "f"),
}
_ADJECTIVES = {"white": "blanc", "black": "negr", "small": "pequeñ", "old": "viej"}
_VERBS = {
    "see": ("sees", "ve", "ven"),
    "seek": ("seeks", "busca", "buscan"),
    "follow": ("follows", "sigue", "siguen"),
}
_ARTICLES = {"m": ("el", "los"), "f": ("la", "las")}
_ENDINGS = {"m": ("o", "os"), "f": ("a", "as")}
_ADJECTIVE, _NOT = (0.45, 0.4, 0.15), 0.25
"""How often a noun has no adjective, one, or two; and how often a sentence is negated."""


def _words(*groups: object) -> tuple[str, ...]:
    return ("<pad>", "<bos>", "<eos>", *(word for group in groups for word in group))  # type: ignore[attr-defined]


SOURCE_WORDS = _words(
    ("the", "do", "does", "not"),
    _ADJECTIVES,
    (form for singular, (plural, *_) in _NOUNS.items() for form in (singular, plural)),
    (form for plain, (third, *_) in _VERBS.items() for form in (plain, third)),
)
"""The English vocabulary: a word's place in it is its token."""
TARGET_WORDS = _words(
    ("el", "la", "los", "las", "no"),
    (stem + ending for stem in _ADJECTIVES.values() for ending in ("o", "a", "os", "as")),
    (form for _, one, many, _ in _NOUNS.values() for form in (one, many)),
    (form for _, one, many in _VERBS.values() for form in (one, many)),
)
"""The Spanish vocabulary."""


class Pairs(NamedTuple):
    """Sources int64 [N, S] and their translations int64 [N, T], each with EOS at its end, then padding."""

    source: Tensor
    target: Tensor


def splits(train: int = 1500, test: int = 200, seed: int = 0) -> tuple[Pairs, Pairs]:
    """Return pairs to train on and others to test with; no sentence is in both."""
    rng, pairs = random.Random(seed), {}  # a dict, since a set has no order
    while len(pairs) < train + test:
        english, spanish = _sentence(rng)
        pairs[english] = spanish
    whole = Pairs(encode(list(pairs), SOURCE_WORDS), encode(list(pairs.values()), TARGET_WORDS))
    return Pairs(*(part[:train] for part in whole)), Pairs(*(part[train:] for part in whole))


def encode(texts: list[str], words: tuple[str, ...]) -> Tensor:
    """Return the tokens of sentences, int64 [N, T], with EOS after each and padding after that."""
    place = {word: token for token, word in enumerate(words)}
    rows = [[*(place[word] for word in text.split()), EOS] for text in texts]
    length = max(map(len, rows))
    return torch.tensor([row + [PAD] * (length - len(row)) for row in rows])


def spell(tokens: Tensor, words: tuple[str, ...]) -> str:
    """Return the sentence of one row of tokens [T], up to its EOS."""
    row = tokens.tolist()
    return " ".join(words[token] for token in (row[: row.index(EOS)] if EOS in row else row))


def _sentence(rng: random.Random) -> tuple[str, str]:
    (subject, sujeto, many), (thing, objeto, _) = _noun_phrase(rng), _noun_phrase(rng)
    plain = rng.choice(list(_VERBS))
    third, *verbo = _VERBS[plain]
    if rng.random() < _NOT:
        return (
            f"{subject} {'do' if many else 'does'} not {plain} {thing}",
            f"{sujeto} no {verbo[many]} {objeto}",
        )
    return f"{subject} {plain if many else third} {thing}", f"{sujeto} {verbo[many]} {objeto}"


def _noun_phrase(rng: random.Random) -> tuple[str, str, bool]:
    """Return a noun with its article and adjectives in both languages, and whether it is plural."""
    noun, many = rng.choice(list(_NOUNS)), rng.random() < 0.5
    plural, *forms, gender = _NOUNS[noun]
    adjectives = rng.sample(list(_ADJECTIVES), rng.choices((0, 1, 2), _ADJECTIVE)[0])
    english = ["the", *adjectives, plural if many else noun]
    ending = _ENDINGS[gender][many]
    spanish = [
        _ARTICLES[gender][many],
        forms[many],
        *(_ADJECTIVES[word] + ending for word in reversed(adjectives)),
    ]
    return " ".join(english), " ".join(spanish), many


if __name__ == "__main__":
    for source, target in zip(*splits(train=8, test=2)[0], strict=True):
        print(f"{spell(source, SOURCE_WORDS):55} {spell(target, TARGET_WORDS)}")
