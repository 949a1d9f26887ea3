"""your projections are bare matrices of [d_model, d_k]: w_q, w_k and w_v are nn.Linear layers

Fails: test_parameters
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn


class SelfAttention(nn.Module):
    def __init__(self, d_model: int, d_k: int) -> None:
        super().__init__()
        self.w_q = nn.Parameter(torch.randn(d_model, d_k) * d_model**-0.5)
        self.w_k = nn.Parameter(torch.randn(d_model, d_k) * d_model**-0.5)
        self.w_v = nn.Parameter(torch.randn(d_model, d_k) * d_model**-0.5)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        q, k, v = x @ self.w_q, x @ self.w_k, x @ self.w_v
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
        weights = scores.softmax(dim=-1)
        return weights @ v, weights
