"""9.3.2 Masked attention: look things up, but only where the mask allows.

B batch, H heads, Tq queries, Tk keys, D = d_model, d = D / H the width of one head. A boolean mask is True
where attention is allowed; rows are queries, columns are keys.

Write it from matrix products and a softmax: torch's own attention operators are what you are building.

References: Vaswani et al. 2017 (arXiv:1706.03762), sections 3.2.1 and 3.2.2.

First step: `MultiHeadAttention.__init__`, as the lesson says under that heading;
`kata check masked-attention -k test_without_bias` then shows that it is right.
"""

from __future__ import annotations

import torch
from torch import nn


def scaled_dot_product_attention(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, mask: torch.Tensor | None = None
) -> tuple[torch.Tensor, torch.Tensor]:
    """Average the values, weighted by how well each key answers the query.

    Args:
        query: [.., Tq, d], any number of leading axes.
        key: [.., Tk, d].
        value: [.., Tk, dv].
        mask: bool, broadcastable to [.., Tq, Tk], True where attention is allowed; None allows everything.

    Returns:
        (output [.., Tq, dv], weights [.., Tq, Tk]). Each row of weights sums to one, except that a query that
        may attend to nothing gets zero weights and a zero output, and no NaN, here or in the gradient.
    """
    # TODO 1: scores [.., Tq, Tk]: every query times every key, divided by the root of d.
    # TODO 2: where the mask forbids, make the score -inf, so that the softmax gives it nothing.
    # TODO 3: softmax over the keys. Which axis is that?
    # TODO 4: a row without a single allowed key is 0/0 in a softmax. Give it harmless scores before the
    #         softmax and zero weights after it: mending the NaN afterwards may leave one in the gradient.
    # TODO 5: output [.., Tq, dv] from the weights and the values.
    raise NotImplementedError("scaled_dot_product_attention")


class MultiHeadAttention(nn.Module):
    """Several attentions side by side, each on its own slice of the features.

    Args:
        d_model: D, the width of the input and of the output.
        num_heads: H; ValueError when it does not divide d_model.
        bias: whether the four projections have a bias.

    Attributes:
        w_q, w_k, w_v, w_o: nn.Linear(D, D), the only parameters.
    """

    def __init__(self, d_model: int, num_heads: int, bias: bool = True) -> None:
        super().__init__()
        # TODO 1: raise ValueError when num_heads does not divide d_model.
        # TODO 2: remember what forward needs, and make w_q, w_k, w_v and w_o.
        raise NotImplementedError("MultiHeadAttention.__init__")

    def forward(
        self, x: torch.Tensor, mask: torch.Tensor | None = None, context: torch.Tensor | None = None
    ) -> torch.Tensor:
        """Let each position of x look at x, or at context when it is given.

        Args:
            x: [B, T, D], where the queries come from.
            mask: bool [T, Tk], or broadcastable to [B, H, T, Tk]; Tk is the length of what is looked at. So a mask of
                three axes is [H, T, Tk].
            context: [B, Tk, D], where keys and values come from; None means x itself.

        Returns:
            [B, T, D]
        """
        # TODO 1: project: queries from x, keys and values from context (or x).
        # TODO 2: split D into heads, [B, T, D] -> [B, H, T, d]: head h takes columns h*d to (h+1)*d.
        # TODO 3: one call of scaled_dot_product_attention serves all heads.
        # TODO 4: join the heads again, [B, H, T, d] -> [B, T, D], in the same order, and apply w_o.
        raise NotImplementedError("MultiHeadAttention.forward")
