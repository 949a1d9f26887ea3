"""Relative positions: what a score learns of the distance between its query and its key.

B batch, H heads, T length, D the width of one head, Tq and Tk the numbers of queries and keys.
References: Su et al. 2021 (arXiv:2104.09864); Raffel et al. 2019 (arXiv:1910.10683), section 2.1; Press et al. 2021
(arXiv:2108.12409).
"""

from __future__ import annotations

import math

import torch
from torch import nn


def rotate(x: torch.Tensor, positions: torch.Tensor | None = None, *, base: float = 10000.0) -> torch.Tensor:
    """Turn columns i and i + D/2 of x by their position times the frequency of i."""
    D = x.size(-1)
    if D % 2:
        raise ValueError(f"the width ({D}) must be even: columns are turned in pairs")
    if positions is None:
        positions = torch.arange(x.size(-2), device=x.device)
    frequency = base ** (-torch.arange(0, D, 2, device=x.device) / D)  # [D/2]
    angle = positions[:, None] * frequency  # [T, D/2], in float32
    cosine, sine = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    first, second = x.chunk(2, dim=-1)
    turned = (first * cosine - second * sine, first * sine + second * cosine)
    return torch.cat(turned, dim=-1)


def _distances(
    query_len: int, key_len: int, offset: int, device: torch.device | str | None = None
) -> torch.Tensor:
    """Return key - query [Tq, Tk], the first query being at offset."""
    queries = torch.arange(query_len, device=device) + offset
    return torch.arange(key_len, device=device) - queries[:, None]


def relative_buckets(
    query_len: int,
    key_len: int,
    *,
    num_buckets: int = 32,
    max_distance: int = 128,
    bidirectional: bool = True,
    offset: int = 0,
) -> torch.Tensor:
    """Give each pair of query and key the number of its bucket."""
    distance = _distances(query_len, key_len, offset)
    first = torch.zeros_like(distance)
    if bidirectional:
        num_buckets //= 2
        first = (distance > 0) * num_buckets  # the second half is for keys after the query
        distance = distance.abs()
    else:
        distance = (-distance).clamp(min=0)  # keys after the query are as near as can be
    exact = num_buckets // 2
    share = (distance.clamp(min=1) / exact).log() / math.log(max_distance / exact)  # 0 at exact, 1 at the end
    coarse = exact + (share * (num_buckets - exact)).long()
    return first + torch.where(distance < exact, distance, coarse.clamp(max=num_buckets - 1))


class RelativePositionBias(nn.Module):
    """Learn one number for every bucket and head."""

    def __init__(
        self, num_heads: int, num_buckets: int = 32, max_distance: int = 128, bidirectional: bool = True
    ) -> None:
        super().__init__()
        self.embedding = nn.Embedding(num_buckets, num_heads)
        self.max_distance, self.bidirectional = max_distance, bidirectional

    def forward(self, query_len: int, key_len: int, offset: int = 0) -> torch.Tensor:
        """Look up the bias of every head, query and key."""
        buckets = relative_buckets(
            query_len,
            key_len,
            num_buckets=self.embedding.num_embeddings,
            max_distance=self.max_distance,
            bidirectional=self.bidirectional,
            offset=offset,
        )
        bias = self.embedding(buckets.to(self.embedding.weight.device))  # [Tq, Tk, H]
        return bias.permute(2, 0, 1)[None]


def alibi_slopes(num_heads: int) -> torch.Tensor:
    """Return how steeply each head forgets."""
    if num_heads < 1 or num_heads & (num_heads - 1):
        raise ValueError(f"num_heads ({num_heads}) must be a power of two")
    return 2.0 ** (-8 * torch.arange(1, num_heads + 1) / num_heads)


def alibi_bias(num_heads: int, query_len: int, key_len: int, offset: int = 0) -> torch.Tensor:
    """Return the penalty on distance, head by head."""
    slopes = alibi_slopes(num_heads)[:, None, None]
    return -slopes * _distances(query_len, key_len, offset).abs()
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
