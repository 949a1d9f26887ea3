"""Images of one shape each, to tell apart: outlines of circles, squares, triangles and crosses, from a seed.

An image has three channels and 16 x 16 pixels, around -1 where it is dark and 1 where it is light. A shape has a size,
a place near the middle and a light colour, the ground has a dark one, and noise lies over all of it. Colours say
nothing of the shape. Nor do single patches of 4 x 4 pixels say much: a square and a cross are made of the same
strokes, which stand elsewhere.

>>> train, test = splits(train=6, test=4, seed=0)
>>> tuple(train.images.shape), train.labels.tolist()
((6, 3, 16, 16), [0, 1, 2, 3, 0, 1])
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

SHAPES = ("circle", "square", "triangle", "cross")
"""What the labels 0 to 3 mean."""
SIDE, CHANNELS = 16, 3
"""How many pixels an image has from top to bottom and from left to right, and how many numbers a pixel."""
NOISE = 0.9
"""The deviation of the noise."""
STROKE, AWAY = 2.0, 1.0
"""How wide an outline is, and how far from the middle of the image that of a shape may be, in pixels."""


class Pictures(NamedTuple):
    """Images float [N, 3, 16, 16] and labels int64 [N]."""

    images: Tensor
    labels: Tensor


def splits(
    train: int = 4096, test: int = 1024, seed: int = 0, noise: float = NOISE
) -> tuple[Pictures, Pictures]:
    """Return images to train on and others to test with; every shape is drawn equally often."""
    generator = torch.Generator().manual_seed(seed)
    return draw(train, generator, noise), draw(test, generator, noise)


def draw(number: int, generator: torch.Generator, noise: float = NOISE) -> Pictures:
    """Draw images whose labels are 0, 1, 2, 3, 0, 1, …"""
    labels = torch.arange(number) % len(SHAPES)
    dark, light = (torch.rand(number, CHANNELS, 1, 1, generator=generator) for _ in range(2))
    images = torch.where(outlines(labels, generator)[:, None], 0.4 + 0.6 * light, -0.4 - 0.6 * dark)
    return Pictures(images + noise * torch.randn(images.shape, generator=generator), labels)


def outlines(labels: Tensor, generator: torch.Generator) -> Tensor:
    """Return bool [N, 16, 16]: which pixels belong to a shape of each label."""

    def between(low: float, high: float) -> Tensor:
        return low + (high - low) * torch.rand(len(labels), 1, 1, generator=generator)

    radius = between(4.5, 6.5)
    middle = torch.arange(SIDE) - (SIDE - 1) / 2
    down = middle[:, None] - between(-AWAY, AWAY)  # [N, 16, 1], and 0 in the middle of the shape
    right = middle[None, :] - between(-AWAY, AWAY)  # [N, 1, 16]
    near, far = torch.minimum(down.abs(), right.abs()), torch.maximum(down.abs(), right.abs())
    slope = (2 * right.abs() - down - radius) / 5**0.5  # how far outside of a triangle's two sides
    outside = torch.stack([
        (down.square() + right.square()).sqrt() - radius,
        far - 0.9 * radius,
        torch.maximum(slope, down - 0.8 * radius),
        torch.where(far <= radius, near, STROKE),
    ])  # fmt: skip
    return (outside.abs() <= STROKE / 2)[labels, torch.arange(len(labels))]


if __name__ == "__main__":
    for image, label in zip(*splits(train=4, noise=0.0)[0], strict=True):
        print(SHAPES[label])
        for row in image.mean(0) > 0:
            print("".join("##" if pixel else " ." for pixel in row))
