"""you loop over the positions in Python: a mean over the last axis with `keepdim=True` serves them all at once

Fails: test_layer_norm_speed, test_layer_norm_roofline
"""

from __future__ import annotations

import torch
from torch import Tensor, nn


class LayerNorm(nn.Module):
    """One position after the other."""

    def __init__(self, d_model: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x: Tensor) -> Tensor:
        """Normalize the last axis."""
        rows = []
        for row in x.reshape(-1, x.shape[-1]):
            centred = row - row.mean()
            variance = centred.square().mean()
            rows.append(centred / torch.sqrt(variance + self.eps) * self.weight + self.bias)
        return torch.stack(rows).reshape(x.shape)
