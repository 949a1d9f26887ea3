"""you write the causal mask row by row as Python lists: one comparison of two index vectors fills it

Fails: test_causal_mask_speed
"""

from __future__ import annotations

import torch
from torch import Tensor


def bidirectional_mask(seq_len: int, *, device: torch.device | str | None = None) -> Tensor:
    return torch.ones(seq_len, seq_len, dtype=torch.bool, device=device)


def causal_mask(seq_len: int, *, device: torch.device | str | None = None) -> Tensor:
    rows = []
    for query in range(seq_len):
        rows.append([True] * (query + 1) + [False] * (seq_len - query - 1))
    return torch.tensor(rows, device=device)


def padding_mask(tokens: Tensor, pad_id: int = 0) -> Tensor:
    return (tokens != pad_id)[:, None, None, :]


def combine_masks(*masks: Tensor) -> Tensor:
    allowed = masks[0]
    for mask in masks[1:]:
        allowed = allowed & mask
    return allowed


def additive_mask(mask: Tensor, dtype: torch.dtype = torch.float32) -> Tensor:
    return torch.zeros(mask.shape, dtype=dtype, device=mask.device).masked_fill(~mask, float("-inf"))
