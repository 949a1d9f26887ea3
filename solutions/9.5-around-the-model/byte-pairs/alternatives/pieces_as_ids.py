"""Every piece is a list of ids, and a pair is two ids; what an id stands for is in one table of bytes."""

import re
from itertools import pairwise

PATTERN = re.compile(r" ?\w+| ?[^\w\s]+|\s+")


def replace(ids, pair, new):
    out = []
    i = 0
    while i < len(ids):
        if i + 1 < len(ids) and (ids[i], ids[i + 1]) == pair:
            out.append(new)
            i += 2
        else:
            out.append(ids[i])
            i += 1
    return out


def train(text, num_merges):
    table = {i: bytes([i]) for i in range(256)}
    pieces = [list(piece.encode("utf-8")) for piece in PATTERN.findall(text)]
    merges = []
    for n in range(num_merges):
        stats = {}
        for ids in pieces:
            for pair in pairwise(ids):
                stats[pair] = stats.get(pair, 0) + 1
        if not stats:
            break
        most = max(stats.values())
        pair = max((p for p in stats if stats[p] == most), key=lambda p: (table[p[0]], table[p[1]]))
        table[256 + n] = table[pair[0]] + table[pair[1]]
        merges.append((table[pair[0]], table[pair[1]]))
        pieces = [replace(ids, pair, 256 + n) for ids in pieces]
    return merges


class Tokenizer:
    def __init__(self, merges, special=()):
        self.table = {i: bytes([i]) for i in range(256)}
        numbers = {bytes([i]): i for i in range(256)}
        self.merges = {}
        for first, second in merges:
            new = len(self.table)
            self.merges[numbers[first], numbers[second]] = new
            numbers[first + second] = new
            self.table[new] = first + second
        self.special = {}
        for string in special:
            self.special[string] = len(self.table)
            self.table[len(self.table)] = string.encode("utf-8")
        self.vocab_size = len(self.table)

    def encode(self, text):
        ids, start, i = [], 0, 0
        while i < len(text):
            found = max((s for s in self.special if text.startswith(s, i)), key=len, default=None)
            if found is None:
                i += 1
                continue
            ids += [*self._ordinary(text[start:i]), self.special[found]]
            start = i = i + len(found)
        return ids + self._ordinary(text[start:])

    def _ordinary(self, text):
        out = []
        for piece in PATTERN.findall(text):
            ids = list(piece.encode("utf-8"))
            for pair, new in self.merges.items():  # in the order in which they were learned
                if len(ids) < 2:
                    break
                ids = replace(ids, pair, new)
            out += ids
        return out

    def decode(self, ids):
        return b"".join(self.table[i] for i in ids).decode("utf-8", "replace")
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
