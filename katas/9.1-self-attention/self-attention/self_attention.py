"""9.1.1 Self-attention: every position of a sequence looks at every position, itself included.

B batch, T length, D = d_model the width of the input, d_k the width of queries, keys and values.

Write it from matrix products and a softmax: torch's own attention operators are what you are building.

References: Vaswani et al. 2017 (arXiv:1706.03762), section 3.2.1; Bahdanau et al. 2014 (arXiv:1409.0473).

First step: `SelfAttention.__init__`, as the lesson says under that heading; `kata check self-attention -k test_no_bias`
then shows that it is right.
"""

from __future__ import annotations

import torch
from torch import nn


class SelfAttention(nn.Module):
    """One head of attention, from a sequence to itself, in both directions.

    Args:
        d_model: D, the width of the input.
        d_k: the width of queries, keys and values, and so of the output.

    Attributes:
        w_q, w_k, w_v: nn.Linear from d_model to d_k, without a bias; the only parameters.
    """

    def __init__(self, d_model: int, d_k: int) -> None:
        super().__init__()
        # TODO: make the three projections w_q, w_k and w_v. A linear layer has a bias unless told otherwise.
        raise NotImplementedError("SelfAttention.__init__")

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Replace each position by an average over all positions, weighted by how well they answer it.

        Args:
            x: [B, T, D], one vector per position.

        Returns:
            (output [B, T, d_k], weights [B, T, T]). Row q of weights says how much position q takes from each
            position; the row sums to one.
        """
        # TODO 1: queries, keys and values, each [B, T, d_k], all three from x.
        # TODO 2: scores [B, T, T]: every query times every key, divided by the root of d_k.
        # TODO 3: weights: softmax over the keys. Which axis is that?
        # TODO 4: output [B, T, d_k]: for each query, the average of the values under its weights.
        # TODO 5: return both, the output first.
        raise NotImplementedError("SelfAttention.forward")
