"""The work that an encoder cannot do without, in an order that answers nothing: it is what yours is timed next to it.

The sublayers change places, the residuals are subtracted, and what the mask hides is what gets attention.
"""

from __future__ import annotations

import torch
from blocks import FeedForward, LayerNorm, MultiHeadAttention
from torch import nn


class EncoderLayer(nn.Module):
    """As many products, norms and sums as an encoder layer, for another result."""

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        d_ff: int,
        dropout: float = 0.0,
        norm_first: bool = True,
        activation: str = "relu",
    ) -> None:
        super().__init__()
        self.norm_first = norm_first
        self.attention = MultiHeadAttention(d_model, num_heads)
        self.feed_forward = FeedForward(d_model, d_ff, activation, dropout)
        self.norm1 = LayerNorm(d_model)
        self.norm2 = LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
        """Return something of the shape of x [B, T, D]."""
        hidden = None if mask is None else ~mask
        if self.norm_first:
            x = self.norm1(x - self.dropout(self.feed_forward(x)))
            return self.norm2(x - self.dropout(self.attention(x, hidden)))
        x = x - self.dropout(self.feed_forward(self.norm1(x)))
        return x - self.dropout(self.attention(self.norm2(x), hidden))


class Encoder(nn.Module):
    """Layers, the last one first."""

    def __init__(
        self,
        num_layers: int,
        d_model: int,
        num_heads: int,
        d_ff: int,
        dropout: float = 0.0,
        norm_first: bool = True,
        activation: str = "relu",
    ) -> None:
        super().__init__()
        self.layers = nn.ModuleList(
            EncoderLayer(d_model, num_heads, d_ff, dropout, norm_first, activation) for _ in range(num_layers)
        )
        self.norm = LayerNorm(d_model) if norm_first else nn.Identity()

    def forward(self, x: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
        """Return something of the shape of x [B, T, D]."""
        x = self.norm(x)
        for layer in reversed(self.layers):
            x = layer(x, mask)
        return x
