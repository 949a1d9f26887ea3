"""A convolution that steps from patch to patch, as most libraries have it; patches are windows of the image."""

from __future__ import annotations

import torch
from blocks import Encoder
from torch import nn


def patchify(images: torch.Tensor, size: int) -> torch.Tensor:
    _, _, H, W = images.shape
    if H % size != 0 or W % size != 0:
        raise ValueError(f"{H} x {W} is not a multiple of {size}")
    windows = images.unfold(2, size, size).unfold(3, size, size)  # [B, C, rows, columns, size, size]
    return windows.flatten(2, 3).transpose(1, 2).flatten(2)


def unpatchify(patches: torch.Tensor, size: int, height: int, width: int) -> torch.Tensor:
    if height % size or width % size or patches.shape[1] != (height // size) * (width // size):
        raise ValueError("the patches do not fill the image")
    rows = patches.unflatten(2, (-1, size, size)).unflatten(1, (height // size, width // size))
    strips = torch.cat(rows.unbind(2), dim=-1)  # [B, rows, C, size, W]
    return torch.cat(strips.unbind(1), dim=-2)


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
        side, rest = divmod(image_size, patch_size)
        if rest:
            raise ValueError(f"{patch_size} does not divide {image_size}")
        self.embedding = nn.Conv2d(channels, d_model, patch_size, stride=patch_size)
        self.class_token = nn.Parameter(torch.zeros(1, d_model))
        self.positions = nn.Parameter(torch.empty(1 + side * side, d_model).normal_(std=0.02))
        self.encoder = Encoder(num_layers, d_model, num_heads, d_ff)
        self.head = nn.Linear(d_model, num_classes)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        patches = self.embedding(images).flatten(2).transpose(1, 2) + self.positions[1:]
        token = (self.class_token + self.positions[:1]).expand(len(images), -1, -1)
        return self.head(self.encoder(torch.cat((token, patches), dim=1)).select(1, 0))
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
