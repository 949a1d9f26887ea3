"""you write the indices of all pairs into two [T, T] tables: [T, 1] and [1, T] broadcast by themselves

Fails: test_causal_mask_speed
"""

from __future__ import annotations

import torch
from torch import Tensor


def bidirectional_mask(seq_len: int, *, device: torch.device | str | None = None) -> Tensor:
    return torch.ones(seq_len, seq_len, dtype=torch.bool, device=device)


def causal_mask(seq_len: int, *, device: torch.device | str | None = None) -> Tensor:
    t = torch.arange(seq_len, device=device)
    key = t.repeat(seq_len, 1)
    query = key.T.contiguous()
    return key <= query


def padding_mask(tokens: Tensor, pad_id: int = 0) -> Tensor:
    return (tokens != pad_id)[:, None, None, :]


def combine_masks(*masks: Tensor) -> Tensor:
    allowed = masks[0]
    for mask in masks[1:]:
        allowed = allowed & mask
    return allowed


def additive_mask(mask: Tensor, dtype: torch.dtype = torch.float32) -> Tensor:
    return torch.zeros(mask.shape, dtype=dtype, device=mask.device).masked_fill(~mask, float("-inf"))
