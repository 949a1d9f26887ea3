"""your scores are divided by √d_model: it is √d_k, the width of the vectors that are multiplied

Fails: test_weights
"""

from __future__ import annotations

import math

from torch import Tensor, nn


class SelfAttention(nn.Module):
    def __init__(self, d_model: int, d_k: int) -> None:
        super().__init__()
        self.w_q = nn.Linear(d_model, d_k, bias=False)
        self.w_k = nn.Linear(d_model, d_k, bias=False)
        self.w_v = nn.Linear(d_model, d_k, bias=False)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
        scores = q @ k.transpose(-2, -1) / math.sqrt(x.size(-1))
        weights = scores.softmax(dim=-1)
        return weights @ v, weights
