"""One call for both statistics, a reciprocal root, one fused multiply-add."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class LayerNorm(nn.Module):
    """Scale and shift in a single `addcmul`."""

    def __init__(self, d_model: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.register_parameter("bias", nn.Parameter(torch.empty(d_model)))
        self.register_parameter("weight", nn.Parameter(torch.empty(d_model)))
        self.register_buffer("eps", torch.tensor(eps))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Start as the plain normalization."""
        nn.init.ones_(self.weight)
        nn.init.zeros_(self.bias)

    def forward(self, x: Tensor) -> Tensor:
        """Normalize the last axis."""
        variance, mean = torch.var_mean(x, dim=-1, correction=0, keepdim=True)
        return torch.addcmul(self.bias, (x - mean) * torch.rsqrt(variance + self.eps), self.weight)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
