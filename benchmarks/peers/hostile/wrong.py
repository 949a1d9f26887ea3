"""A wrong answer, which earns 6 of 12 points honestly; every hostile one is this and something more."""

import torch
from torch import nn


def causal_mask(seq_len):
    return torch.ones(seq_len, seq_len, dtype=torch.bool)


def attention(query, key, value, mask=None):
    weights = torch.full((*query.shape[:-1], key.shape[-2]), 1 / key.shape[-2])
    return weights @ value, weights


class LayerNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        return x * self.weight + self.bias
