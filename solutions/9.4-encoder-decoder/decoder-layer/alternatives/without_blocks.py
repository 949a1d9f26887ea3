"""Every part written here, on torch's own operators; masks are widened once, by the stack's caller or the layer."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as F


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.w_q, self.w_k, self.w_v, self.w_o = (nn.Linear(width, width) for _ in range(4))

    def forward(self, query, source, mask):
        B, T, D = query.shape
        q = self.w_q(query).view(B, T, self.heads, -1).transpose(1, 2)
        k = self.w_k(source).view(B, source.shape[1], self.heads, -1).transpose(1, 2)
        v = self.w_v(source).view(B, source.shape[1], self.heads, -1).transpose(1, 2)
        scores = q @ k.transpose(-1, -2) * (D // self.heads) ** -0.5
        if mask is not None:
            nothing = ~mask.any(-1, keepdim=True)
            weights = scores.masked_fill(~mask & ~nothing, float("-inf")).softmax(-1).masked_fill(~mask, 0.0)
        else:
            weights = (scores - scores.logsumexp(-1, keepdim=True)).exp()
        return self.w_o((weights @ v).transpose(1, 2).reshape(B, T, D))


class Network(nn.Module):
    def __init__(self, width, inner, activation, dropout):
        super().__init__()
        self.linear1, self.linear2 = nn.Linear(width, inner), nn.Linear(inner, width)
        if activation == "swiglu":
            self.gate = nn.Linear(width, inner)
        self.activation, self.drop = activation, nn.Dropout(dropout)

    def forward(self, x):
        if self.activation == "swiglu":
            hidden = F.silu(self.gate(x)) * self.linear1(x)
        else:
            hidden = getattr(F, self.activation)(self.linear1(x))
        return self.linear2(self.drop(hidden))


class DecoderLayer(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.0, norm_first=True, activation="relu"):
        super().__init__()
        self.pre = norm_first
        self.self_attention = Attention(d_model, num_heads)
        self.cross_attention = Attention(d_model, num_heads)
        self.feed_forward = Network(d_model, d_ff, activation, dropout)
        self.norm1, self.norm2, self.norm3 = (nn.LayerNorm(d_model) for _ in range(3))
        self.rate = dropout

    def _drop(self, y):
        return F.dropout(y, self.rate, self.training)

    def forward(self, x, memory, self_mask=None, memory_mask=None):
        if self.pre:
            y = self.norm1(x)
            x = torch.add(x, self._drop(self.self_attention(y, y, self_mask)))
            x = torch.add(x, self._drop(self.cross_attention(self.norm2(x), memory, memory_mask)))
            return torch.add(x, self._drop(self.feed_forward(self.norm3(x))))
        x = self.norm1(x + self._drop(self.self_attention(x, x, self_mask)))
        x = self.norm2(x + self._drop(self.cross_attention(x, memory, memory_mask)))
        return self.norm3(x + self._drop(self.feed_forward(x)))


class Decoder(nn.Module):
    def __init__(self, num_layers, d_model, num_heads, d_ff, dropout=0.0, norm_first=True, activation="relu"):
        super().__init__()
        self.layers = nn.ModuleList()
        for _ in range(num_layers):
            self.layers.append(DecoderLayer(d_model, num_heads, d_ff, dropout, norm_first, activation))
        self.norm = nn.LayerNorm(d_model) if norm_first else nn.Identity()

    def forward(self, x, memory, self_mask=None, memory_mask=None):
        for layer in self.layers:
            x = layer(x, memory, self_mask, memory_mask)
        return self.norm(x)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
