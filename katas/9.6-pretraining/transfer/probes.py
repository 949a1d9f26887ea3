"""What checks bring into the worker: a small body, small heads, and steps of training.

Nothing in here compares or judges: it shares its process with the submission. The checks compute with it, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor, nn


class Body(nn.Module):
    """Embeddings and one layer that mixes neighbours; it takes tokens [B, T] and gives hidden [B, T, D]."""

    def __init__(self, vocab_size: int, d_model: int, pad_id: int = 0) -> None:
        super().__init__()
        self.pad_id = pad_id
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.linear = nn.Linear(d_model, d_model)
        self.norm = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(0.5)

    def forward(self, tokens: Tensor) -> Tensor:
        """Return hidden [B, T, D]."""
        x = self.embedding(tokens)
        return self.norm(x + self.dropout(torch.tanh(self.linear(x.roll(1, dims=1)))))


class Head(nn.Module):
    """A linear layer on the sum of the real tokens' vectors."""

    def __init__(self, d_model: int, size: int) -> None:
        super().__init__()
        self.linear = nn.Linear(d_model, size)

    def forward(self, hidden: Tensor, mask: Tensor) -> Tensor:
        """Return [B, size]."""
        return self.linear(hidden.masked_fill(~mask.unsqueeze(-1), 0.0).sum(dim=1))


class Nested(nn.Module):
    """A parameter, a buffer, a layer, and others like it inside. What it computes shows its mode."""

    def __init__(self, width: int, depth: int) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(width))
        self.register_buffer("mean", torch.zeros(width))
        self.linear = nn.Linear(width, width)
        self.inside = nn.Sequential(nn.Tanh(), Nested(width, depth - 1)) if depth > 1 else nn.Identity()

    def forward(self, x: Tensor) -> Tensor:
        """Return the shape of x [B, width]."""
        mean = x.mean(dim=0) if self.training else self.mean
        return self.inside(self.linear((x - mean) * self.scale))


def layers(count: int, width: int) -> nn.ModuleList:
    """Return layers of a stack, of two parameters each."""
    return nn.ModuleList([nn.Linear(width, width) for _ in range(count)])


def through(stack: Iterable[nn.Module], x: Tensor) -> Tensor:
    """Return what the layers of a stack make of x, one after the other."""
    for layer in stack:
        x = torch.tanh(layer(x))
    return x


def train(
    stack: Iterable[nn.Module], x: Tensor, make: Callable[..., Any] | None = None, *options: float
) -> None:
    """Take a step of SGD, in groups that `make` makes of the stack, or with all parameters that want gradients."""
    learning = [one for layer in stack for one in layer.parameters() if one.requires_grad]
    optimizer = torch.optim.SGD(learning if make is None else make(stack, *options), lr=0.1)
    through(stack, x).square().sum().backward()
    optimizer.step()
