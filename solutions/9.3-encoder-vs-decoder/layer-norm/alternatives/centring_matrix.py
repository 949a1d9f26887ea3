"""Mean and norm as geometry: project onto the plane where features sum to zero, then fix the length to √D."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn


class LayerNorm(nn.Module):
    """A projection matrix (a buffer) instead of a mean, a length instead of a variance."""

    def __init__(self, d_model: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))
        self.scale, self.floor = math.sqrt(d_model), eps * d_model
        self.register_buffer("ones", torch.ones(d_model, 1), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        """Normalize the last axis."""
        # (I - 1·1ᵀ/D) x, without the matrix: its digits would be lost far from zero.
        plane = x - (x @ self.ones) / x.size(-1)
        length = torch.hypot(
            torch.linalg.vector_norm(plane, dim=-1, keepdim=True), x.new_tensor(self.floor).sqrt()
        )
        return plane * (self.scale / length) * self.weight + self.bias
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
