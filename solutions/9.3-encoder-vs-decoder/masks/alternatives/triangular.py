"""The same masks from torch's triangles, `reduce` and `where`."""

from __future__ import annotations

from functools import reduce

import torch
from torch import Tensor


def bidirectional_mask(seq_len: int, *, device: torch.device | str | None = None) -> Tensor:
    """Let every query see every key: bool [T, T]."""
    return torch.full((seq_len, seq_len), True, device=device)


def causal_mask(seq_len: int, *, device: torch.device | str | None = None) -> Tensor:
    """Keep the lower triangle with its diagonal: bool [T, T]."""
    return bidirectional_mask(seq_len, device=device).tril()


def padding_mask(tokens: Tensor, pad_id: int = 0) -> Tensor:
    """Hide the padding: bool [B, 1, 1, T]."""
    B, T = tokens.shape
    return tokens.ne(pad_id).view(B, 1, 1, T)


def combine_masks(*masks: Tensor) -> Tensor:
    """Allow only what every one of the masks allows."""
    return reduce(torch.logical_and, masks)


def additive_mask(mask: Tensor, dtype: torch.dtype = torch.float32) -> Tensor:
    """Choose 0 or -inf, as scalars on the mask's device."""
    allowed = torch.tensor(0.0, dtype=dtype, device=mask.device)
    blocked = torch.tensor(float("-inf"), dtype=dtype, device=mask.device)
    return torch.where(mask, allowed, blocked)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
