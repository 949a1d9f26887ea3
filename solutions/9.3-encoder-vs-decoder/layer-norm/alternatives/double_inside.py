"""E[x²] - E[x]², which is safe far from zero only because it is computed in twice the digits."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class LayerNorm(nn.Module):
    """Accumulate in float64, answer in the dtype of the input."""

    def __init__(self, d_model: int, eps: float = 1e-5, *, elementwise_affine: bool = True) -> None:
        super().__init__()
        self.d_model, self.eps = d_model, eps
        self.weight = nn.Parameter(torch.ones(d_model), requires_grad=elementwise_affine)
        self.bias = nn.Parameter(torch.zeros(d_model), requires_grad=elementwise_affine)

    def forward(self, x: Tensor) -> Tensor:
        """Normalize the last axis."""
        wide = x.double()
        mean = torch.einsum("...d->...", wide).div(self.d_model).unsqueeze(-1)
        power = torch.einsum("...d,...d->...", wide, wide).div(self.d_model).unsqueeze(-1)
        deviation = (power - mean.square()).clamp_min(0.0).add(self.eps).sqrt()
        return ((wide - mean) / deviation * self.weight + self.bias).to(x.dtype)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
