"""Queries meet x itself: q·(x Wkᵀ) is (q Wk)·x, so no keys need to be made. Averaging comes before w_v, too."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class SelfAttention(nn.Module):
    """The same numbers from the products in another order."""

    def __init__(self, d_model: int, d_k: int) -> None:
        super().__init__()
        self.temperature = float(d_k) ** 0.5
        self.w_q = nn.Linear(d_model, d_k, bias=False)
        self.w_k = nn.Linear(d_model, d_k, bias=False)
        self.w_v = nn.Linear(d_model, d_k, bias=False)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Let each position of x [B, T, D] look at all of them."""
        asked = self.w_q(x).div(self.temperature) @ self.w_k.weight  # [B, T, D]
        scores = torch.einsum("bqd,bkd->bqk", asked, x)
        weights = torch.softmax(scores, -1, dtype=torch.promote_types(x.dtype, torch.float32)).to(x.dtype)
        return self.w_v(torch.einsum("bqk,bkd->bqd", weights, x)), weights
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
