"""Images in patches: cut an image into squares, read them as an encoder reads words, and let a token say what is in it.

B batch, C channels, H and W pixels, N patches, D = d_model, K classes.
References: Dosovitskiy et al. 2020 (arXiv:2010.11929), section 3.1.
"""

from __future__ import annotations

import torch
from blocks import Encoder
from torch import nn


def patchify(images: torch.Tensor, size: int) -> torch.Tensor:
    """Cut images [B, C, H, W] into patches [B, N, C · size²], row by row."""
    B, C, H, W = images.shape
    if H % size or W % size:
        raise ValueError(f"an image of {H} x {W} pixels cannot be cut into patches of {size} x {size}")
    cut = images.reshape(B, C, H // size, size, W // size, size)
    return cut.permute(0, 2, 4, 1, 3, 5).reshape(B, -1, C * size * size)


def unpatchify(patches: torch.Tensor, size: int, height: int, width: int) -> torch.Tensor:
    """Put patches [B, N, C · size²] together to images [B, C, H, W]."""
    B, N, _ = patches.shape
    rows, columns = height // size, width // size
    if height % size or width % size or rows * columns != N:
        raise ValueError(f"{N} patches of {size} x {size} make no image of {height} x {width} pixels")
    cut = patches.reshape(B, rows, columns, -1, size, size)
    return cut.permute(0, 3, 1, 4, 2, 5).reshape(B, -1, height, width)


class VisionTransformer(nn.Module):
    """Patches become vectors, a class token goes in front, an encoder reads all, a head reads the token."""

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
            raise ValueError(f"image_size ({image_size}) must be a multiple of patch_size ({patch_size})")
        self.patch_size = patch_size
        num_patches = (image_size // patch_size) ** 2
        self.embedding = nn.Linear(channels * patch_size**2, d_model)
        self.class_token = nn.Parameter(torch.randn(d_model) * 0.02)
        self.positions = nn.Parameter(torch.randn(num_patches + 1, d_model) * 0.02)
        self.encoder = Encoder(num_layers, d_model, num_heads, d_ff)
        self.head = nn.Linear(d_model, num_classes)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Return logits [B, K] for images [B, C, H, W]."""
        x = self.embedding(patchify(images, self.patch_size))  # [B, N, D]
        token = self.class_token.expand(len(x), 1, -1)  # the same for every image
        x = torch.cat([token, x], dim=1) + self.positions  # [B, N + 1, D]
        return self.head(self.encoder(x)[:, 0])
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
