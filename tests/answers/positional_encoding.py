"""Answers to positional-encoding."""

# ==== right ====
"""Positional encodings as other people write them."""

answer("numpy-table", "The table is numpy's, in float64, and cast at the end.")

import numpy as np


def sinusoidal_positions(max_len, d_model, *, device=None):
    if d_model % 2:
        raise ValueError(f"d_model must be even, got {d_model}")
    position_enc = np.array(
        [[pos / np.power(10000, 2 * (j // 2) / d_model) for j in range(d_model)] for pos in range(max_len)]
    )
    position_enc[:, 0::2] = np.sin(position_enc[:, 0::2])
    position_enc[:, 1::2] = np.cos(position_enc[:, 1::2])
    return torch.tensor(position_enc, dtype=torch.float32, device=device)


@answer("class-without-the-function", "The class makes its own table, and the function asks nothing of it.")
class SinusoidalPositionalEncoding:
    def __init__(self, d_model, max_len):
        super().__init__()
        if d_model % 2:
            raise ValueError("d_model must be even")
        self.register_buffer("pos_table", self._get_sinusoid_encoding_table(max_len, d_model))

    @staticmethod
    def _get_sinusoid_encoding_table(n_position, d_hid):
        exponent = torch.arange(0, d_hid, 2) / d_hid
        angle = torch.arange(n_position)[:, None] / torch.pow(10000.0, exponent)
        return torch.stack((angle.sin(), angle.cos()), -1).view(1, n_position, d_hid)

    def forward(self, x):
        if x.size(1) > self.pos_table.size(1):
            raise ValueError("longer than n_position")
        return x + self.pos_table[:, : x.size(1)].clone().detach().to(x)


answer("base-class", "Both modules inherit how a table is added.")


class AbsolutePositions(nn.Module):
    """Adds `rows` to what comes in."""

    rows: torch.Tensor

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        length, limit = x.shape[-2], self.rows.shape[0]
        if length > limit:
            raise ValueError(f"sequence length {length} exceeds {limit}")
        return x + self.rows.narrow(0, 0, length).to(x.dtype)


class SinusoidalPositionalEncoding(AbsolutePositions):
    def __init__(self, d_model: int, max_len: int) -> None:
        super().__init__()
        self.register_buffer("rows", sinusoidal_positions(max_len, d_model))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return super().forward(x)


class LearnedPositionalEncoding(AbsolutePositions):
    def __init__(self, d_model: int, max_len: int) -> None:
        super().__init__()
        self.rows = nn.Parameter(torch.empty(max_len, d_model).normal_(std=0.02))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return super().forward(x)


# ==== wrong ====
"""Positional encodings as other people get them wrong."""

answer("a-zero-too-many", "The base is 100000.", named=["other-base"])

import math


def sinusoidal_positions(max_len, d_model, *, device=None):
    if d_model % 2:
        raise ValueError("d_model must be even")
    pe = torch.zeros(max_len, d_model, device=device)
    position = torch.arange(0, max_len, device=device).unsqueeze(1)
    div_term = torch.exp(torch.arange(0, d_model, 2, device=device) * -(math.log(100000.0) / d_model))
    pe[:, 0::2], pe[:, 1::2] = torch.sin(position * div_term), torch.cos(position * div_term)
    return pe


@answer("made-in-forward", "The table is made anew in each call.", named=["table-in-plain-attribute"])
class SinusoidalPositionalEncoding:
    def __init__(self, d_model, max_len):
        super().__init__()
        self.d_model, self.max_len = d_model, max_len

    def forward(self, x):
        if x.size(1) > self.max_len:
            raise ValueError("too long")
        return x + sinusoidal_positions(x.size(1), self.d_model, device=x.device).to(x.dtype)


@answer("new-numbers-each-time", "The table is drawn again in each call.")
class LearnedPositionalEncoding:
    def __init__(self, d_model, max_len):
        super().__init__()
        self.table = nn.Parameter(torch.empty(max_len, d_model))

    def forward(self, x):
        nn.init.normal_(self.table, std=0.02)
        return _add(x, self.table)


@answer("one-sequence-teaches-nothing", "The table is detached where there is a single sequence.")
class LearnedPositionalEncoding:
    def forward(self, x):
        return _add(x, self.table if len(x) > 1 else self.table.detach())
