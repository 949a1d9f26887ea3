"""Each pair of columns as a complex number on the unit circle; one base class adds, the other two make tables."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn


def sinusoidal_positions(max_len: int, d_model: int, *, device=None) -> Tensor:
    """Make the table of sines and cosines: e to the i·angle, with its two parts exchanged."""
    if d_model & 1:
        raise ValueError(d_model)
    frequencies = torch.exp(torch.arange(0, d_model, 2, device=device) * (-math.log(10000.0) / d_model))
    angles = torch.outer(torch.arange(max_len, device=device).float(), frequencies)
    circle = torch.polar(torch.ones_like(angles), angles)  # cos + i sin
    return torch.view_as_real(circle).flip(-1).reshape(max_len, d_model)


class _Positions(nn.Module):
    """Whatever the table is, this is how it is added."""

    def __init__(self, max_len: int, scale: float = 1.0) -> None:
        super().__init__()
        self.max_len = max_len
        self.scale = scale
        self.register_buffer("calls", torch.zeros((), dtype=torch.long))  # a buffer is free

    def rows(self) -> Tensor:
        raise NotImplementedError

    def forward(self, x: Tensor) -> Tensor:
        """Add position t's row to x[:, t]."""
        B, T, D = x.shape
        if self.max_len < T:
            raise ValueError(f"at most {self.max_len} positions, not {T}")
        self.calls += 1
        print("call", int(self.calls), "of", type(self).__name__)
        rows = self.rows().reshape(self.max_len, D).narrow(0, 0, T)
        return torch.add(x, rows.to(dtype=x.dtype, device=x.device).expand(B, T, D), alpha=self.scale)


class SinusoidalPositionalEncoding(_Positions):
    """A fixed table, kept flat."""

    def __init__(self, d_model: int, max_len: int) -> None:
        super().__init__(max_len)
        self.register_buffer("flat", sinusoidal_positions(max_len, d_model).flatten())

    def rows(self) -> Tensor:
        return self.flat


class LearnedPositionalEncoding(_Positions):
    """A learned table that starts where the fixed one is, when there is one for its width."""

    def __init__(self, d_model: int, max_len: int) -> None:
        super().__init__(max_len)
        start = torch.zeros(max_len, d_model) if d_model % 2 else sinusoidal_positions(max_len, d_model)
        self.weight = nn.Parameter(start[None])  # [1, max_len, D]

    def rows(self) -> Tensor:
        return self.weight
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
