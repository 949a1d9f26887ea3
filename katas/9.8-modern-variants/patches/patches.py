"""9.8.3 Images in patches: squares for words, an encoder, and a token that says what is in the image.

B batch, C channels, H and W pixels from top to bottom and from left to right, N patches, D = d_model, K classes.

Next to this file is shapes.py, with images to train on: `python shapes.py` prints some. `blocks` has an Encoder as
you would build it in 9.3.5: checking brings it along; to read it, `kata start patches --given`.

References: Dosovitskiy et al. 2020 (arXiv:2010.11929), section 3.1.

First step: `patchify`, as the lesson says under that heading; `kata check patches -k test_patch_errors` then shows that
it is right.
"""

from __future__ import annotations

import torch
from blocks import Encoder
from torch import nn


def patchify(images: torch.Tensor, size: int) -> torch.Tensor:
    """Cut images into squares of size x size pixels.

    Args:
        images: [B, C, H, W].
        size: the side of a patch, in pixels.

    Returns:
        [B, N, C · size²] with N = (H / size) · (W / size). Patches come row by row: those of the topmost row from left
        to right, then the row below. In a patch the channels come one after the other, and each channel's pixels row
        by row.

    Raises:
        ValueError: H or W is not a multiple of size.
    """
    # TODO: begin by splitting the axes: [B, C, H / size, size, W / size, size]. Which of these six make up each axis of
    # the result?
    raise NotImplementedError("patchify")


def unpatchify(patches: torch.Tensor, size: int, height: int, width: int) -> torch.Tensor:
    """Put the patches of `patchify` together again.

    Args:
        patches: [B, N, C · size²].
        size: the side of a patch, in pixels.
        height, width: H and W of the images.

    Returns:
        [B, C, H, W]

    Raises:
        ValueError: height or width is not a multiple of size, or N is not the number of patches that such an image has.
    """
    # TODO: begin with [B, H / size, W / size, C, size, size].
    raise NotImplementedError("unpatchify")


class VisionTransformer(nn.Module):
    """Classify images: patches become vectors, a token goes in front, an encoder reads all, a head reads the token.

    Args:
        image_size: the side of an image, H = W.
        patch_size: the side of a patch; ValueError when image_size is not a multiple of it.
        channels: C.
        num_classes: K.
        d_model, num_heads, d_ff, num_layers: sizes of the encoder.

    Attributes:
        embedding: from the C · patch_size² numbers of a patch to D: an nn.Linear, or another module with one `weight`
            and one `bias`, its own or those of a part, such as an nn.Conv2d.
        class_token: nn.Parameter of D numbers, one token for all images.
        positions: nn.Parameter, a row of D numbers for the class token and then one for each patch.
        encoder: Encoder, with the options that it has by default.
        head: nn.Linear from D to K. Together these hold all the parameters there are.
    """

    embedding: nn.Module
    class_token: nn.Parameter
    positions: nn.Parameter
    encoder: Encoder
    head: nn.Linear

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
        # TODO: check the division first. How many numbers does a patch have, and how many rows [.., D] does `positions`
        # need?
        raise NotImplementedError("VisionTransformer.__init__")

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Classify images [B, C, image_size, image_size].

        Returns:
            logits [B, K]: free numbers, no softmax, only from the encoder's output at the class token.
        """
        # TODO: cut into [B, N, ..] and embed, put the token in front, add positions, encode, and read the token's
        # output.
        raise NotImplementedError("VisionTransformer.forward")
