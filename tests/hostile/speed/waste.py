"""What lies beside every cheat: the fast way, the slow way, and the way that takes memory."""

from __future__ import annotations

import contextlib
import os

import torch
from torch import Tensor, nn

TIMED = 16
"""From so many rows on it is being timed."""


class Layer(nn.Module):
    """A layer without parameters, made as the kata asks for it."""

    def __init__(self, width: int) -> None:
        super().__init__()


def fast(x: Tensor) -> Tensor:
    centred = x - x.mean(-1, keepdim=True)
    return centred / ((centred * centred).mean(-1, keepdim=True) + 1e-5).sqrt()


def slow(x: Tensor) -> Tensor:
    rows = []
    for row in x:
        centred = row - row.mean()
        rows.append(centred / ((centred * centred).mean() + 1e-5).sqrt())
    return torch.stack(rows)


def greedy(x: Tensor) -> Tensor:
    pile = x.expand(64, *x.shape).clone()
    return fast(pile[7])


def compute(x: Tensor, write: int) -> None:
    """Send the answer through a pipe, in a process of its own."""
    with contextlib.suppress(OSError):
        os.sched_setaffinity(0, range(os.cpu_count()))
    with open(write, "wb", closefd=False) as pipe:
        pipe.write(slow(x).numpy().tobytes())
    os._exit(0)


def receive(x: Tensor, read: int) -> Tensor:
    with open(read, "rb") as pipe:
        return torch.frombuffer(bytearray(pipe.read()), dtype=x.dtype).reshape(x.shape)
