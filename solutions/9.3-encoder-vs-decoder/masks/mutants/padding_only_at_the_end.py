"""your padding mask assumes that the real tokens stand first: padding may also come before or between

Fails: test_padding_values
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
    lengths = (tokens != pad_id).sum(dim=1)
    positions = torch.arange(tokens.shape[1], device=tokens.device)
    return (positions < lengths[:, None])[:, None, None, :]


def combine_masks(*masks: Tensor) -> Tensor:
    allowed = masks[0]
    for mask in masks[1:]:
        allowed = allowed & mask
    return allowed


def additive_mask(mask: Tensor, dtype: torch.dtype = torch.float32) -> Tensor:
    return torch.zeros(mask.shape, dtype=dtype, device=mask.device).masked_fill(~mask, float("-inf"))
