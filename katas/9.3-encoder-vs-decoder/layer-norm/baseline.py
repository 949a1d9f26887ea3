"""The work that a layer norm cannot do without, in an order that answers nothing: it is what yours is timed next to it.

It adds what should be subtracted, and scales by what should shift.
"""

from __future__ import annotations

import torch
from torch import nn


class LayerNorm(nn.Module):
    """As many passes over x as a layer norm from scratch, for another result."""

    def __init__(self, d_model: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return something of the shape of x [.., D]."""
        moved = x + x.mean(dim=-1, keepdim=True)
        size = moved.square().mean(dim=-1, keepdim=True)
        return moved / torch.sqrt(size + self.eps) * self.bias + self.weight
