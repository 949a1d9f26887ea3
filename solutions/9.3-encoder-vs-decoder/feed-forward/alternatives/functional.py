"""A table of functions, the normal distribution's own Φ, functional dropout, and torch's GELU inside the network."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F


def gelu(x: Tensor) -> Tensor:
    """Return x times the standard normal's cumulative distribution."""
    return torch.special.ndtr(x).mul(x)


class FeedForward(nn.Module):
    """Position-wise network; what is from scratch is `gelu`, here torch's may be used."""

    ACTIVATIONS = {"relu": F.relu, "gelu": F.gelu, "swiglu": F.silu}  # noqa: RUF012

    def __init__(self, d_model: int, d_ff: int, activation: str = "relu", dropout: float = 0.0) -> None:
        super().__init__()
        try:
            self.function = self.ACTIVATIONS[activation]
        except KeyError:
            raise ValueError(activation) from None
        self.gate = nn.Linear(d_model, d_ff) if activation == "swiglu" else None
        self.linear2, self.linear1 = nn.Linear(d_ff, d_model), nn.Linear(d_model, d_ff)
        self.p = dropout

    def forward(self, x: Tensor) -> Tensor:
        """Drop the activated gate instead of the product: the same numbers become zero."""
        if self.gate is None:
            hidden = F.dropout(self.function(self.linear1(x)), self.p, self.training)
        else:
            hidden = F.dropout(self.function(self.gate(x)), self.p, self.training) * self.linear1(x)
        return self.linear2(hidden)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
