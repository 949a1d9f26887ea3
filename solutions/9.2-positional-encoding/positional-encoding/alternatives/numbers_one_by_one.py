"""Python's math, one number at a time, in double precision; the rows of an embedding."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn


class TooLong(ValueError):
    """The sequence has positions that the table lacks."""


def sinusoidal_positions(max_len: int, d_model: int, *, device=None, base: float = 10_000.0) -> Tensor:
    """Make the table of sines and cosines."""
    pairs, rest = divmod(d_model, 2)
    if rest:
        raise ValueError("an odd width has a column too many")
    rows = []
    for position in range(max_len):
        row = []
        for pair in range(pairs):
            angle = position / math.pow(base, 2 * pair / d_model)
            row += [math.sin(angle), math.cos(angle)]
        rows.append(row)
    return torch.tensor(rows, dtype=torch.float32, device=device)


class SinusoidalPositionalEncoding(nn.Module):
    """The table with a batch axis of its own, left out of the state: it can always be made again."""

    positions: Tensor

    def __init__(self, d_model: int, max_len: int) -> None:
        super().__init__()
        table = sinusoidal_positions(max_len, d_model)
        self.register_buffer("positions", table[None], persistent=False)  # [1, max_len, D]

    def forward(self, x: Tensor) -> Tensor:
        """Add position t's row to x[:, t]."""
        if x.shape[1] > self.positions.shape[1]:
            raise TooLong(f"{x.shape[1]} > {self.positions.shape[1]}")
        return (x + self.positions[:, : x.shape[1]]).to(x.dtype)


class LearnedPositionalEncoding(nn.Module):
    """Look positions up as words are looked up."""

    def __init__(self, d_model: int, max_len: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(max_len, d_model)

    def forward(self, x: Tensor) -> Tensor:
        """Add position t's row to x[:, t]."""
        length, limit = x.size(1), self.embedding.num_embeddings
        if length > limit:
            raise TooLong(f"{length} > {limit}")
        rows = self.embedding(torch.arange(length, device=x.device))
        return x.add(rows).type_as(x)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
