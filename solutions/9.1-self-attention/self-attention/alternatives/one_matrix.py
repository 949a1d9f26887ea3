"""The three projections as one product, the scores by `baddbmm`, the softmax by its logarithm."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class Projection(nn.Linear):
    """A linear layer without a bias."""

    def __init__(self, d_in: int, d_out: int) -> None:
        super().__init__(d_in, d_out, bias=False)
        nn.init.xavier_uniform_(self.weight)


class SelfAttention(nn.Module):
    """Project once, then split into queries, keys and values."""

    def __init__(self, d_model: int, d_k: int) -> None:
        super().__init__()
        self.d_k = d_k
        self.w_q, self.w_k, self.w_v = (Projection(d_model, d_k) for _ in range(3))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Let each position of x [B, T, D] look at all of them."""
        together = torch.cat([self.w_q.weight, self.w_k.weight, self.w_v.weight])  # [3·d_k, D]
        q, k, v = (x @ together.T).split(self.d_k, dim=-1)
        scores = torch.baddbmm(x.new_zeros(1, 1, 1), q, k.mT, beta=0, alpha=self.d_k**-0.5)
        weights = (scores - scores.logsumexp(dim=-1, keepdim=True)).exp()
        return torch.bmm(weights, v), weights
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
