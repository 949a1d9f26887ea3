"""you send one example after the other through the layer: all of a batch go through at once

Fails: test_pre_norm_speed, test_post_norm_speed
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
        if mask is None:
            return torch.cat([self._one(example, None) for example in x.split(1)])
        masks = mask.expand(len(x), -1, -1, -1).split(1) if mask.dim() == 4 else [mask] * len(x)
        return torch.cat([self._one(example, own) for example, own in zip(x.split(1), masks, strict=True)])

    def _one(self, x: torch.Tensor, mask: torch.Tensor | None) -> torch.Tensor:
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
