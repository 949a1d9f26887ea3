"""your module loops over sequences and heads: split the columns into [B, H, T, d], and one call serves all

Fails: test_multi_head_speed
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn


def scaled_dot_product_attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is None:
        weights = scores.softmax(dim=-1)
    else:
        blind = ~mask.any(dim=-1, keepdim=True)
        weights = scores.masked_fill(~(mask | blind), float("-inf")).softmax(dim=-1).masked_fill(blind, 0.0)
    return weights @ value, weights


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

    def forward(self, x: Tensor, mask: Tensor | None = None, context: Tensor | None = None) -> Tensor:
        source = x if context is None else context
        B, T, D = x.shape
        d = D // self.num_heads
        if mask is not None:
            mask = mask.expand(B, self.num_heads, T, source.size(1))
        q, k, v = self.w_q(x), self.w_k(source), self.w_v(source)
        rows = []
        for b in range(B):
            heads = []
            for h in range(self.num_heads):
                columns = slice(h * d, (h + 1) * d)
                allowed = None if mask is None else mask[b, h]
                one = (q[b, :, columns], k[b, :, columns], v[b, :, columns])
                heads.append(scaled_dot_product_attention(*one, allowed)[0])
            rows.append(torch.cat(heads, dim=-1))
        return self.w_o(torch.stack(rows))
