"""Positional encoding: a vector for every position, added to what is there.

B batch, T length, D = d_model the width. Positions count from 0.
References: Vaswani et al. 2017 (arXiv:1706.03762), section 3.5; Devlin et al. 2018 (arXiv:1810.04805).
"""

from __future__ import annotations

import torch
from torch import nn


def sinusoidal_positions(
    max_len: int, d_model: int, *, device: torch.device | str | None = None
) -> torch.Tensor:
    """Make the table of sines and cosines: one row per position, one frequency per pair of columns."""
    if d_model % 2:
        raise ValueError(f"d_model ({d_model}) must be even: each sine needs its cosine")
    position = torch.arange(max_len, dtype=torch.float32, device=device)[:, None]  # [max_len, 1]
    frequency = 10000.0 ** (-torch.arange(0, d_model, 2, device=device) / d_model)  # [D/2], from 1 down
    angle = position * frequency  # [max_len, D/2]
    return torch.stack((angle.sin(), angle.cos()), dim=-1).flatten(1)  # [max_len, D], interleaved


def _add(x: torch.Tensor, table: torch.Tensor) -> torch.Tensor:
    """Add the first T rows of table [max_len, D] to x [B, T, D]."""
    T, max_len = x.size(1), table.size(0)
    if max_len < T:
        raise ValueError(f"a sequence of {T} positions is longer than max_len ({max_len})")
    return x + table[:T].to(x.dtype)


class SinusoidalPositionalEncoding(nn.Module):
    """Add the sinusoidal table to a sequence. Nothing here is learned."""

    def __init__(self, d_model: int, max_len: int) -> None:
        super().__init__()
        self.register_buffer("table", sinusoidal_positions(max_len, d_model))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Add position t's row to x[:, t], in every sequence of the batch."""
        return _add(x, self.table)


class LearnedPositionalEncoding(nn.Module):
    """Add a table that is learned, row by row, like any other weight."""

    def __init__(self, d_model: int, max_len: int) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.randn(max_len, d_model) * 0.02)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Add position t's row to x[:, t], in every sequence of the batch."""
        return _add(x, self.table)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
