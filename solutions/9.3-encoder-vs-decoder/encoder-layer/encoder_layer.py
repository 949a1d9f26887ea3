"""Encoder layer: let positions talk, let each one think, and add both to what was there.

B batch, T length, D = d_model.
References: Vaswani et al. 2017 (arXiv:1706.03762), section 3.1; Xiong et al. 2020 (arXiv:2002.04745), figure 1.
"""

from __future__ import annotations

import torch
from blocks import FeedForward, LayerNorm, MultiHeadAttention
from torch import nn


class EncoderLayer(nn.Module):
    """Self-attention and a feed-forward network, each with a norm, dropout and a residual connection."""

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
        """Let each position of x [B, T, D] look at the others, then transform each by itself."""
        if self.norm_first:
            x = x + self.dropout(self.attention(self.norm1(x), mask))  # x itself goes by untouched
            x = x + self.dropout(self.feed_forward(self.norm2(x)))
        else:
            x = self.norm1(x + self.dropout(self.attention(x, mask)))  # every sum is normalised at once
            x = self.norm2(x + self.dropout(self.feed_forward(x)))
        return x  # [B, T, D]


class Encoder(nn.Module):
    """A stack of encoder layers."""

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
        # A pre-norm stream has only been added to; a post-norm one comes normalised from the last layer.
        self.norm = LayerNorm(d_model) if norm_first else nn.Identity()

    def forward(self, x: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
        """Send x [B, T, D] through all layers, each under the same mask."""
        for layer in self.layers:
            x = layer(x, mask)
        return self.norm(x)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
