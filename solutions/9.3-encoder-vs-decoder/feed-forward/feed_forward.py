"""The feed-forward network: what each position does with what it has gathered.

References: Vaswani et al. 2017 (arXiv:1706.03762), section 3.3; Hendrycks and Gimpel 2016 (arXiv:1606.08415);
Shazeer 2020 (arXiv:2002.05202).
"""

from __future__ import annotations

import math

import torch
from torch import nn
from torch.nn import functional as F


def gelu(x: torch.Tensor) -> torch.Tensor:
    """Keep of each number the share that its size deserves: x · Φ(x)."""
    return x * 0.5 * (1.0 + torch.erf(x / math.sqrt(2.0)))


class FeedForward(nn.Module):
    """Widen each position, bend it, drop some of it, and make it narrow again."""

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

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Pass each position of x [B, T, D] through the network."""
        h = self.linear1(x)  # [B, T, F]
        if self.activation == "relu":
            h = F.relu(h)
        elif self.activation == "gelu":
            h = gelu(h)
        else:
            h = F.silu(self.gate(x)) * h
        return self.linear2(self.dropout(h))  # [B, T, D]
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
