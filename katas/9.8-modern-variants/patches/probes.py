"""What checks of the model bring into the worker: a start for training, and the training.

Nothing in here compares or judges; it shares its process with the submission.
"""

from __future__ import annotations

import torch
from fitting import Adam
from torch import Tensor, nn
from torch.nn.functional import cross_entropy


@torch.no_grad()
def refill(model: nn.Module) -> None:
    """Give every parameter a start that depends on its shape and its place among those of that shape alone.

    So a model learns the same from the same images in every run, whatever its parts were filled with.
    """
    seen: dict[tuple[int, ...], int] = {}
    for parameter in model.parameters():
        shape = tuple(size for size in parameter.shape if size > 1)
        place = seen[shape] = seen.get(shape, 0) + 1
        number = 0
        for part in (place, *shape):
            number = (number * 1_000_003 + part + 1) % (1 << 61)
        if len(shape) > 1:
            noise = torch.randn(shape, generator=torch.Generator().manual_seed(number))
            parameter.copy_((0.7 * noise / (noise.numel() / len(noise)) ** 0.5).view_as(parameter))
        else:
            parameter.copy_(parameter.round())  # a bias or the class token: 0; the weight of a norm: 1


class Training:
    """Training on random images with Adam; the rate rises, then falls to zero over all `steps`."""

    def __init__(self, model: nn.Module, images: Tensor, labels: Tensor, steps: int, batch: int = 64) -> None:
        refill(model)
        self.model, self.images, self.labels = model, images, labels
        self.steps, self.batch, self.done = steps, batch, 0
        self.generator, self.adam = torch.Generator().manual_seed(0), Adam(model)

    def until(self, end: int) -> None:
        """Go on up to this step."""
        self.model.train()
        for step in range(self.done, end):
            rows = torch.randint(len(self.images), (self.batch,), generator=self.generator).to(self.images.device)
            self.adam.zero_grad()
            cross_entropy(self.model(self.images[rows]), self.labels[rows]).backward()
            self.adam.step(1e-2 * min(1.0, (step + 1) / 20, 1.5 * (1 - step / self.steps)))
        self.done = end
