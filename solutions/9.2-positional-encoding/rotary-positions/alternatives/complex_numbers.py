"""Pairs as complex numbers, turned by a product; buckets from a list of borders."""

from __future__ import annotations

import torch
from torch import nn


def rotate(x, positions=None, *, base=10000.0):
    width = x.shape[-1]
    if width % 2 == 1:
        raise ValueError("odd width")
    if positions is None:
        positions = torch.arange(x.shape[-2], device=x.device)
    inverse = 1.0 / base ** (torch.arange(0, width, 2, device=x.device).float() / width)
    angles = torch.outer(positions.float(), inverse)
    turns = torch.polar(torch.ones_like(angles), angles)
    pairs = torch.view_as_complex(x.float().unflatten(-1, (-1, 2)).contiguous())
    return torch.view_as_real(pairs * turns).flatten(-2).to(x.dtype)


def relative_buckets(query_len, key_len, *, num_buckets=32, max_distance=128, bidirectional=True, offset=0):
    per_side = num_buckets // 2 if bidirectional else num_buckets
    exact = per_side // 2
    logs = per_side - exact
    # The first distance of each bucket: whole numbers, then a geometric series.
    borders = [float(d) for d in range(1, exact + 1)]
    borders += [exact * (max_distance / exact) ** (k / logs) for k in range(1, logs)]
    edges = torch.tensor(borders, dtype=torch.float64)
    key = torch.arange(key_len)[None, :]
    query = torch.arange(offset, offset + query_len)[:, None]
    back = query - key
    size = back.abs() if bidirectional else back.clamp(min=0)
    found = torch.bucketize(size.double(), edges, right=True)
    if bidirectional:
        found = found + per_side * (back < 0).long()
    return found


class RelativePositionBias(nn.Module):
    def __init__(self, num_heads, num_buckets=32, max_distance=128, bidirectional=True):
        super().__init__()
        self.embedding = nn.Embedding(num_buckets, num_heads)
        self.settings = {
            "num_buckets": num_buckets,
            "max_distance": max_distance,
            "bidirectional": bidirectional,
        }

    def forward(self, query_len, key_len, offset=0):
        where = relative_buckets(query_len, key_len, offset=offset, **self.settings)
        where = where.to(self.embedding.weight.device)
        return self.embedding.weight.T[:, where].unsqueeze(0)


def alibi_slopes(num_heads):
    if bin(num_heads).count("1") != 1:
        raise ValueError("not a power of two")
    ratio = 2 ** (-8 / num_heads)
    return torch.tensor([ratio ** (h + 1) for h in range(num_heads)])


def alibi_bias(num_heads, query_len, key_len, offset=0):
    distance = torch.cdist(
        torch.arange(offset, offset + query_len, dtype=torch.float32)[:, None],
        torch.arange(key_len, dtype=torch.float32)[:, None],
        p=1,
    )
    return torch.einsum("h,qk->hqk", -alibi_slopes(num_heads), distance)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
