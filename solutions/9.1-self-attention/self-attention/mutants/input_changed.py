"""your scaling is written into x itself, which belongs to the caller: scale the scores

Fails: test_arguments, test_modes
"""

from __future__ import annotations

from torch import Tensor, nn


class SelfAttention(nn.Module):
    def __init__(self, d_model: int, d_k: int) -> None:
        super().__init__()
        self.w_q = nn.Linear(d_model, d_k, bias=False)
        self.w_k = nn.Linear(d_model, d_k, bias=False)
        self.w_v = nn.Linear(d_model, d_k, bias=False)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        v = self.w_v(x)
        x *= v.size(-1) ** -0.25
        q, k = self.w_q(x), self.w_k(x)
        scores = q @ k.transpose(-2, -1)
        weights = scores.softmax(dim=-1)
        return weights @ v, weights
