"""What the checks bring into the worker: a small model with much that is tied, and steps of training.

Nothing in here compares or judges; it shares its process with the submission. The checks compute with it, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn


class Block(nn.Module):
    """Two layers of different makes around a norm, and a parameter that is called A."""

    def __init__(self, width: int, inner: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, inner), nn.Linear(inner, width, bias=False)
        self.A = nn.Parameter(torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        """Return the shape of x."""
        return x + self.down(torch.tanh(self.up(self.norm(x) * self.A)))


class Model(nn.Module):
    """Tokens [B, T] to logits [B, T, V]: two blocks, a gate that both ends share, and a head tied to the embedding.

    With `tied=False` it computes the same from numbers of their own for each of these, as no checked model does.
    """

    def __init__(self, words: int = 9, width: int = 6, inner: int = 8, tied: bool = True) -> None:
        super().__init__()
        self.tokens = nn.Embedding(words, width)
        self.first = nn.Linear(width, width)
        self.blocks = nn.ModuleList([Block(width, inner) for _ in range(2)])
        self.last = self.first if tied else nn.Linear(width, width)
        self.head = nn.Linear(width, words, bias=False)
        if tied:
            self.head.weight = self.tokens.weight

    def forward(self, tokens: Tensor) -> Tensor:
        """Return logits."""
        x = self.first(self.tokens(tokens))
        for block in self.blocks:
            x = block(x)
        return self.head(self.last(x))


class Kept:
    """A state that stays here while its model goes on."""

    def __init__(self, adapter_state: Any, model: Any) -> None:
        self.state = adapter_state(model)

    def read(self) -> dict[str, Tensor]:
        """Return what it holds now."""
        return self.state


class Once:
    """Names that are read once, as of a generator, which itself would cross to the checks as a list."""

    def __init__(self, names: list[str]) -> None:
        self._names = iter(names)

    def __iter__(self) -> Iterator[str]:
        return self._names


def linear(inputs: int, outputs: int, bias: bool = True) -> nn.Linear:
    """Return a linear layer."""
    return nn.Linear(inputs, outputs, bias)


def train(model: Any, x: Tensor, steps: int = 1) -> None:
    """Take steps with all parameters that have a gradient then; weights decay, too."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.05, weight_decay=0.1)
    for _ in range(steps):
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()


def learning(model: Any) -> list[str]:
    """Return the names of the parameters that learn."""
    return [name for name, parameter in model.named_parameters() if parameter.requires_grad]


def nest() -> nn.Sequential:
    """Return layers in layers: a part in two places, and two layers with one weight."""
    twice, one, other = nn.Sequential(nn.Linear(5, 5), nn.Tanh()), nn.Linear(5, 5), nn.Linear(5, 5)
    other.weight = one.weight
    return nn.Sequential(nn.Linear(4, 5), twice, one, nn.Tanh(), other, twice, nn.Linear(5, 70, bias=False))
