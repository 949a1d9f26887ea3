"""Byte pairs: a tokeniser that learns its vocabulary from a text, and loses nothing of any other.

References: Sennrich et al. 2016 (arXiv:1508.07909); Radford et al. 2019, section 2.2.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise

PIECES = r" ?\w+| ?[^\w\s]+|\s+"

Pair = tuple[bytes, bytes]


def _pieces(text: str) -> list[tuple[bytes, ...]]:
    """Cut a text into pieces, each a sequence of single bytes."""
    return [tuple(bytes([byte]) for byte in piece.encode()) for piece in re.findall(PIECES, text)]


def _merged(tokens: tuple[bytes, ...], pair: Pair) -> tuple[bytes, ...]:
    """Merge a pair wherever it stands, from left to right."""
    result = []
    place = 0
    while place < len(tokens):
        if tokens[place : place + 2] == pair:
            result.append(pair[0] + pair[1])
            place += 2
        else:
            result.append(tokens[place])
            place += 1
    return tuple(result)


def train(text: str, num_merges: int) -> list[tuple[bytes, bytes]]:
    """Learn which pairs to merge."""
    words = Counter(_pieces(text))  # each different piece once, with how often it occurs
    merges: list[Pair] = []
    while len(merges) < num_merges:
        counts: Counter[Pair] = Counter()
        for tokens, times in words.items():
            for pair in pairwise(tokens):
                counts[pair] += times
        if not counts:
            break
        best = max(counts, key=lambda pair: (counts[pair], pair))
        merges.append(best)
        words = Counter({_merged(tokens, best): times for tokens, times in words.items()})
    return merges


class Tokenizer:
    """Turns any text into ids and ids into a text."""

    def __init__(self, merges: Sequence[tuple[bytes, bytes]], special: Sequence[str] = ()) -> None:
        self.ranks = {tuple(pair): rank for rank, pair in enumerate(merges)}
        tokens = [bytes([byte]) for byte in range(256)] + [one + other for one, other in merges]
        self.ids = {token: number for number, token in enumerate(tokens)}
        self.special = {string: len(tokens) + number for number, string in enumerate(special)}
        self.tokens = tokens + [string.encode() for string in special]
        self.vocab_size = len(self.tokens)
        longest_first = sorted(special, key=len, reverse=True)
        self.split = re.compile("(" + "|".join(re.escape(string) for string in longest_first) + ")")

    def encode(self, text: str) -> list[int]:
        """Return the ids of a text."""
        ids: list[int] = []
        for part in self.split.split(text) if self.special else [text]:
            if part in self.special:
                ids.append(self.special[part])
            else:
                for tokens in _pieces(part):
                    ids.extend(self.ids[token] for token in self._apply(tokens))
        return ids

    def _apply(self, tokens: tuple[bytes, ...]) -> tuple[bytes, ...]:
        """Merge the pair that was learned first, until no pair of the piece was learned."""
        while True:
            learned = [pair for pair in pairwise(tokens) if pair in self.ranks]
            if not learned:
                return tokens
            tokens = _merged(tokens, min(learned, key=self.ranks.__getitem__))

    def decode(self, ids: Iterable[int]) -> str:
        """Return the text of these ids."""
        return b"".join(self.tokens[number] for number in ids).decode("utf-8", errors="replace")
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
