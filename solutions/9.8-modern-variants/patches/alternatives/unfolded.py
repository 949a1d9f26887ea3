"""Torch's sliding windows, with a step as wide as the window; the token's place is made first and then filled."""

from __future__ import annotations

import torch
from blocks import Encoder
from torch import nn
from torch.nn import functional as F


def patchify(images: torch.Tensor, size: int) -> torch.Tensor:
    if any(side % size for side in images.shape[-2:]):
        raise ValueError("a side is not a multiple of size")
    return F.unfold(images, size, stride=size).transpose(1, 2)


def unpatchify(patches: torch.Tensor, size: int, height: int, width: int) -> torch.Tensor:
    if height % size or width % size or patches.shape[1] * size**2 != height * width:
        raise ValueError("patches and image do not go together")
    return F.fold(patches.transpose(1, 2), (height, width), size, stride=size)


class VisionTransformer(nn.Module):
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
        if image_size % patch_size:
            raise ValueError("image_size is not a multiple of patch_size")
        self.patch_size = patch_size
        self.embedding = nn.Linear(channels * patch_size * patch_size, d_model)
        self.class_token = nn.Parameter(torch.zeros(1, 1, d_model))
        self.positions = nn.Parameter(0.02 * torch.randn(1, (image_size // patch_size) ** 2 + 1, d_model))
        self.encoder = Encoder(num_layers, d_model, num_heads, d_ff)
        self.head = nn.Linear(d_model, num_classes)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        x = self.positions.repeat(images.shape[0], 1, 1)
        of_patches = self.embedding(patchify(images, self.patch_size))
        x = x + torch.cat([self.class_token.repeat(images.shape[0], 1, 1), of_patches], 1)
        return self.head(self.encoder(x)[:, 0, :])
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
