"""your attention hides the future: in this exercise every position sees every other

Fails: test_both_directions, test_weights
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn


class SelfAttention(nn.Module):
    def __init__(self, d_model: int, d_k: int) -> None:
        super().__init__()
        self.w_q = nn.Linear(d_model, d_k, bias=False)
        self.w_k = nn.Linear(d_model, d_k, bias=False)
        self.w_v = nn.Linear(d_model, d_k, bias=False)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
        future = torch.ones_like(scores, dtype=torch.bool).triu(1)
        weights = scores.masked_fill(future, float("-inf")).softmax(dim=-1)
        return weights @ v, weights
