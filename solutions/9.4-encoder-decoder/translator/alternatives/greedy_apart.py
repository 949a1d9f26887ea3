"""Greedy by a loop of its own, beams by another; the loss from a target distribution; positions outside the state."""

from __future__ import annotations

import torch
from blocks import DecoderLayer, EncoderLayer, LayerNorm, sinusoidal_positions
from torch import nn


class Translator(nn.Module):
    def __init__(self, source_vocab, target_vocab, d_model=64, num_heads=4, d_ff=128, num_layers=2, max_len=64,
                 dropout=0.0, pad_id=0):  # fmt: skip
        super().__init__()
        self.pad_id = pad_id
        self.embed_source = nn.Embedding(source_vocab, d_model)
        self.embed_target = nn.Embedding(target_vocab, d_model)
        self.reading = nn.ModuleList(
            EncoderLayer(d_model, num_heads, d_ff, dropout) for _ in range(num_layers)
        )
        self.writing = nn.ModuleList(
            DecoderLayer(d_model, num_heads, d_ff, dropout) for _ in range(num_layers)
        )
        self.norm_source, self.norm_target = LayerNorm(d_model), LayerNorm(d_model)
        self.head = nn.Linear(d_model, target_vocab)

    def _embed(self, table, tokens):
        x = table(tokens)
        return x + sinusoidal_positions(tokens.shape[1], x.shape[-1], device=x.device).to(x.dtype)

    def encode(self, source):
        x, real = self._embed(self.embed_source, source), source.ne(self.pad_id)[:, None, None]
        for layer in self.reading:
            x = layer(x, real)
        return self.norm_source(x)

    def decode(self, target, memory, source):
        x, real = self._embed(self.embed_target, target), source.ne(self.pad_id)[:, None, None]
        T = target.shape[1]
        causal = torch.ones(T, T, dtype=torch.bool, device=target.device).tril()
        for layer in self.writing:
            x = layer(x, memory, causal, real)
        return self.head(self.norm_target(x))

    def forward(self, source, target):
        return self.decode(target, self.encode(source), source)


def smoothed_loss(logits, targets, smoothing=0.1, pad_id=0):
    V = logits.shape[-1]
    q = torch.full_like(logits, smoothing / V).scatter_add(
        -1, targets[..., None], torch.full_like(logits[..., :1], 1 - smoothing)
    )
    losses = -(q * (logits - logits.logsumexp(-1, keepdim=True))).sum(-1)
    real = (targets != pad_id).to(losses.dtype)
    return (losses * real).sum() / real.sum()


def translate(model, source, *, bos_id, eos_id, max_len, beams=1, length_penalty=0.0):
    training = model.training
    model.eval()
    with torch.no_grad():
        try:
            if beams == 1:
                return _greedy(model, source, bos_id, eos_id, max_len)
            return _beams(model, source, bos_id, eos_id, max_len, beams, length_penalty)
        finally:
            model.train(training)


def _greedy(model, source, bos_id, eos_id, max_len):
    memory = model.encode(source)
    tokens = torch.full((len(source), 1), bos_id, device=source.device)
    done = torch.zeros(len(source), dtype=torch.bool, device=source.device)
    while tokens.shape[1] <= max_len and not done.all():
        word = model.decode(tokens, memory, source)[:, -1].argmax(-1)
        word = torch.where(done, model.pad_id, word)
        done |= word == eos_id
        tokens = torch.cat((tokens, word[:, None]), 1)
    return tokens[:, 1:]


def _beams(model, source, bos_id, eos_id, max_len, beams, length_penalty):
    memory, rows = model.encode(source), []
    for b in range(len(source)):
        tokens = torch.full((1, 1), bos_id, device=source.device)
        sums = torch.zeros(1, device=source.device)
        sizes, done = torch.zeros_like(sums), torch.zeros_like(sums, dtype=torch.bool)
        for _ in range(max_len):
            K = len(tokens)
            logs = model.decode(tokens, memory[[b] * K], source[[b] * K])[:, -1].float()
            logs = logs - logs.logsumexp(-1, keepdim=True)
            V = logs.shape[-1]
            price = torch.where(done[:, None], -torch.inf, logs)
            price[done, model.pad_id] = 0.0
            total, size = sums[:, None] + price, (sizes + ~done)[:, None].expand(-1, V)
            ranked = (total / size**length_penalty).flatten().sort(descending=True)
            best = ranked.indices[:beams][ranked.values[:beams] > -torch.inf]
            tokens = torch.cat((tokens[best // V], (best % V)[:, None]), 1)
            sums, sizes = total.flatten()[best], size.flatten()[best]
            done = done[best // V] | (best % V == eos_id)
            if bool(done.all()):
                break
        rows.append(tokens[(sums / sizes**length_penalty).argmax(), 1:])
    return nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=model.pad_id)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
