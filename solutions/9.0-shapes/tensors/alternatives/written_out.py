"""The same moves written out: new tensors are made and filled, axes are moved by name of their place."""

from __future__ import annotations

import torch
from torch import Tensor


def _outside(ids: Tensor, size: int) -> list[int]:
    return [i for i in ids.flatten().tolist() if i not in range(size)]


def outer_compare(a: Tensor, b: Tensor) -> Tensor:
    """Fill the table row by row: bool [A, B]."""
    table = torch.empty(a.numel(), b.numel(), dtype=torch.bool, device=a.device)
    for i in range(a.numel()):
        table[i] = b >= a[i]
    return table


def one_hot(ids: Tensor, size: int) -> Tensor:
    """Take rows of the identity: float32 [.., size]."""
    if bad := _outside(ids, size):
        raise ValueError(f"{bad[0]} is not in range({size})")
    return torch.eye(size, device=ids.device)[ids]


def pick(table: Tensor, ids: Tensor) -> Tensor:
    """Gather the rows, entry by entry: [.., D]."""
    V, D = table.shape
    if bad := _outside(ids, V):
        raise ValueError(f"{bad[0]} is not in range({V})")
    places = ids.reshape(-1, 1).expand(-1, D)
    return table.gather(0, places).reshape((*ids.shape, D))


def masked_mean(x: Tensor, keep: Tensor) -> Tensor:
    """Average each row by itself: [B, D]."""
    means = [
        row[where].mean(0) if where.any() else row[0] * 0.0 for row, where in zip(x, keep, strict=True)
    ]
    return torch.stack(means)


def split_heads(x: Tensor, heads: int) -> Tensor:
    """Make two axes of the last, and move the heads' forward: [B, H, T, D/H]."""
    B, T, D = x.shape
    if heads not in range(1, D + 1) or D // heads * heads != D:
        raise ValueError(f"D={D} cannot be divided among {heads} heads")
    return x.reshape(B, T, heads, D // heads).permute(0, 2, 1, 3).contiguous()


def join_heads(x: Tensor) -> Tensor:
    """Move the heads' axis back, and make one of the last two: [B, T, D]."""
    B, H, T, width = x.shape
    return torch.movedim(x, 1, 2).reshape(B, T, H * width)


def shift_right(tokens: Tensor, start: int) -> Tensor:
    """Fill a tensor of start from its second column on: int64 [B, T]."""
    shifted = torch.full(tokens.shape, start, dtype=tokens.dtype, device=tokens.device)
    shifted[:, 1:] = tokens[:, :-1]
    return shifted
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
