"""Loops and a softmax by hand."""

from __future__ import annotations

import torch
from torch import Tensor, nn


def causal_mask(seq_len: int) -> Tensor:
    mask = torch.zeros(seq_len, seq_len, dtype=torch.bool)
    for query in range(seq_len):
        mask[query, : query + 1] = True
    return mask


def attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
    scores = torch.matmul(query / query.shape[-1] ** 0.5, key.mT)
    if mask is not None:
        scores = scores + torch.zeros(mask.shape).masked_fill(mask.logical_not(), -torch.inf)
    powers = torch.exp(scores - scores.max(dim=-1, keepdim=True).values)
    weights = powers / powers.sum(dim=-1, keepdim=True)
    return torch.matmul(weights, value), weights


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
