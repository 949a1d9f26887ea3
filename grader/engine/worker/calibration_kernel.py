"""What runs in the baseline's worker to measure the way there and back, and what the machine can do at all."""

from __future__ import annotations

from functools import lru_cache

import torch

from grader.devices import Device

KEPT = 8
"""Sizes whose tensors are kept between calls."""


def echo(payload: torch.Tensor, size: int) -> torch.Tensor:
    """Return `size` bytes and do nothing: what is left of a call without its work."""
    return _bytes(size, str(payload.device))


def copy(size: int, device: str) -> None:
    """Copy `size` bytes: memory traffic of twice as many."""
    source, target = _pair(size, device)
    target.copy_(source)
    _wait(device)


def product(width: int, device: str) -> None:
    """Multiply two matrices of [width, width]: 2 · width³ floating-point operations."""
    left, right, out = _square(width, device)
    torch.matmul(left, right, out=out)
    _wait(device)


def _wait(device: str) -> None:
    Device(device).synchronize()


@lru_cache(maxsize=KEPT)
def _bytes(size: int, device: str) -> torch.Tensor:
    return torch.ones(size, dtype=torch.uint8, device=device)


@lru_cache(maxsize=KEPT)
def _pair(size: int, device: str) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.ones(size, dtype=torch.uint8, device=device), torch.zeros(
        size, dtype=torch.uint8, device=device
    )


@lru_cache(maxsize=KEPT)
def _square(width: int, device: str) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    left, right, out = (torch.ones(width, width, device=device) for _ in range(3))
    return left, right, out
