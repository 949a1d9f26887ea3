"""The same masks by way of numbers: a triangle of ones, turned, filled with -inf, compared; right, in many passes."""

from __future__ import annotations

import torch
from torch import Tensor


def bidirectional_mask(seq_len: int, *, device: torch.device | str | None = None) -> Tensor:
    """Compare ones with 1: bool [T, T]."""
    return torch.ones(seq_len, seq_len, device=device) == 1


def causal_mask(seq_len: int, *, device: torch.device | str | None = None) -> Tensor:
    """Fill the additive mask first, and keep where it is 0: bool [T, T]."""
    triangle = (torch.triu(torch.ones(seq_len, seq_len, device=device)) == 1).transpose(0, 1)
    added = triangle.float().masked_fill(triangle == 0, float("-inf")).masked_fill(triangle == 1, 0.0)
    return added == 0


def padding_mask(tokens: Tensor, pad_id: int = 0) -> Tensor:
    """Hide the padding: bool [B, 1, 1, T]."""
    return (tokens != pad_id).unsqueeze(1).unsqueeze(2)


def combine_masks(*masks: Tensor) -> Tensor:
    """Multiply what every mask allows."""
    product = masks[0].clone()
    for mask in masks[1:]:
        product = product * mask
    return product


def additive_mask(mask: Tensor, dtype: torch.dtype = torch.float32) -> Tensor:
    """Fill zeros where nothing may be seen."""
    return torch.zeros(mask.shape, dtype=dtype, device=mask.device).masked_fill(
        mask.logical_not(), float("-inf")
    )
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
