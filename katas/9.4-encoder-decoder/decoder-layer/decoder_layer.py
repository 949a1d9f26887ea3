"""9.4.1 Decoder layer: look back at what was written, look over at what was read, think, and add all three.

B batch, T length of what is written, S length of what was read, D = d_model. A boolean mask is True where attention is
allowed: rows are queries, columns are keys.

The parts are given in `blocks`, as in 9.3.5. Checking brings blocks.py along; to read it,
`kata start decoder-layer --given`.

References: Vaswani et al. 2017 (arXiv:1706.03762), sections 3.1 and 3.2.3.

First step: `DecoderLayer.__init__` without the options, as the lesson says under that heading;
`kata check decoder-layer -k test_parts` then shows that it is right.
"""

from __future__ import annotations

import torch
from blocks import FeedForward, LayerNorm, MultiHeadAttention
from torch import nn


class DecoderLayer(nn.Module):
    """Three sublayers, each with a norm, dropout and a residual connection.

    Args:
        d_model: D, the width of the residual stream and of the memory.
        num_heads: H, the heads of both attentions.
        d_ff: the hidden width of the feed-forward network.
        dropout: how much of each sublayer's output is dropped before it is added; also what FeedForward drops.
        norm_first: normalise what goes into a sublayer (pre-norm), or else the sum that comes out (post-norm).
        activation: that of the feed-forward network: relu, gelu or swiglu.

    Attributes:
        self_attention, cross_attention, feed_forward: the sublayers, in this order.
        norm1, norm2, norm3: their norms. Together these six hold all the parameters there are.
    """

    self_attention: MultiHeadAttention
    cross_attention: MultiHeadAttention
    feed_forward: FeedForward
    norm1: LayerNorm
    norm2: LayerNorm
    norm3: LayerNorm

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
        # TODO: three sublayers and a norm for each. What has to remember norm_first and dropout until the forward pass?
        raise NotImplementedError("DecoderLayer.__init__")

    def forward(
        self,
        x: torch.Tensor,
        memory: torch.Tensor,
        self_mask: torch.Tensor | None = None,
        memory_mask: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Let each position of x look at x, then at the memory, then transform each by itself.

        Args:
            x: [B, T, D], what is being written; left as it is.
            memory: [B, S, D], the encoder's output for the text that was read; taken as it is, without a norm of this
                layer.
            self_mask: which positions of x may attend to which: bool [T, T], or broadcastable to [B, H, T, T]; None
                allows all.
            memory_mask: which positions of the memory each position of x may attend to: bool [T, S], or broadcastable
                to [B, H, T, S].

        Returns:
            [B, T, D]
        """
        # TODO: which sublayer reads what, under which mask?
        raise NotImplementedError("DecoderLayer.forward")


class Decoder(nn.Module):
    """A stack of decoder layers.

    Args:
        num_layers: how many.
        d_model, num_heads, d_ff, dropout, norm_first, activation: those of each layer.

    Attributes:
        layers: nn.ModuleList of DecoderLayer.
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
        # TODO: as many layers as num_layers says, no two of them the same object. What follows the last one?
        raise NotImplementedError("Decoder.__init__")

    def forward(
        self,
        x: torch.Tensor,
        memory: torch.Tensor,
        self_mask: torch.Tensor | None = None,
        memory_mask: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Send x through all layers, each with the same memory and under the same masks.

        Args:
            x, memory, self_mask, memory_mask: as in DecoderLayer.

        Returns:
            [B, T, D]
        """
        # TODO: each layer reads the output of the one before it, and all of them read the same memory.
        raise NotImplementedError("Decoder.forward")
