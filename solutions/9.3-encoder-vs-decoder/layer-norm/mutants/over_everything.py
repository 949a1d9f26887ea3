"""your mean and variance are those of the whole tensor: each position must use its own features

Fails: test_centred, test_values, test_positions_are_independent
"""

from __future__ import annotations

import torch
from torch import nn


class LayerNorm(nn.Module):
    def __init__(self, d_model: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        centred = x - x.mean()
        variance = centred.square().mean()
        return centred / torch.sqrt(variance + self.eps) * self.weight + self.bias
