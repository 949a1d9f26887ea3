"""Chooses by numbers drawn one after the other, scales by hand, and multiplies with F.linear; no bias."""

from __future__ import annotations

import torch
from blocks import EncoderLayer, LayerNorm, SinusoidalPositionalEncoding
from torch import nn
from torch.nn.functional import linear


def hide(tokens, *, mask_id, vocab_size, special_ids=(), rate=0.15, generator=None):
    """Flatten, choose places, and deal them out in an order that is drawn."""
    flat = tokens.reshape(-1).cpu()
    special = set(special_ids)
    real = torch.tensor([token not in special for token in range(vocab_size)])
    places = ((torch.rand(len(flat), generator=generator) < rate) & real[flat]).nonzero()[:, 0]
    places = places[torch.randperm(len(places), generator=generator)]
    inputs, targets = flat.clone(), torch.full_like(flat, -100)
    targets[places] = flat[places]
    masked, other = round(0.8 * len(places)), round(0.9 * len(places))
    inputs[places[:masked]] = mask_id
    if other > masked:
        drawn = torch.multinomial(real.float(), other - masked, replacement=True, generator=generator)
        inputs[places[masked:other]] = drawn
    return tuple(value.reshape(tokens.shape).to(tokens.device) for value in (inputs, targets))


class MaskedLM(nn.Module):
    """Layers one by one."""

    def __init__(
        self, vocab_size, d_model=64, num_heads=4, d_ff=128, num_layers=2, max_len=128, pad_id=0, dropout=0.0
    ):
        super().__init__()
        self.pad_id = pad_id
        self.table = nn.Parameter(torch.randn(vocab_size, d_model) * 0.1)
        self.places = SinusoidalPositionalEncoding(d_model, max_len)
        self.layers = nn.ModuleList(
            EncoderLayer(d_model, num_heads, d_ff, dropout) for _ in range(num_layers)
        )
        self.norm = LayerNorm(d_model)

    def body(self, tokens):
        """Look words up by index."""
        x = self.places(self.table[tokens] * 5)
        real = (tokens != self.pad_id).unsqueeze(1).unsqueeze(1)
        for layer in self.layers:
            x = layer(x, real)
        return self.norm(x)

    def forward(self, tokens):
        """Score."""
        return linear(self.body(tokens), self.table)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
