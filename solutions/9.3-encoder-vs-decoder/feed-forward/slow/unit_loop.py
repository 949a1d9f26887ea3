"""you loop over the hidden units in Python: one product with the whole weight matrix computes all of them

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
    """One hidden unit after the other."""

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
        out = self.linear2.bias.expand_as(x)
        for unit in range(self.linear1.out_features):
            h = x @ self.linear1.weight[unit] + self.linear1.bias[unit]
            if self.activation == "relu":
                h = F.relu(h)
            elif self.activation == "gelu":
                h = gelu(h)
            else:
                h = F.silu(x @ self.gate.weight[unit] + self.gate.bias[unit]) * h
            out = out + self.dropout(h).unsqueeze(-1) * self.linear2.weight[:, unit]
        return out
