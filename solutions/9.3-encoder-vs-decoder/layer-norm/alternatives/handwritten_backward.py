"""The backward pass derived by hand: what is left of the gradient when its mean and its part along x are gone."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn


class Normalize(torch.autograd.Function):
    """x -> (x - mean) / sqrt(variance + eps), with its own derivative."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, eps: float) -> Tensor:
        width = x.shape[-1]
        centred = x - x.sum(-1, keepdim=True) / width
        inverse = ((centred**2).sum(-1, keepdim=True) / width + eps) ** -0.5
        normal = centred * inverse
        ctx.save_for_backward(normal, inverse)
        return normal

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:  # type: ignore[override]
        normal, inverse = ctx.saved_tensors
        along = normal * (gradient * normal).mean(-1, keepdim=True)
        return inverse * (gradient - gradient.mean(-1, keepdim=True) - along), None


class LayerNorm(nn.Module):
    """Layer norm whose gradient autograd does not derive."""

    def __init__(self, d_model: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x: Tensor) -> Tensor:
        """Normalize the last axis."""
        return self.weight * Normalize.apply(x, self.eps) + self.bias
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
