"""One method for a sublayer with all that is around it; every layer a deep copy of the first."""

from __future__ import annotations

from copy import deepcopy
from functools import partial

from blocks import FeedForward, LayerNorm, MultiHeadAttention
from torch import nn


class DecoderLayer(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.0, norm_first=True, activation="relu"):
        super().__init__()
        self.self_attention, self.cross_attention = (MultiHeadAttention(d_model, num_heads) for _ in range(2))
        self.feed_forward = FeedForward(d_model, d_ff, activation, dropout)
        self.norm1, self.norm2, self.norm3 = (LayerNorm(d_model) for _ in range(3))
        self.drops = nn.ModuleList(nn.Dropout(dropout) for _ in range(3))
        self.norm_first = norm_first

    def forward(self, x, memory, self_mask=None, memory_mask=None):
        steps = (
            (self.norm1, partial(self.self_attention, mask=self_mask)),
            (self.norm2, partial(self.cross_attention, mask=memory_mask, context=memory)),
            (self.norm3, self.feed_forward),
        )
        for drop, (norm, sublayer) in zip(self.drops, steps, strict=True):
            x = x + drop(sublayer(norm(x))) if self.norm_first else norm(x + drop(sublayer(x)))
        return x


class Decoder(nn.Module):
    def __init__(self, num_layers, d_model, num_heads, d_ff, dropout=0.0, norm_first=True, activation="relu"):
        super().__init__()
        first = DecoderLayer(d_model, num_heads, d_ff, dropout, norm_first, activation)
        self.layers = nn.ModuleList([deepcopy(first) for _ in range(num_layers)])
        self.norm = LayerNorm(d_model) if norm_first else nn.Identity()

    def forward(self, x, memory, self_mask=None, memory_mask=None):
        for layer in self.layers:
            x = layer(x, memory, self_mask=self_mask, memory_mask=memory_mask)
        return self.norm(x)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
