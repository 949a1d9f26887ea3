"""Decoder layer: look back at what was written, look over at what was read, think, and add all three.

B batch, T length of what is written, S length of what was read, D = d_model.
References: Vaswani et al. 2017 (arXiv:1706.03762), sections 3.1 and 3.2.3.
"""

from __future__ import annotations

import torch
from blocks import FeedForward, LayerNorm, MultiHeadAttention
from torch import nn


class DecoderLayer(nn.Module):
    """Self-attention, cross-attention and a feed-forward network around one residual stream."""

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
        self.self_attention = MultiHeadAttention(d_model, num_heads)
        self.cross_attention = MultiHeadAttention(d_model, num_heads)
        self.feed_forward = FeedForward(d_model, d_ff, activation, dropout)
        self.norm1 = LayerNorm(d_model)
        self.norm2 = LayerNorm(d_model)
        self.norm3 = LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(
        self,
        x: torch.Tensor,
        memory: torch.Tensor,
        self_mask: torch.Tensor | None = None,
        memory_mask: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Let each position of x [B, T, D] look at x, then at memory [B, S, D], then transform each by itself."""
        if self.norm_first:
            x = x + self.dropout(self.self_attention(self.norm1(x), self_mask))
            x = x + self.dropout(self.cross_attention(self.norm2(x), memory_mask, memory))
            x = x + self.dropout(self.feed_forward(self.norm3(x)))
        else:
            x = self.norm1(x + self.dropout(self.self_attention(x, self_mask)))
            x = self.norm2(x + self.dropout(self.cross_attention(x, memory_mask, memory)))
            x = self.norm3(x + self.dropout(self.feed_forward(x)))
        return x  # [B, T, D]


class Decoder(nn.Module):
    """A stack of decoder layers."""

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
            DecoderLayer(d_model, num_heads, d_ff, dropout, norm_first, activation) for _ in range(num_layers)
        )
        self.norm = LayerNorm(d_model) if norm_first else nn.Identity()

    def forward(
        self,
        x: torch.Tensor,
        memory: torch.Tensor,
        self_mask: torch.Tensor | None = None,
        memory_mask: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Send x [B, T, D] through all layers, each with the same memory and under the same masks."""
        for layer in self.layers:
            x = layer(x, memory, self_mask, memory_mask)
        return self.norm(x)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
