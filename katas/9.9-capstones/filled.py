"""What the checks of both capstones bring into the worker: values for parameters, torch's global generator."""

from __future__ import annotations

import torch
from torch import Tensor, nn


def _noise(shape: tuple[int, ...], place: int, seed: int) -> Tensor:
    number = seed
    for part in (len(shape), place, *shape):
        number = (number * 1_000_003 + part + 1) % (1 << 61)
    return torch.randn(shape, generator=torch.Generator().manual_seed(number), dtype=torch.float32)


@torch.no_grad()
def refill(model: nn.Module, seed: int, scale: float = 1.0) -> None:
    """Give every parameter random values that depend on its shape and its place among those of that shape.

    Matrices are as large as keeps what they are given in its size, times `scale`.
    """
    seen: dict[tuple[int, ...], int] = {}
    for parameter in model.parameters():
        shape = tuple(parameter.shape)
        place = seen[shape] = seen.get(shape, 0) + 1
        noise = _noise(shape, place, seed).to(parameter)
        if len(shape) > 1:
            parameter.copy_(noise * scale * shape[-1] ** -0.5)
        else:  # a bias, or the weight of a norm: near the 0 or 1 where it starts
            parameter.copy_(parameter.round() + noise * 0.2)


@torch.no_grad()
def quiet(model: nn.Module, seed: int, kept: list[int], scale: float = 1.0) -> None:
    """Silence every sublayer: matrices become 0, unless a side of theirs is in `kept` (the vocabulary, the length).

    Those get noise as large as `scale`, weights of norms all the same uneven numbers, biases 0.
    """
    for parameter in model.parameters():
        shape = tuple(parameter.shape)
        if len(shape) > 1:
            tables = any(side in kept for side in shape)
            parameter.copy_(
                scale * _noise(shape, 1, seed).to(parameter) if tables else torch.zeros_like(parameter)
            )
        elif bool((parameter == 1).all()):
            parameter.copy_(1 + 0.6 * _noise(shape, 1, seed).to(parameter))
        else:
            parameter.zero_()


def reseed(seed: int) -> None:
    """Leave torch's global generator somewhere."""
    torch.manual_seed(seed)
