"""Honest answers."""

# ==== fast ====
"""Honest, and fast."""

import waste
from torch import nn


class Rows(nn.Module):
    def __init__(self, width):
        super().__init__()

    def forward(self, x):
        return waste.fast(x)


# ==== slow ====
"""Honest, and slow: a loop over rows."""

import waste
from torch import nn


class Rows(nn.Module):
    def __init__(self, width):
        super().__init__()

    def forward(self, x):
        return waste.slow(x)


# ==== greedy ====
"""Honest, and takes sixty-four times the memory."""

import waste
from torch import nn


class Rows(nn.Module):
    def __init__(self, width):
        super().__init__()

    def forward(self, x):
        return waste.greedy(x)
