"""Positions counted over real tokens, embeddings times the root of D, an optimizer by hand, losses in NumPy."""

from __future__ import annotations

import math

import numpy as np
import torch
import torch.nn.functional as F
from blocks import Encoder, combine_masks, padding_mask, sinusoidal_positions
from torch import nn


def pool(hidden, mask, strategy):
    """Sort out the three strategies by table."""

    def mean():
        total = torch.where(
            mask[..., None], hidden, torch.zeros((), dtype=hidden.dtype, device=hidden.device)
        )
        return total.sum(1) / mask.sum(1).clamp_min(1)[:, None].to(hidden.dtype)

    def greatest():
        lowest = torch.finfo(hidden.dtype).min
        found = torch.where(mask[..., None], hidden, lowest).max(dim=1).values
        return torch.where(mask.any(1)[:, None], found, torch.zeros_like(found))

    strategies = {"cls": lambda: hidden[:, 0, :].clone(), "mean": mean, "max": greatest}
    if strategy not in strategies:
        raise ValueError(f"{strategy!r} is none of {', '.join(strategies)}")
    return strategies[strategy]()


class EncoderClassifier(nn.Module):
    """The first real token is at position 0, wherever the padding stands."""

    def __init__(
        self, vocab_size, num_classes, d_model=64, num_heads=4, d_ff=128, num_layers=2, max_len=128,
        pooling="cls", pad_id=0, dropout=0.0, verbose=False,
    ):  # fmt: skip
        super().__init__()
        self.pooling, self.pad_id, self.scale = pooling, pad_id, math.sqrt(d_model)
        self.embed = nn.Embedding(vocab_size, d_model, padding_idx=pad_id)
        self.position = nn.Parameter(sinusoidal_positions(max_len, d_model), requires_grad=False)
        self.drop = nn.Dropout(dropout)
        self.encoder = Encoder(num_layers, d_model, num_heads, d_ff, dropout, activation="swiglu")
        self.out = nn.Linear(d_model, num_classes)
        if verbose:
            print(sum(p.numel() for p in self.parameters()), "parameters")

    def forward(self, tokens):
        """Return logits [B, C] for tokens [B, T]."""
        real = tokens.ne(self.pad_id)
        place = (real.cumsum(dim=1) - 1).clamp(min=0)
        x = self.drop(self.embed(tokens) * self.scale + self.position[place])
        mask = combine_masks(padding_mask(tokens, self.pad_id), torch.ones_like(real)[:, None, None])
        return self.out(pool(self.encoder(x, mask), real, self.pooling))


def fit(model, tokens, labels, *, epochs=10, batch_size=32, lr=1e-3, generator=None):
    """Train by Adam, written out: gradients by autograd.grad, so there is nothing to empty."""
    model.train(True)
    learned = [p for p in model.parameters() if p.requires_grad]
    first, second = ([torch.zeros_like(p) for p in learned] for _ in range(2))
    history, step = [], 0
    for _ in range(epochs):
        order = torch.rand(len(tokens), generator=generator).argsort()
        losses, sizes = [], []
        for start in range(0, len(order), batch_size):
            chosen = order[start : start + batch_size]
            loss = F.nll_loss(F.log_softmax(model(tokens[chosen]), dim=-1), labels[chosen])
            step += 1
            gradients = torch.autograd.grad(loss, learned, allow_unused=True)
            with torch.no_grad():
                for p, m, v, g in zip(learned, first, second, gradients, strict=True):
                    if g is None:
                        continue
                    m.lerp_(g, 0.1)
                    v.mul_(0.999).addcmul_(g, g, value=0.001)
                    p -= lr * (m / (1 - 0.9**step)) / ((v / (1 - 0.999**step)).sqrt() + 1e-8)
            losses.append(loss.item())
            sizes.append(len(chosen))
        history.append(np.average(losses, weights=sizes))
    return history
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
