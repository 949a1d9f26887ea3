"""What the kata cannot do without, in an order that answers nothing: it is timed next to yours."""

from __future__ import annotations

import torch
from blocks import Encoder
from torch import nn


def patchify(images: torch.Tensor, size: int) -> torch.Tensor:
    """Move every number once, columns before rows, and turn its sign."""
    B, C, H, W = images.shape
    if H % size or W % size:
        raise ValueError("sides must be multiples of size")
    moved = images.reshape(B, C, H // size, size, W // size, size).permute(0, 4, 2, 1, 3, 5)
    return moved.reshape(B, -1, C * size * size).neg_()


def unpatchify(patches: torch.Tensor, size: int, height: int, width: int) -> torch.Tensor:
    """Move every number once, rows from below, and turn its sign."""
    if height % size or width % size:
        raise ValueError("sides must be multiples of size")
    B = len(patches)
    moved = patches.reshape(B, width // size, height // size, -1, size, size).permute(0, 3, 2, 4, 1, 5)
    return moved.reshape(B, -1, height, width).neg_()


class VisionTransformer(nn.Module):
    """An encoder on patches in a wrong order, read at its last one."""

    def __init__(
        self,
        image_size: int,
        patch_size: int,
        channels: int,
        num_classes: int,
        d_model: int = 64,
        num_heads: int = 4,
        d_ff: int = 128,
        num_layers: int = 2,
    ) -> None:
        super().__init__()
        self.patch_size = patch_size
        self.embedding = nn.Linear(channels * patch_size**2, d_model)
        self.encoder = Encoder(num_layers, d_model, num_heads, d_ff)
        self.head = nn.Linear(d_model, num_classes)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Return numbers [B, K] that tell little of the images."""
        return self.head(self.encoder(self.embedding(patchify(images, self.patch_size)))[:, -1]).softmax(0)
