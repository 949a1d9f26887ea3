"""Layer normalization: every position gets mean 0 and variance 1 over its own features.

Reference: Ba et al. 2016 (arXiv:1607.06450).
"""

from __future__ import annotations

import torch
from torch import nn


class LayerNorm(nn.Module):
    """Normalize the last axis, then scale and shift each feature by learned numbers."""

    def __init__(self, d_model: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Normalize each vector along the last axis of x [.., D]."""
        centred = x - x.mean(dim=-1, keepdim=True)
        # Squares of differences: E[x²] - E[x]² is the same on paper, and noise far from zero.
        variance = centred.square().mean(dim=-1, keepdim=True)  # [.., 1], biased
        return centred / torch.sqrt(variance + self.eps) * self.weight + self.bias
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
