"""you loop over the heads in Python: the given MultiHeadAttention computes all of them in one product

Fails: test_pre_norm_speed, test_post_norm_speed
"""

from __future__ import annotations

import torch
from blocks import FeedForward, LayerNorm, MultiHeadAttention
from torch import nn
from torch.nn import functional as F


class ByHead(nn.Module):
    """The given attention's weights, used by one head at a time."""

    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        given = MultiHeadAttention(d_model, num_heads)
        self.num_heads = num_heads
        self.w_q, self.w_k, self.w_v, self.w_o = given.w_q, given.w_k, given.w_v, given.w_o

    def forward(self, x: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
        """Attend head after head."""
        batch, time, width = x.shape
        if mask is not None:
            mask = mask.expand(batch, self.num_heads, time, time)
        heads = []
        size = width // self.num_heads
        for head in range(self.num_heads):
            rows = slice(head * size, (head + 1) * size)
            q, k, v = (F.linear(x, w.weight[rows], w.bias[rows]) for w in (self.w_q, self.w_k, self.w_v))
            own = None if mask is None else mask[:, head]
            heads.append(F.scaled_dot_product_attention(q, k, v, own))
        return self.w_o(torch.cat(heads, dim=-1))


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
        self.attention = ByHead(d_model, num_heads)
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
