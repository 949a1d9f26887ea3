"""you compute in float64 and copy what would broadcast: stay in the dtype you are given, and leave copies to torch

Fails: test_attention_memory
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn


def scaled_dot_product_attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    q, k, v = query.double(), key.double(), value.double()
    scores = q @ k.transpose(-2, -1).contiguous()
    scores = scores / torch.full_like(scores, math.sqrt(q.size(-1)))
    blind = torch.zeros_like(scores, dtype=torch.bool)
    if mask is not None:
        allowed = mask.expand(scores.shape).clone()
        blind = (~allowed.any(dim=-1, keepdim=True)).expand(scores.shape).clone()
        scores = scores + torch.zeros_like(scores).masked_fill(~(allowed | blind), float("-inf"))
    peak = scores.amax(dim=-1, keepdim=True).detach().expand(scores.shape).clone()
    powers = (scores - peak).exp()
    weights = powers / powers.sum(dim=-1, keepdim=True).expand(scores.shape).clone()
    weights = torch.where(blind, torch.zeros_like(weights), weights)
    return (weights @ v).to(query.dtype), weights.to(query.dtype)


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
