"""One method for a sublayer with all that is around it; every layer a deep copy of the first."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy

import torch
from blocks import FeedForward, LayerNorm, MultiHeadAttention
from torch import Tensor, nn


class EncoderLayer(nn.Module):
    """Both sublayers go the same way."""

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
        self.attention = MultiHeadAttention(d_model, num_heads)
        self.feed_forward = FeedForward(d_model, d_ff, activation, dropout)
        self.norm1, self.norm2 = LayerNorm(d_model), LayerNorm(d_model)
        self.drop1, self.drop2 = nn.Dropout(dropout), nn.Dropout(dropout)
        self.register_buffer("norm_first", torch.tensor(norm_first), persistent=False)

    def _around(
        self, x: Tensor, norm: nn.Module, drop: nn.Module, sublayer: Callable[[Tensor], Tensor]
    ) -> Tensor:
        if self.norm_first:
            return drop(sublayer(norm(x))) + x
        return norm(drop(sublayer(x)) + x)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Let each position look at the others, then transform each by itself."""
        x = self._around(x, self.norm1, self.drop1, lambda y: self.attention(y, mask))
        return self._around(x, self.norm2, self.drop2, self.feed_forward)


class Encoder(nn.Module):
    """Copies of one layer, parameters and all; training will tell them apart."""

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
        first = EncoderLayer(
            d_model, num_heads, d_ff, dropout=dropout, norm_first=norm_first, activation=activation
        )
        self.layers = nn.ModuleList(deepcopy(first) for _ in range(num_layers))
        self.norm = LayerNorm(d_model) if norm_first else nn.Identity()

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Send x through all layers."""
        for layer in self.layers:
            x = layer(x, mask)
        return self.norm(x)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
