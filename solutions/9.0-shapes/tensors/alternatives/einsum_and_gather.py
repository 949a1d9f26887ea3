"""The same moves by sums and gathers: meshgrid, scatter, gather, einsum, chunk, roll."""

from __future__ import annotations

import torch
from torch import Tensor


def outer_compare(a: Tensor, b: Tensor) -> Tensor:
    """Spread both to the whole table first: bool [A, B]."""
    rows, columns = torch.meshgrid(a, b, indexing="ij")
    return rows.le(columns)


def one_hot(ids: Tensor, size: int) -> Tensor:
    """Scatter ones into zeros: float32 [.., size]."""
    if bool(((ids < 0) | (ids >= size)).any()):
        raise ValueError(f"ids must be from 0 to {size - 1}, not {ids.unique().tolist()}")
    rows = torch.zeros(*ids.shape, size, device=ids.device)
    return rows.scatter(-1, ids.unsqueeze(-1), 1.0)


def pick(table: Tensor, ids: Tensor) -> Tensor:
    """Select rows for all ids in one line: [.., D]."""
    if ids.numel() and not 0 <= int(ids.min()) <= int(ids.max()) < table.size(0):
        raise ValueError(f"ids from {int(ids.min())} to {int(ids.max())}, in a table of {table.size(0)} rows")
    return torch.index_select(table, 0, ids.reshape(-1)).reshape(*ids.shape, table.size(1))


def masked_mean(x: Tensor, keep: Tensor) -> Tensor:
    """Weigh the positions and sum them in one product: [B, D]."""
    counts = keep.sum(1, keepdim=True)
    weights = keep.to(x.dtype) / torch.where(counts == 0, 1, counts)
    return torch.einsum("btd,bt->bd", x, weights.to(x.dtype))


def split_heads(x: Tensor, heads: int) -> Tensor:
    """Cut the columns into pieces and stack them: [B, H, T, D/H]."""
    width = x.size(2)
    if heads <= 0 or width % heads != 0:
        raise ValueError(f"heads={heads} does not divide D={width}")
    return torch.stack(x.chunk(heads, dim=2), dim=1)


def join_heads(x: Tensor) -> Tensor:
    """Put the heads' columns next to each other: [B, T, D]."""
    return torch.cat(x.unbind(1), dim=-1)


def shift_right(tokens: Tensor, start: int) -> Tensor:
    """Roll the rows, then write over what came round: int64 [B, T]."""
    rolled = tokens.roll(1, dims=1)
    rolled[:, 0] = start
    return rolled
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
