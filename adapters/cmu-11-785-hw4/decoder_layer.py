"""A pre-norm layer with a mask of [T, T] over x, and one of padding over the memory: each query has its own row."""

import torch
from torch import nn


class DecoderLayer(Adapted):
    def build(self, d_model, num_heads, d_ff, dropout=0.0, norm_first=True, activation="relu"):
        layer = theirs.CrossAttentionDecoderLayer(d_model, num_heads, d_ff, dropout)
        if activation == "relu":
            layer.ffn.ffn[1] = nn.ReLU()
        return layer

    def forward(self, x, memory, self_mask=None, memory_mask=None):
        causal = None if self_mask is None else ~self_mask
        if memory_mask is None:
            return self.theirs(x, memory, None, None, causal)[0]
        rows = ~memory_mask.broadcast_to(len(x), 1, x.shape[1], memory.shape[1])[:, 0]
        found = [self.theirs(x, memory, None, rows[:, at], causal)[0][:, at] for at in range(x.shape[1])]
        return torch.stack(found, 1)
