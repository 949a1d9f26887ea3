"""Activations as modules, dropout as a hand-drawn mask, the layers in a Sequential besides their names."""

from __future__ import annotations

import torch
from torch import Tensor, nn


def gelu(x: Tensor) -> Tensor:
    """Return x · Φ(x) by the complementary error function, which keeps its digits far below zero."""
    return x * torch.erfc(-x / torch.sqrt(torch.tensor(2.0))) / 2


class Gelu(nn.Module):
    """`gelu` as a module."""

    def forward(self, x: Tensor) -> Tensor:
        """Apply it."""
        return gelu(x)


class Mask(nn.Module):
    """Dropout from its definition."""

    def __init__(self, p: float) -> None:
        super().__init__()
        self.keep = 1.0 - p

    def forward(self, x: Tensor) -> Tensor:
        """Multiply by coins, scaled so that the mean stays."""
        if not self.training or self.keep == 1.0:
            return x
        return x * torch.bernoulli(torch.full_like(x, self.keep)) / self.keep


class Wide(nn.Linear):
    """A linear layer by another name."""


class FeedForward(nn.Module):
    """One chain of modules, except where a gate makes it two."""

    def __init__(self, d_model: int, d_ff: int, activation: str = "relu", dropout: float = 0.0) -> None:
        super().__init__()
        if activation == "swiglu":
            self.gate = Wide(d_model, d_ff)
        elif activation not in {"relu", "gelu"}:
            raise ValueError(f"unknown activation {activation}")
        self.linear1 = Wide(d_model, d_ff)
        self.linear2 = nn.Linear(d_ff, d_model)
        self.bend = {"relu": nn.ReLU(inplace=True), "gelu": Gelu(), "swiglu": nn.SiLU()}[activation]
        self.tail = nn.Sequential(Mask(dropout), self.linear2)

    def forward(self, x: Tensor) -> Tensor:
        """Apply the chain."""
        if hasattr(self, "gate"):
            return self.tail(torch.mul(self.bend(self.gate(x)), self.linear1(x)))
        return self.tail(self.bend(self.linear1(x)))
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
