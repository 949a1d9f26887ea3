"""your square masks take a device and do not use it, so on a GPU they would stay behind on the CPU

Fails: test_device
"""

from __future__ import annotations

import torch
from torch import Tensor


def bidirectional_mask(seq_len: int, *, device: torch.device | str | None = None) -> Tensor:
    return torch.ones(seq_len, seq_len, dtype=torch.bool)


def causal_mask(seq_len: int, *, device: torch.device | str | None = None) -> Tensor:
    return torch.ones(seq_len, seq_len, dtype=torch.bool).tril()


def padding_mask(tokens: Tensor, pad_id: int = 0) -> Tensor:
    return (tokens != pad_id)[:, None, None, :]


def combine_masks(*masks: Tensor) -> Tensor:
    allowed = masks[0]
    for mask in masks[1:]:
        allowed = allowed & mask
    return allowed


def additive_mask(mask: Tensor, dtype: torch.dtype = torch.float32) -> Tensor:
    return torch.zeros(mask.shape, dtype=dtype, device=mask.device).masked_fill(~mask, float("-inf"))
