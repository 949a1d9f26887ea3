"""your gelu is x · sigmoid(x): that is silu

Fails: test_gelu_values
"""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as F


def gelu(x: torch.Tensor) -> torch.Tensor:
    return x * torch.sigmoid(x)


class FeedForward(nn.Module):
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
        h = self.linear1(x)
        if self.activation == "relu":
            h = F.relu(h)
        elif self.activation == "gelu":
            h = gelu(h)
        else:
            h = F.silu(self.gate(x)) * h
        return self.linear2(self.dropout(h))
