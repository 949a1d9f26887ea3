"""Sines and cosines kept apart until they are added; a cosine is a sine a quarter turn ahead."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn


def sinusoidal_positions(max_len: int, d_model: int, *, device=None) -> Tensor:
    """Make the table by one sine over all columns, with every second one shifted."""
    if d_model != d_model // 2 * 2:
        raise ValueError("d_model must be even")
    column = torch.arange(d_model, device=device)
    frequency = torch.pow(10_000.0, -(column - column % 2) / d_model)
    shift = (column % 2) * (math.pi / 2)
    table = torch.empty(max_len, d_model, device=device)
    for position in range(max_len):
        table[position] = torch.sin(position * frequency + shift)
    return table


def _limit(length: int, max_len: int) -> None:
    if length > max_len:
        raise ValueError(f"{length} positions, but only {max_len} rows")


class SinusoidalPositionalEncoding(nn.Module):
    """Two buffers of half the width each."""

    def __init__(self, d_model: int, max_len: int) -> None:
        super().__init__()
        table = sinusoidal_positions(max_len, d_model)
        self.register_buffer("sines", table[:, 0::2].clone())
        self.register_buffer("cosines", table[:, 1::2].clone())

    def forward(self, x: Tensor) -> Tensor:
        """Add sines to the even columns of a copy and cosines to the odd ones."""
        T = x.size(1)
        _limit(T, len(self.sines))
        result = x.clone()
        result[..., 0::2] += self.sines[:T].to(x.dtype)
        result[..., 1::2] += self.cosines[:T].to(x.dtype)
        return result


class LearnedPositionalEncoding(nn.Module):
    """The table is kept upright, a column per position."""

    def __init__(self, d_model: int, max_len: int) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.empty(d_model, max_len))
        nn.init.normal_(self.table, std=0.02)

    def forward(self, x: Tensor) -> Tensor:
        """Add the first T columns, turned into rows."""
        T = x.size(1)
        _limit(T, self.table.shape[1])
        return x + self.table[:, :T].T.to(x.dtype)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
