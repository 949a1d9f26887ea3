"""Pairs as complex numbers, an axis for groups over which keys broadcast, one tensor of angles as a buffer."""

from __future__ import annotations

import torch
from torch import nn


class RMSNorm(nn.Module):
    def __init__(self, d_model, eps=1e-6):
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.ones(d_model)), eps

    def forward(self, x):
        wide = x.double() if x.dtype == torch.float64 else x.float()
        length = torch.linalg.vector_norm(wide, dim=-1, keepdim=True)
        root = (length**2 / x.shape[-1] + self.eps).sqrt()
        return self.weight * (wide / root).type_as(x)


class GroupedQueryAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        width, left = divmod(d_model, num_heads)
        shared, over = divmod(num_heads, num_kv_heads)
        if left or over:
            raise ValueError("heads have to divide the width, and key/value heads the heads")
        self.shape = (num_kv_heads, shared, width)
        self.w_q, self.w_o = (nn.Linear(d_model, d_model, bias=False) for _ in range(2))
        self.w_k, self.w_v = (nn.Linear(d_model, num_kv_heads * width, bias=False) for _ in range(2))
        speeds = 1 / 10000 ** (torch.arange(0, width, 2, dtype=torch.float64) / width)
        self.register_buffer("speeds", speeds, persistent=False)

    def turn(self, x, start):
        """x [B, T, .., d], time being the second axis."""
        wide = x if x.dtype == torch.float64 else x.float()
        place = torch.arange(start, start + x.shape[1], device=x.device)
        angle = torch.outer(place.double(), self.speeds.double())
        wave = torch.polar(torch.ones_like(angle), angle).to(torch.promote_types(wide.dtype, torch.complex64))
        if wide.dtype != torch.float64:
            wave = wave.to(torch.complex64)
        numbers = torch.view_as_complex(wide.unflatten(-1, (-1, 2)).contiguous())
        wave = wave.reshape(1, x.shape[1], *[1] * (x.ndim - 3), -1)
        return torch.view_as_real(numbers * wave).flatten(-2).to(x.dtype)

    def forward(self, x, cache=None):
        B, T, _ = x.shape
        G, shared, width = self.shape
        before = 0 if cache is None else cache[0].shape[2]
        q = self.turn(self.w_q(x).view(B, T, G, shared, width), before)
        k = self.turn(self.w_k(x).view(B, T, G, width), before).transpose(1, 2)
        v = self.w_v(x).view(B, T, G, width).transpose(1, 2)
        if cache is not None:
            k, v = (torch.cat(parts, 2) for parts in zip(cache, (k, v), strict=True))
        scores = torch.einsum("btgsd,bgkd->bgstk", q, k) / width**0.5
        place = torch.arange(before + T, device=x.device)
        hidden = place[None] > place[before:, None]
        scores = scores.masked_fill(hidden, -torch.inf)
        weights = (scores - scores.logsumexp(-1, keepdim=True)).exp()
        return self.w_o(torch.einsum("bgstk,bgkd->btgsd", weights, v).reshape(B, T, -1)), (k, v)


class Gated(nn.Module):
    def __init__(self, width, inner):
        super().__init__()
        self.gate, self.linear1 = (nn.Linear(width, inner, bias=False) for _ in range(2))
        self.linear2 = nn.Linear(inner, width, bias=False)

    def forward(self, x):
        door = self.gate(x)
        return self.linear2(door * door.sigmoid() * self.linear1(x))


class ModernLM(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, num_kv_heads, d_ff, num_layers, max_len):
        super().__init__()
        self.tokens, self.norm = nn.Embedding(vocab_size, d_model), RMSNorm(d_model)
        self.head = nn.Linear(d_model, vocab_size, bias=False)
        self.layers = nn.ModuleList()
        for _ in range(num_layers):
            parts = {
                "norm1": RMSNorm(d_model),
                "norm2": RMSNorm(d_model),
                "feed_forward": Gated(d_model, d_ff),
            }
            parts["attention"] = GroupedQueryAttention(d_model, num_heads, num_kv_heads)
            self.layers.append(nn.ModuleDict(parts))

    def forward(self, tokens, cache=None):
        x, new = self.tokens(tokens), []
        for index, layer in enumerate(self.layers):
            step, kept = layer["attention"](layer["norm1"](x), None if cache is None else cache[index])
            new.append(kept)
            x = x + step
            x = x + layer["feed_forward"](layer["norm2"](x))
        return self.head(self.norm(x)), new
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
