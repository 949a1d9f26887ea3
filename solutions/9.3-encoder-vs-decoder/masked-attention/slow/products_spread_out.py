"""you write out every product, [.., Tq, Tk, d], and then sum: a matrix product adds up as it multiplies

Fails: test_attention_speed
"""

from __future__ import annotations

import math

from torch import Tensor, nn


def scaled_dot_product_attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    scores = (query.unsqueeze(-2) * key.unsqueeze(-3)).sum(dim=-1) / math.sqrt(query.size(-1))
    if mask is None:
        weights = scores.softmax(dim=-1)
    else:
        blind = ~mask.any(dim=-1, keepdim=True)
        weights = scores.masked_fill(~(mask | blind), float("-inf")).softmax(dim=-1).masked_fill(blind, 0.0)
    return (weights.unsqueeze(-1) * value.unsqueeze(-3)).sum(dim=-2), weights


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
