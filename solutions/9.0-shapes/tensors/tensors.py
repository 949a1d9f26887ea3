"""The moves on shapes that every later kata takes for granted.

Reference: Harris et al. 2020 (arXiv:2006.10256), broadcasting and indexing by arrays.
"""

from __future__ import annotations

import torch
from torch import Tensor


def outer_compare(a: Tensor, b: Tensor) -> Tensor:
    """Compare every entry of a with every entry of b: bool [A, B]."""
    return a[:, None] <= b[None, :]


def one_hot(ids: Tensor, size: int) -> Tensor:
    """Write each id as a row of zeros with a single one: float32 [.., size]."""
    _expect_ids(ids, size)
    return (ids[..., None] == torch.arange(size, device=ids.device)).to(torch.float32)


def pick(table: Tensor, ids: Tensor) -> Tensor:
    """Read one row of a table for each id: [.., D]."""
    _expect_ids(ids, len(table))
    return table[ids]


def masked_mean(x: Tensor, keep: Tensor) -> Tensor:
    """Average over the positions that count: [B, D], 0 where a row keeps none."""
    total = x.masked_fill(~keep[:, :, None], 0).sum(1)
    return total / keep.sum(1, keepdim=True).clamp(min=1)


def split_heads(x: Tensor, heads: int) -> Tensor:
    """Divide the last axis among heads: [B, H, T, D/H]."""
    if heads < 1 or x.shape[-1] % heads:
        raise ValueError(f"{heads} heads cannot share {x.shape[-1]} columns: heads must divide them")
    return x.unflatten(-1, (heads, -1)).transpose(1, 2)


def join_heads(x: Tensor) -> Tensor:
    """Put the columns of all heads side by side again: [B, T, D]."""
    return x.transpose(1, 2).flatten(2)


def shift_right(tokens: Tensor, start: int) -> Tensor:
    """Put start in front of each row, and drop its last token: int64 [B, T]."""
    first = torch.full_like(tokens[:, :1], start)
    return torch.cat([first, tokens[:, :-1]], dim=1)


def _expect_ids(ids: Tensor, size: int) -> None:
    """Raise ValueError if an id is outside a table of that size."""
    outside = ids[(ids < 0) | (ids >= size)]
    if outside.numel():
        raise ValueError(f"id {int(outside[0])} is outside the table: ids go from 0 to {size - 1}")
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
