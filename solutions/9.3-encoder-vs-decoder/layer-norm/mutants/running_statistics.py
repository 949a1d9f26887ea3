"""your module keeps a running mean and variance as batch norm does: eval mode must not differ

Fails: test_modes
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
        self.register_buffer("mean", torch.zeros(()))
        self.register_buffer("var", torch.ones(()))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if not self.training:
            return (x - self.mean) / torch.sqrt(self.var + self.eps) * self.weight + self.bias
        centred = x - x.mean(dim=-1, keepdim=True)
        variance = centred.square().mean(dim=-1, keepdim=True)
        self.mean.mul_(0.9).add_(x.mean().detach(), alpha=0.1)
        self.var.mul_(0.9).add_(variance.mean().detach(), alpha=0.1)
        return centred / torch.sqrt(variance + self.eps) * self.weight + self.bias
