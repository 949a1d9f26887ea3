"""Three parts of a transformer."""

from __future__ import annotations

import torch
from torch import Tensor, nn


def causal_mask(seq_len: int) -> Tensor:
    """Return a boolean [T, T] mask, True where the key is not later than the query."""
    # TODO: a lower triangle of True.
    raise NotImplementedError("causal_mask")


def attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """Return (output, weights) of scaled dot-product attention.

    query [.., Tq, d], key [.., Tk, d], value [.., Tk, dv]; mask boolean, broadcastable to [.., Tq, Tk], True where
    attention is allowed. Large scores must not overflow.
    """
    # TODO: scores, mask, softmax, and the weighted sum of the values.
    raise NotImplementedError("attention")


class LayerNorm(nn.Module):
    """Mean 0 and variance 1 over the last axis, then a learned scale and shift: `weight` and `bias`."""

    def __init__(self, d_model: int, eps: float = 1e-5) -> None:
        super().__init__()
        # TODO: parameters weight (ones) and bias (zeros).
        raise NotImplementedError("LayerNorm")

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Normalize the last axis; eps stands inside the root."""
        raise NotImplementedError("LayerNorm.forward")
