"""Masked attention: look things up, but only where the mask allows.

B batch, H heads, Tq queries, Tk keys, D = d_model, d = D / H the width of one head.
References: Vaswani et al. 2017 (arXiv:1706.03762), sections 3.2.1 and 3.2.2.
"""

from __future__ import annotations

import math

import torch
from torch import nn


def scaled_dot_product_attention(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, mask: torch.Tensor | None = None
) -> tuple[torch.Tensor, torch.Tensor]:
    """Average the values, weighted by how well each key answers the query."""
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))  # [.., Tq, Tk]
    if mask is None:
        weights = scores.softmax(dim=-1)
    else:
        # A row of -inf only has no softmax, and its NaN would come back in the gradient. Such a query keeps
        # its ordinary scores for the softmax, and loses its weights afterwards.
        blind = ~mask.any(dim=-1, keepdim=True)  # [.., Tq, 1]
        weights = scores.masked_fill(~(mask | blind), float("-inf")).softmax(dim=-1)
        weights = weights.masked_fill(blind, 0.0)
    return weights @ value, weights  # [.., Tq, dv], [.., Tq, Tk]


class MultiHeadAttention(nn.Module):
    """Several attentions side by side, each on its own slice of the features."""

    def __init__(self, d_model: int, num_heads: int, bias: bool = True) -> None:
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"num_heads ({num_heads}) must divide d_model ({d_model})")
        self.num_heads = num_heads
        self.w_q = nn.Linear(d_model, d_model, bias=bias)
        self.w_k = nn.Linear(d_model, d_model, bias=bias)
        self.w_v = nn.Linear(d_model, d_model, bias=bias)
        self.w_o = nn.Linear(d_model, d_model, bias=bias)

    def _split(self, x: torch.Tensor) -> torch.Tensor:
        B, T, D = x.shape
        return x.view(B, T, self.num_heads, D // self.num_heads).transpose(1, 2)  # [B, H, T, d]

    def forward(
        self, x: torch.Tensor, mask: torch.Tensor | None = None, context: torch.Tensor | None = None
    ) -> torch.Tensor:
        """Let each position of x [B, T, D] look at x, or at context [B, Tk, D] when it is given."""
        source = x if context is None else context
        q, k, v = self._split(self.w_q(x)), self._split(self.w_k(source)), self._split(self.w_v(source))
        heads, _ = scaled_dot_product_attention(q, k, v, mask)  # [B, H, T, d]
        return self.w_o(heads.transpose(1, 2).flatten(2))  # [B, T, D]
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
