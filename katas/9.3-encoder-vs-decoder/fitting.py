"""What probes fill and train a model with: random parameters, and Adam. They bring it into the worker.

Nothing in here compares or judges; it shares its process with the submission.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn


@torch.no_grad()
def refill(model: nn.Module, seed: int, scale: float | None = None) -> None:
    """Give every parameter random values that depend on its shape and its place among those of that shape.

    So no layer is idle because its weights start as zeros, and two models that are built alike compute the same
    whatever their layers are called. With `scale` matrices are as large as that, and all
    else is as it was: a start for training.
    """
    seen: dict[tuple[int, ...], int] = {}
    for parameter in model.parameters():
        shape = tuple(parameter.shape)
        place = seen[shape] = seen.get(shape, 0) + 1
        number = seed
        for part in (len(shape), place, *shape):
            number = (number * 1_000_003 + part + 1) % (1 << 61)
        noise = torch.randn(shape, generator=torch.Generator().manual_seed(number), dtype=torch.float32)
        noise = noise.to(parameter)
        if len(shape) > 1:
            parameter.copy_(noise * (scale or shape[-1] ** -0.5))
        else:  # a bias, or the weight of a norm: near the 0 or 1 where it starts
            parameter.copy_(parameter.round() + noise * (0.0 if scale else 0.2))


class Adam:
    """Adam over all parameters at once, with clipped gradients: importing torch's takes longer than much of a training.

    `memory` is how much of the mean square each step keeps.
    """

    def __init__(self, model: nn.Module, memory: float = 0.999) -> None:
        self.parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
        self.mean: Tensor = torch.zeros(())
        self.square: Tensor = torch.zeros(())
        self.memory, self.steps = memory, 0

    def zero_grad(self) -> None:
        """Forget all gradients; a module's own would search all its parts for parameters, a tenth of a small step."""
        for parameter in self.parameters:
            parameter.grad = None

    @torch.no_grad()
    def step(self, rate: float) -> None:
        """Move every parameter against its gradient; one without any stays."""
        self.steps += 1
        flat = torch.cat(
            [(torch.zeros_like(p) if p.grad is None else p.grad).flatten() for p in self.parameters]
        )
        flat = flat / flat.norm().clamp(min=1.0)
        self.mean = 0.9 * self.mean.to(flat) + 0.1 * flat
        self.square = self.memory * self.square.to(flat) + (1 - self.memory) * flat**2
        root = (self.square / (1 - self.memory**self.steps)).sqrt() + 1e-8
        change = rate * self.mean / (1 - 0.9**self.steps) / root
        sizes = [parameter.numel() for parameter in self.parameters]
        for parameter, part in zip(self.parameters, change.split(sizes), strict=True):
            parameter -= part.view_as(parameter)
