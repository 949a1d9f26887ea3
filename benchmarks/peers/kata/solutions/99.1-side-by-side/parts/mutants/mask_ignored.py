"""your attention ignores the mask

Fails: test_attention_mask
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn


def causal_mask(seq_len: int) -> Tensor:
    return torch.ones(seq_len, seq_len, dtype=torch.bool).tril()


def attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    weights = scores.softmax(dim=-1)
    return weights @ value, weights


class LayerNorm(nn.Module):
    def __init__(self, d_model: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x: Tensor) -> Tensor:
        centred = x - x.mean(dim=-1, keepdim=True)
        variance = centred.square().mean(dim=-1, keepdim=True)
        return centred / torch.sqrt(variance + self.eps) * self.weight + self.bias
