"""The same masks written out: rows in a loop, a stack for the combination, a logarithm for the numbers."""

from __future__ import annotations

import torch
from torch import Tensor


def bidirectional_mask(seq_len: int, *, device: torch.device | str | None = None) -> Tensor:
    """Let every query see every key: bool [T, T]."""
    return torch.tensor([[True] * seq_len for _ in range(seq_len)], device=device)


def causal_mask(seq_len: int, *, device: torch.device | str | None = None) -> Tensor:
    """Row q is q + 1 times True, then False: bool [T, T]."""
    mask = torch.zeros(seq_len, seq_len, dtype=torch.bool, device=device)
    for query in range(seq_len):
        mask[query, : query + 1] = True
    return mask


def padding_mask(tokens: Tensor, pad_id: int = 0) -> Tensor:
    """Hide the padding, one sequence at a time: bool [B, 1, 1, T]."""
    return torch.stack([torch.logical_not(row == pad_id) for row in tokens])[:, None, None]


def combine_masks(*masks: Tensor) -> Tensor:
    """Stack the masks in their common shape; a pair is allowed where all of them are True."""
    return torch.stack(torch.broadcast_tensors(*masks)).all(dim=0)


def additive_mask(mask: Tensor, dtype: torch.dtype = torch.float32) -> Tensor:
    """Take the logarithm of 1 or 0: exactly 0 or -inf."""
    return mask.to(dtype).log()
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
