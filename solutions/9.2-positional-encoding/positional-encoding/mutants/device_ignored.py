"""your sinusoidal_positions takes a device and does not use it: its table is always made on the CPU

Fails: test_device
"""

from __future__ import annotations

import torch
from torch import Tensor, nn


def sinusoidal_positions(max_len: int, d_model: int, *, device: torch.device | str | None = None) -> Tensor:
    if d_model % 2:
        raise ValueError(f"d_model ({d_model}) must be even")
    position = torch.arange(max_len, dtype=torch.float32)[:, None]
    frequency = 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
    angle = position * frequency
    return torch.stack((angle.sin(), angle.cos()), dim=-1).flatten(1)


def _add(x: Tensor, table: Tensor) -> Tensor:
    T, max_len = x.size(1), table.size(0)
    if max_len < T:
        raise ValueError(f"a sequence of {T} positions is longer than max_len ({max_len})")
    return x + table[:T].to(x.dtype)


class SinusoidalPositionalEncoding(nn.Module):
    def __init__(self, d_model: int, max_len: int) -> None:
        super().__init__()
        self.register_buffer("table", sinusoidal_positions(max_len, d_model))

    def forward(self, x: Tensor) -> Tensor:
        return _add(x, self.table)


class LearnedPositionalEncoding(nn.Module):
    def __init__(self, d_model: int, max_len: int) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.randn(max_len, d_model) * 0.02)

    def forward(self, x: Tensor) -> Tensor:
        return _add(x, self.table)
