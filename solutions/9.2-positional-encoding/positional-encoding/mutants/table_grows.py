"""your sinusoidal table grows with the sequences it meets: a saved state no longer fits a new module

Fails: test_state
"""

from __future__ import annotations

import torch
from torch import Tensor, nn


def sinusoidal_positions(max_len: int, d_model: int, *, device: torch.device | str | None = None) -> Tensor:
    if d_model % 2:
        raise ValueError(f"d_model ({d_model}) must be even")
    position = torch.arange(max_len, dtype=torch.float32, device=device)[:, None]
    frequency = 10000.0 ** (-torch.arange(0, d_model, 2, device=device) / d_model)
    angle = position * frequency
    return torch.stack((angle.sin(), angle.cos()), dim=-1).flatten(1)


def _add(x: Tensor, table: Tensor) -> Tensor:
    return x + table[: x.size(1)].to(x.dtype)


def _check_length(T: int, max_len: int) -> None:
    if max_len < T:
        raise ValueError(f"a sequence of {T} positions is longer than max_len ({max_len})")


class SinusoidalPositionalEncoding(nn.Module):
    def __init__(self, d_model: int, max_len: int) -> None:
        super().__init__()
        self.max_len = max_len
        self.register_buffer("table", sinusoidal_positions(1, d_model))

    def forward(self, x: Tensor) -> Tensor:
        _check_length(x.size(1), self.max_len)
        if self.table.size(0) < x.size(1):
            self.table = sinusoidal_positions(x.size(1), x.size(2), device=x.device)
        return _add(x, self.table)


class LearnedPositionalEncoding(nn.Module):
    def __init__(self, d_model: int, max_len: int) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.randn(max_len, d_model) * 0.02)

    def forward(self, x: Tensor) -> Tensor:
        _check_length(x.size(1), self.table.size(0))
        return _add(x, self.table)
