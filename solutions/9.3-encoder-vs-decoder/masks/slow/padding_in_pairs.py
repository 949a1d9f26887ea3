"""your padding mask makes [B, T, T] on the way: padding is a matter of keys, so [B, 1, 1, T] says it all

Fails: test_padding_mask_memory
"""

from __future__ import annotations

import torch
from torch import Tensor


def bidirectional_mask(seq_len: int, *, device: torch.device | str | None = None) -> Tensor:
    return torch.ones(seq_len, seq_len, dtype=torch.bool, device=device)


def causal_mask(seq_len: int, *, device: torch.device | str | None = None) -> Tensor:
    t = torch.arange(seq_len, device=device)
    return t[None, :] <= t[:, None]


def padding_mask(tokens: Tensor, pad_id: int = 0) -> Tensor:
    real = tokens != pad_id
    pairs = real[:, :, None] & real[:, None, :]  # query and key are both real
    return pairs.any(dim=1)[:, None, None, :]


def combine_masks(*masks: Tensor) -> Tensor:
    allowed = masks[0]
    for mask in masks[1:]:
        allowed = allowed & mask
    return allowed


def additive_mask(mask: Tensor, dtype: torch.dtype = torch.float32) -> Tensor:
    return torch.zeros(mask.shape, dtype=dtype, device=mask.device).masked_fill(~mask, float("-inf"))
