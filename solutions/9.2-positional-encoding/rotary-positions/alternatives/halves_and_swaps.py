"""x times cosines plus the swapped pairs times sines; buckets with two logarithms, as T5's own code has them."""

from __future__ import annotations

import math

import torch
from torch import nn


def _swapped(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    out[..., 0::2] = -x[..., 1::2]
    out[..., 1::2] = x[..., 0::2]
    return out


def rotate(x, positions=None, *, base=10000.0):
    D = x.size(-1)
    if D % 2 != 0:
        raise ValueError(f"D={D} is odd")
    if positions is None:
        positions = torch.arange(x.size(-2))
    columns = torch.arange(0, D, 2, dtype=torch.float32)
    speeds = torch.exp(-math.log(base) * columns / D)
    angles = (positions.cpu().float()[:, None] * speeds).repeat_interleave(2, dim=-1).to(x.device)
    wide = x.double()
    return (wide * angles.double().cos() + _swapped(wide) * angles.double().sin()).to(x.dtype)


def relative_buckets(query_len, key_len, *, num_buckets=32, max_distance=128, bidirectional=True, offset=0):
    context = torch.arange(query_len, dtype=torch.long)[:, None] + offset
    memory = torch.arange(key_len, dtype=torch.long)[None, :]
    n = context - memory
    ret = torch.zeros_like(n)
    if bidirectional:
        num_buckets = num_buckets // 2
        ret = ret + (n < 0).long() * num_buckets
        n = n.abs()
    else:
        n = torch.max(n, torch.zeros_like(n))
    max_exact = num_buckets // 2
    is_small = n < max_exact
    large = (
        max_exact
        + (
            (torch.log(n.double().clamp(min=1)) - math.log(max_exact))
            / (math.log(max_distance) - math.log(max_exact))
            * (num_buckets - max_exact)
        )
        .floor()
        .long()
    )
    large = torch.min(large, torch.full_like(large, num_buckets - 1))
    return ret + torch.where(is_small, n, large)


class RelativePositionBias(nn.Module):
    def __init__(self, num_heads, num_buckets=32, max_distance=128, bidirectional=True):
        super().__init__()
        self.num_buckets = num_buckets
        self.max_distance = max_distance
        self.bidirectional = bidirectional
        self.embedding = nn.Embedding(num_buckets, num_heads)
        nn.init.normal_(self.embedding.weight, std=0.02)

    def forward(self, query_len, key_len, offset=0):
        buckets = relative_buckets(
            query_len, key_len, num_buckets=self.num_buckets, max_distance=self.max_distance,
            bidirectional=self.bidirectional, offset=offset,
        )  # fmt: skip
        values = nn.functional.embedding(buckets.to(self.embedding.weight.device), self.embedding.weight)
        return values.movedim(-1, 0).unsqueeze(0)


def alibi_slopes(num_heads):
    if not math.log2(num_heads).is_integer():
        raise ValueError("num_heads must be a power of 2")
    start = 2.0 ** (-(2.0 ** -(math.log2(num_heads) - 3)))
    return torch.tensor([start * start**i for i in range(num_heads)])


def alibi_bias(num_heads, query_len, key_len, offset=0):
    out = torch.zeros(num_heads, query_len, key_len)
    slopes = alibi_slopes(num_heads)
    for q in range(query_len):
        for h in range(num_heads):
            out[h, q] = -slopes[h] * (torch.arange(key_len) - (q + offset)).abs()
    return out
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
