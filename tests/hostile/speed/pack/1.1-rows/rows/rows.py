"""Normalise rows."""

from __future__ import annotations

from torch import Tensor, nn


class Rows(nn.Module):
    """Give every row mean 0 and variance 1."""

    def __init__(self, width: int) -> None:
        super().__init__()
        raise NotImplementedError

    def forward(self, x: Tensor) -> Tensor:
        """Return x, row by row without its mean and with variance 1."""
        raise NotImplementedError
