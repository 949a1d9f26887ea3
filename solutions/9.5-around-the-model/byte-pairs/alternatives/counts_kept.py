"""Counts are kept, and corrected where a merge has changed something; encoding merges one place at a time."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from functools import cached_property


def _pieces(text):
    return [match[0].encode() for match in re.finditer(r" ?\w+| ?[^\w\s]+|\s+", text)]


def _pairs(tokens):
    return [(tokens[i], tokens[i + 1]) for i in range(len(tokens) - 1)]


class _Counts:
    """How often each pair is in the text, and in which words."""

    def __init__(self, text):
        self.often = Counter(_pieces(text))
        self.cut = {word: [word[i : i + 1] for i in range(len(word))] for word in self.often}
        self.count = Counter()
        self.places = defaultdict(set)
        for word in self.often:
            self.add(word, 1)

    def add(self, word, sign):
        for pair in _pairs(self.cut[word]):
            self.count[pair] += sign * self.often[word]
            self.places[pair].add(word)

    def merge(self, pair):
        for word in list(self.places.pop(pair)):
            self.add(word, -1)
            tokens, i = self.cut[word], 0
            while i < len(tokens) - 1:
                if (tokens[i], tokens[i + 1]) == pair:
                    tokens[i : i + 2] = [b"".join(pair)]
                i += 1
            self.add(word, 1)
        self.count = +self.count  # without what has gone down to 0


def train(text, num_merges):
    counts = _Counts(text)
    merges = []
    while counts.count and len(merges) < num_merges:
        merges.append(max(counts.count.items(), key=lambda item: item[::-1])[0])
        counts.merge(merges[-1])
    return merges


class Tokenizer:
    def __init__(self, merges, special=()):
        self.rank = {a + b: 256 + i for i, (a, b) in enumerate(merges)}
        self.learned = {(a, b) for a, b in merges}
        self.special = list(special)
        self.known = {}

    @cached_property
    def vocabulary(self):
        return [bytes([i]) for i in range(256)] + list(self.rank) + [s.encode() for s in self.special]

    @property
    def vocab_size(self):
        return len(self.vocabulary)

    def _piece(self, piece):
        tokens = [piece[i : i + 1] for i in range(len(piece))]
        while True:
            open_places = [
                (self.rank[tokens[i] + tokens[i + 1]], i)
                for i in range(len(tokens) - 1)
                if (tokens[i], tokens[i + 1]) in self.learned
            ]
            if not open_places:
                return [t[0] if len(t) == 1 else self.rank[t] for t in tokens]
            _, i = min(open_places)
            tokens[i : i + 2] = [tokens[i] + tokens[i + 1]]

    def encode(self, text):
        ids = []
        while text:
            standing = [(text.find(s), -len(s), s) for s in self.special if s in text]
            place, _, string = min(standing, default=(len(text), 0, ""))
            for piece in _pieces(text[:place]):
                if piece not in self.known:
                    self.known[piece] = self._piece(piece)
                ids.extend(self.known[piece])
            if string:
                ids.append(256 + len(self.rank) + self.special.index(string))
            text = text[place + len(string) :]
        return ids

    def decode(self, ids):
        joined = bytearray()
        for number in ids:
            joined += self.vocabulary[number]
        return joined.decode(errors="replace")
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
