"""you loop over the positions in Python: nn.Linear takes all axes before the last in one product

Fails: test_feed_forward_speed, test_gate_speed
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F


def gelu(x: Tensor) -> Tensor:
    """Keep of each number the share that its size deserves: x · Φ(x)."""
    return x * 0.5 * (1.0 + torch.erf(x / math.sqrt(2.0)))


class FeedForward(nn.Module):
    """One position after the other."""

    def __init__(self, d_model: int, d_ff: int, activation: str = "relu", dropout: float = 0.0) -> None:
        super().__init__()
        if activation not in ("relu", "gelu", "swiglu"):
            raise ValueError(f"activation must be relu, gelu or swiglu, not {activation!r}")
        self.activation = activation
        self.linear1 = nn.Linear(d_model, d_ff)
        self.linear2 = nn.Linear(d_ff, d_model)
        if activation == "swiglu":
            self.gate = nn.Linear(d_model, d_ff)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        """Pass each position of x [B, T, D] through the network."""
        rows = [self._one(row) for row in x.reshape(-1, x.shape[-1])]
        return torch.stack(rows).reshape(x.shape)

    def _one(self, row: Tensor) -> Tensor:
        h = self.linear1(row)
        if self.activation == "relu":
            h = F.relu(h)
        elif self.activation == "gelu":
            h = gelu(h)
        else:
            h = F.silu(self.gate(row)) * h
        return self.linear2(self.dropout(h))
