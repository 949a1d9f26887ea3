"""you attend for one sequence and one head at a time: `@` multiplies all of them, whatever axes stand in front

Fails: test_many_heads_speed
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn


def _attend(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is None:
        weights = scores.softmax(dim=-1)
    else:
        blind = ~mask.any(dim=-1, keepdim=True)
        weights = scores.masked_fill(~(mask | blind), float("-inf")).softmax(dim=-1).masked_fill(blind, 0.0)
    return weights @ value, weights


def scaled_dot_product_attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    if query.dim() == 2:
        return _attend(query, key, value, mask)
    if mask is not None:
        mask = mask.expand(*query.shape[:-1], key.size(-2))
    results = []
    for i in range(query.size(0)):
        allowed = None if mask is None else mask[i]
        results.append(scaled_dot_product_attention(query[i], key[i], value[i], allowed))
    return torch.stack([output for output, _ in results]), torch.stack([weights for _, weights in results])


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int, bias: bool = True) -> None:
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"num_heads ({num_heads}) must divide d_model ({d_model})")
        self.num_heads = num_heads
        self.w_q = nn.Linear(d_model, d_model, bias=bias)
        self.w_k = nn.Linear(d_model, d_model, bias=bias)
        self.w_v = nn.Linear(d_model, d_model, bias=bias)
        self.w_o = nn.Linear(d_model, d_model, bias=bias)

    def _split(self, x: Tensor) -> Tensor:
        B, T, D = x.shape
        return x.view(B, T, self.num_heads, D // self.num_heads).transpose(1, 2)  # [B, H, T, d]

    def forward(self, x: Tensor, mask: Tensor | None = None, context: Tensor | None = None) -> Tensor:
        source = x if context is None else context
        q, k, v = self._split(self.w_q(x)), self._split(self.w_k(source)), self._split(self.w_v(source))
        heads, _ = scaled_dot_product_attention(q, k, v, mask)
        return self.w_o(heads.transpose(1, 2).flatten(2))
