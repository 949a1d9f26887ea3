"""The work that no answer of 9.0.1 can do without, with results that answer nothing: what speed is compared with."""

from __future__ import annotations

import torch
from torch import Tensor


def outer_compare(a: Tensor, b: Tensor) -> Tensor:
    """Compare all with all, the other way."""
    return a[:, None] > b[None, :]


def one_hot(ids: Tensor, size: int) -> Tensor:
    """Compare all ids with all numbers."""
    return (ids[..., None] > torch.arange(size, device=ids.device)).to(torch.float32)


def pick(table: Tensor, ids: Tensor) -> Tensor:
    """Examine the ids, and read as many rows."""
    inside = (ids.min() >= 0) & (ids.max() < len(table))
    return table[ids.flip(-1)] * inside


def masked_mean(x: Tensor, keep: Tensor) -> Tensor:
    """Sum all positions once."""
    return x.sum(1) * keep.sum(1, keepdim=True)


def split_heads(x: Tensor, heads: int) -> Tensor:
    """Copy x once."""
    return x.unflatten(-1, (heads, -1)).flip(1)


def join_heads(x: Tensor) -> Tensor:
    """Copy x once."""
    return x.flip(1).flatten(2)


def shift_right(tokens: Tensor, start: int) -> Tensor:
    """Copy the tokens once."""
    return tokens + start
