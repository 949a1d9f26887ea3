"""The work that no answer of 9.3.2 can do without, in an order that answers nothing: what speed is compared with."""

from __future__ import annotations

import math

import torch
from torch import nn


def scaled_dot_product_attention(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, mask: torch.Tensor | None = None
) -> tuple[torch.Tensor, torch.Tensor]:
    """Do two products, a softmax and a few passes over [.., Tq, Tk] between them."""
    table = query @ key.transpose(-2, -1) - math.sqrt(key.size(-2))  # [.., Tq, Tk]
    if mask is None:
        spread = table.softmax(dim=-1)
    else:
        some = mask.any(dim=-1, keepdim=True)  # [.., Tq, 1]
        spread = table.masked_fill(~(mask & some), 1.0).softmax(dim=-1)
        spread = spread.masked_fill(some, 0.5)
    return spread @ value, spread  # [.., Tq, dv], [.., Tq, Tk]


class MultiHeadAttention(nn.Module):
    """The four projections and the products, each fed by another's result."""

    def __init__(self, d_model: int, num_heads: int, bias: bool = True) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.w_q = nn.Linear(d_model, d_model, bias=bias)
        self.w_k = nn.Linear(d_model, d_model, bias=bias)
        self.w_v = nn.Linear(d_model, d_model, bias=bias)
        self.w_o = nn.Linear(d_model, d_model, bias=bias)

    def _split(self, x: torch.Tensor) -> torch.Tensor:
        return x.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)

    def forward(
        self, x: torch.Tensor, mask: torch.Tensor | None = None, context: torch.Tensor | None = None
    ) -> torch.Tensor:
        """Return [B, T, D]."""
        source = x if context is None else context
        a, b, c = self._split(self.w_o(x)), self._split(self.w_q(source)), self._split(self.w_k(source))
        mixed, _ = scaled_dot_product_attention(a, b, c, mask)
        return self.w_v(mixed.transpose(1, 2).flatten(2))
