"""you go over the features in Python: `mean` and arithmetic on whole tensors do all of them in one call

Fails: test_layer_norm_speed, test_layer_norm_roofline
"""

from __future__ import annotations

import torch
from torch import Tensor, nn


class LayerNorm(nn.Module):
    """Sums of one feature after the other."""

    def __init__(self, d_model: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x: Tensor) -> Tensor:
        """Normalize the last axis."""
        features = x.unbind(-1)
        mean = sum(features) / len(features)
        variance = sum((feature - mean).square() for feature in features) / len(features)
        scale = 1.0 / torch.sqrt(variance + self.eps)
        parts = [
            (feature - mean) * scale * self.weight[index] + self.bias[index]
            for index, feature in enumerate(features)
        ]
        return torch.stack(parts, dim=-1)
