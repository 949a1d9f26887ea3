"""9.3.5 Encoder layer: let positions talk, let each one think, and add both to what was there.

B batch, H heads, T length, D = d_model. A boolean mask is True where attention is allowed: rows are queries,
columns are keys.

The parts are given in `blocks`; you put them together. Read their signatures in the lesson first. Checking brings
blocks.py along; to read it, `kata start encoder-layer --given`.

References: Vaswani et al. 2017 (arXiv:1706.03762), section 3.1; Xiong et al. 2020 (arXiv:2002.04745), figure 1.

First step: `EncoderLayer.__init__` without the options, as the lesson says under that heading;
`kata check encoder-layer -k test_parts` then shows that it is right.
"""

from __future__ import annotations

import torch
from blocks import FeedForward, LayerNorm, MultiHeadAttention
from torch import nn


class EncoderLayer(nn.Module):
    """Self-attention and a feed-forward network, each with a norm, dropout and a residual connection.

    Args:
        d_model: D, the width of the residual stream.
        num_heads: H, the heads of the attention.
        d_ff: the hidden width of the feed-forward network.
        dropout: how much of each sublayer's output is dropped before it is added; also what FeedForward drops.
        norm_first: normalise what goes into a sublayer (pre-norm), or else the sum that comes out (post-norm).
        activation: that of the feed-forward network: relu, gelu or swiglu.

    Attributes:
        attention, feed_forward, norm1, norm2: the parts, which hold all the parameters there are.
    """

    attention: MultiHeadAttention
    feed_forward: FeedForward
    norm1: LayerNorm
    norm2: LayerNorm

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        d_ff: int,
        dropout: float = 0.0,
        norm_first: bool = True,
        activation: str = "relu",
    ) -> None:
        super().__init__()
        # TODO: the four parts, and what else forward needs. Which argument goes to which part?
        raise NotImplementedError("EncoderLayer.__init__")

    def forward(self, x: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
        """Let each position look at the others, then transform each by itself.

        Args:
            x: [B, T, D], left as it is.
            mask: bool [T, T], or broadcastable to [B, H, T, T]; None allows everything.

        Returns:
            [B, T, D]
        """
        # TODO: the lesson's equations, for both places of the norm. The caller still needs x as it is.
        raise NotImplementedError("EncoderLayer.forward")


class Encoder(nn.Module):
    """A stack of encoder layers.

    Args:
        num_layers: how many.
        d_model, num_heads, d_ff, dropout, norm_first, activation: those of each layer.

    Attributes:
        layers: nn.ModuleList of EncoderLayer.
        norm: after the last layer, a LayerNorm when norm_first, else nn.Identity.
    """

    layers: nn.ModuleList
    norm: nn.Module

    def __init__(
        self,
        num_layers: int,
        d_model: int,
        num_heads: int,
        d_ff: int,
        dropout: float = 0.0,
        norm_first: bool = True,
        activation: str = "relu",
    ) -> None:
        super().__init__()
        # TODO: the layers, each with parameters of its own, and what comes after the last of them.
        raise NotImplementedError("Encoder.__init__")

    def forward(self, x: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
        """Send x through all layers, each under the same mask.

        Args:
            x: [B, T, D].
            mask: as in EncoderLayer.

        Returns:
            [B, T, D]
        """
        # TODO: from x to the output. What does each layer need besides the stream?
        raise NotImplementedError("Encoder.forward")
