"""Hypotheses as Python objects, one source after the other; learned positions, post-norm parts, cross_entropy."""

from __future__ import annotations

import contextlib

import torch
from blocks import Decoder, Encoder, LearnedPositionalEncoding
from torch import nn
from torch.nn import functional as F


class Translator(nn.Module):
    def __init__(self, source_vocab, target_vocab, d_model=64, num_heads=4, d_ff=128, num_layers=2, max_len=64,
                 dropout=0.0, pad_id=0):  # fmt: skip
        super().__init__()
        self.pad_id, self.scale = pad_id, d_model**0.5
        self.read = nn.Embedding(source_vocab, d_model, padding_idx=None)
        self.written = nn.Embedding(target_vocab, d_model)
        self.read_at, self.written_at = (LearnedPositionalEncoding(d_model, max_len) for _ in range(2))
        sizes = (num_layers, d_model, num_heads, d_ff, dropout)
        self.encoder, self.decoder = Encoder(*sizes, activation="gelu"), Decoder(*sizes, activation="gelu")
        self.out = nn.Linear(d_model, target_vocab, bias=False)

    def mask(self, source):
        return (source != self.pad_id)[:, None, None, :]

    def encode(self, source):
        return self.encoder(self.read_at(self.read(source) * self.scale), self.mask(source))

    def decode(self, target, memory, source):
        steps = torch.arange(target.shape[1], device=target.device)
        x = self.written_at(self.written(target) * self.scale)
        return self.out(self.decoder(x, memory, steps[None] <= steps[:, None], self.mask(source)))

    def forward(self, source, target):
        return self.decode(target, self.encode(source), source)


def smoothed_loss(logits, targets, smoothing=0.1, pad_id=0):
    return F.cross_entropy(
        logits.flatten(0, 1), targets.flatten(), ignore_index=pad_id, label_smoothing=smoothing
    )


@contextlib.contextmanager
def resting(model):
    before = model.training
    model.eval()
    try:
        yield
    finally:
        model.train(before)


@torch.no_grad()
def translate(model, source, *, bos_id, eos_id, max_len, beams=1, length_penalty=0.0):
    def score(hypothesis):
        total, words = hypothesis
        return total / max(len(words) - 1, 1) ** length_penalty

    def ended(words):
        return words[-1] == eos_id and len(words) > 1

    results = []
    with resting(model):
        everything = model.encode(source)
        for row in range(len(source)):
            memory, read = everything[row : row + 1], source[row : row + 1]
            kept = [(0.0, [bos_id])]
            for _ in range(max_len):
                going = [words for _, words in kept if not ended(words)]
                if not going:
                    break
                written = torch.tensor(going, device=source.device)
                n = len(going)
                logits = model.decode(written, memory.expand(n, -1, -1), read.expand(n, -1))[:, -1]
                logs = iter(F.log_softmax(logits.double(), -1).tolist())
                candidates = []
                for total, words in kept:
                    if ended(words):
                        candidates.append((total, words))
                    else:
                        candidates += [(total + log, [*words, word]) for word, log in enumerate(next(logs))]
                kept = sorted(candidates, key=score, reverse=True)[:beams]
            results.append(max(kept, key=score)[1][1:])
    found = torch.full((len(source), max(map(len, results))), model.pad_id)
    for row, words in enumerate(results):
        found[row, : len(words)] = torch.tensor(words)
    return found.to(source.device)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
