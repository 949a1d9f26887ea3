"""9.8.2 Attention for long sequences: attention without a softmax, and attention with fewer keys.

B batch, T length, D width of a query or key, Dv width of a value.

References: Katharopoulos et al. 2020 (arXiv:2006.16236), section 3; Wang et al. 2020 (arXiv:2006.04768), section 4.

First step: `linear_attention`, as the lesson says under that heading; `kata check long-attention -k test_shapes` then
shows that it is right.
"""

from __future__ import annotations

import torch
from torch import nn


def linear_attention(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, causal: bool = False
) -> torch.Tensor:
    """Attend with the weights φ(q)·φ(k), divided by their sum over keys, where φ(x) = elu(x) + 1.

    There is no scale and no softmax, and never a matrix of all queries against all keys.

    Args:
        query: [.., Tq, D], with any number of axes in front.
        key: [.., Tk, D].
        value: [.., Tk, Dv].
        causal: query i sees keys 0 to i; Tq and Tk are equal then.

    Returns:
        [.., Tq, Dv], in the dtype of the query. Sums are computed in float32 at least, so that large numbers in half
        precision do not overflow; for float64, in float64.
    """
    # TODO: the features φ(q) [.., Tq, D] and φ(k) [.., Tk, D] first. Which order of the three factors gives no matrix
    # with the length on two axes? And what has to be carried along when a query may only see the keys up to its own?
    raise NotImplementedError("linear_attention")


class Linformer(nn.Module):
    """Multi-head attention from a sequence to itself, whose keys and values are mixed down to k first.

    Args:
        d_model: D, a multiple of num_heads.
        num_heads: H; a head has the width D / H.
        max_len: the longest sequence that must work.
        k: how many mixtures of keys and of values are left, for every length.

    Attributes:
        w_q, w_k, w_v, w_o: nn.Linear from D to D, with biases.
        key_projection, value_projection: nn.Parameter [k, max_len], one for all heads. Together these hold all the
            parameters there are.
    """

    w_q: nn.Linear
    w_k: nn.Linear
    w_v: nn.Linear
    w_o: nn.Linear
    key_projection: nn.Parameter
    value_projection: nn.Parameter

    def __init__(self, d_model: int, num_heads: int, max_len: int, k: int) -> None:
        super().__init__()
        # TODO: four linear layers, two parameters [k, max_len]. How large may their numbers be, so that a mixture of
        # max_len keys is about as large as a key?
        raise NotImplementedError("Linformer.__init__")

    def forward(self, x: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
        """Let every position of x [B, T, D] attend to k mixtures of all positions.

        A shorter sequence uses the first T columns of both projections.

        Args:
            x: [B, T, D], T at most max_len.
            mask: bool [B, T], False at padding, whose keys and values are 0 in every mixture. None: all are real.

        Returns:
            [B, T, D]
        """
        # TODO: project to [B, T, D], mix along time to [B, k, D], split into heads, attend. At which step can padding
        # still be told apart?
        raise NotImplementedError("Linformer.forward")
