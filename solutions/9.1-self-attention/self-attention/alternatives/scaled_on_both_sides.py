"""Queries and keys each carry the fourth root of the scale; one sequence after the other."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class SelfAttention(nn.Module):
    """No batched product at all: plain matrices, stacked at the end."""

    def __init__(self, d_model: int, d_k: int) -> None:
        super().__init__()
        self.w_q = nn.Linear(d_model, d_k, bias=False)
        self.w_k = nn.Linear(d_model, d_k, bias=False)
        self.w_v = nn.Linear(d_model, d_k, bias=False)
        self.softmax = nn.Softmax(dim=-1)
        self.scale = d_k**-0.25

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Let each position of each sequence look at all of its own."""
        queries, keys = self.w_q(x) * self.scale, self.w_k(x) * self.scale
        weights = [self.softmax(q @ k.t()) for q, k in zip(queries, keys, strict=True)]
        outputs = [w @ v for w, v in zip(weights, self.w_v(x), strict=True)]
        return torch.stack(outputs), torch.stack(weights)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
