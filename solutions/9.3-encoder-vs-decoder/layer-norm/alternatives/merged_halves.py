"""Statistics of two halves, merged: within them and between them, as when features lie on two devices."""

from __future__ import annotations

import torch
from torch import Tensor, nn


def statistics(part: Tensor) -> tuple[int, Tensor, Tensor]:
    """Return how many features there are, their mean, and the sum of squares around it."""
    count = part.shape[-1]
    mean = part.sum(-1, keepdim=True) / max(1, count)  # of one feature, the second half is empty
    return count, mean, (part - mean).square().sum(-1, keepdim=True)


class LayerNorm(nn.Module):
    """The law of total variance (Chan, Golub and LeVeque 1979)."""

    def __init__(self, d_model: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.zeros(d_model))
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        """Normalize the last axis."""
        width = x.shape[-1]
        (a, mean_a, squares_a), (b, mean_b, squares_b) = map(statistics, x.tensor_split(2, dim=-1))
        apart = mean_b - mean_a
        mean = mean_a + apart * (b / width)
        variance = (squares_a + squares_b + apart.square() * (a * b / width)) / width
        return (x - mean) / (variance + self.eps).sqrt() * self.weight + self.bias
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
