"""Byte-pair encoding: training, and a tokenizer."""

import re
from collections import Counter

PAT = r"""'(?:[sdmt]|ll|ve|re)| ?[^\W\d_]+| ?\d+| ?[^\s\w]+|\s+(?!\S)|\s+"""


def parts_of(text, special):
    if not special:
        return [text]
    longest_first = sorted(special, key=len, reverse=True)
    return re.split("(" + "|".join(map(re.escape, longest_first)) + ")", text)


def joined(tokens, pair):
    found, at = [], 0
    while at < len(tokens):
        if tuple(tokens[at : at + 2]) == pair:
            found.append(pair[0] + pair[1])
            at += 2
        else:
            found.append(tokens[at])
            at += 1
    return tuple(found)


def train_bpe(input_path, vocab_size, special_tokens):
    with open(input_path, encoding="utf-8", newline="") as file:
        text = file.read()
    words = Counter()
    for part in parts_of(text, special_tokens):
        if part not in special_tokens:
            for piece in re.finditer(PAT, part):
                words[tuple(bytes([byte]) for byte in piece.group().encode())] += 1
    vocab = {number: bytes([number]) for number in range(256)}
    for token in special_tokens:
        vocab[len(vocab)] = token.encode()
    merges = []
    while len(vocab) < vocab_size:
        pairs = Counter()
        for word, count in words.items():
            for pair in zip(word, word[1:]):
                pairs[pair] += count
        if not pairs:
            break
        best = max(pairs, key=lambda pair: (pairs[pair], pair))
        merges.append(best)
        vocab[len(vocab)] = best[0] + best[1]
        changed = Counter()
        for word, count in words.items():
            changed[joined(word, best)] += count
        words = changed
    return vocab, merges


class Tokenizer:
    def __init__(self, vocab, merges, special_tokens=None):
        self.vocab = vocab
        self.numbers = {token: number for number, token in vocab.items()}
        self.ranks = {pair: rank for rank, pair in enumerate(merges)}
        self.special = special_tokens or []

    def encode(self, text):
        ids = []
        for part in parts_of(text, self.special):
            if part in self.special:
                ids.append(self.numbers[part.encode()])
                continue
            for piece in re.finditer(PAT, part):
                tokens = tuple(bytes([byte]) for byte in piece.group().encode())
                while len(tokens) > 1:
                    pair = min(zip(tokens, tokens[1:]), key=lambda pair: self.ranks.get(pair, len(self.ranks)))
                    if pair not in self.ranks:
                        break
                    tokens = joined(tokens, pair)
                ids += [self.numbers[token] for token in tokens]
        return ids

    def decode(self, ids):
        return b"".join(self.vocab[number] for number in ids).decode("utf-8", errors="replace")
