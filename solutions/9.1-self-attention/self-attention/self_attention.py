"""Self-attention: every position of a sequence looks at every position, itself included.

B batch, T length, D = d_model the width of the input, d_k the width of queries, keys and values.
References: Vaswani et al. 2017 (arXiv:1706.03762), section 3.2.1.
"""

from __future__ import annotations

import math

import torch
from torch import nn


class SelfAttention(nn.Module):
    """One head of attention, from a sequence to itself, in both directions."""

    def __init__(self, d_model: int, d_k: int) -> None:
        super().__init__()
        self.w_q = nn.Linear(d_model, d_k, bias=False)  # what a position is looking for
        self.w_k = nn.Linear(d_model, d_k, bias=False)  # what it has to offer
        self.w_v = nn.Linear(d_model, d_k, bias=False)  # what it hands over when it is looked at

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Average the values of all positions, weighted by how well their keys answer each query."""
        q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)  # [B, T, d_k] each
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))  # [B, T, T]: row query, column key
        weights = scores.softmax(dim=-1)
        return weights @ v, weights  # [B, T, d_k], [B, T, T]
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
