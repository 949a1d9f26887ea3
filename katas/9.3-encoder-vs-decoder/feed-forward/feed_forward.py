"""9.3.4 The feed-forward network: what each position does with what it has gathered.

B batch, T time, D = d_model the width of a position, F = d_ff the width inside. The same network serves every
position, one at a time: nothing passes between them.

In `gelu`, do without torch's own GELU: it is what you are building.

References: Vaswani et al. 2017 (arXiv:1706.03762), section 3.3; Hendrycks and Gimpel 2016 (arXiv:1606.08415);
Shazeer 2020 (arXiv:2002.05202).

First step: `gelu`, as the lesson says under that heading; `kata check feed-forward -k test_gelu_values` then shows that
it is right.
"""

from __future__ import annotations

import torch
from torch import nn


def gelu(x: torch.Tensor) -> torch.Tensor:
    """Keep of each number the share that its size deserves: x · Φ(x).

    Φ(x) is the probability that a standard normal number is below x. It is meant exactly, from the error
    function, not by one of the approximations with tanh or sigmoid.

    Args:
        x: any shape; it is not changed.

    Returns:
        the same shape and dtype.
    """
    # TODO 1: Φ(x) from torch.erf. Mind the root of 2 between the two.
    # TODO 2: multiply by x.
    raise NotImplementedError("gelu")


class FeedForward(nn.Module):
    """Widen each position, apply the activation, drop some of it, and make it narrow again.

    Args:
        d_model: D, the width of the input and of the output.
        d_ff: F, the width inside.
        activation: "relu", "gelu" or "swiglu"; ValueError for anything else.
        dropout: the share of the F activations that is set to zero in train mode.

    Attributes:
        linear1: nn.Linear(D, F).
        linear2: nn.Linear(F, D).
        gate: nn.Linear(D, F), only for "swiglu".
    """

    def __init__(self, d_model: int, d_ff: int, activation: str = "relu", dropout: float = 0.0) -> None:
        super().__init__()
        # TODO 1: raise ValueError when the activation is none of the three.
        # TODO 2: make linear1 and linear2, and the gate where there is one.
        # TODO 3: make the dropout, and remember what forward needs.
        raise NotImplementedError("FeedForward.__init__")

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Pass each position of x through the network.

        Args:
            x: [B, T, D]; it is not changed.

        Returns:
            [B, T, D]
        """
        # TODO 1: relu and gelu: widen with linear1, then apply the activation, [B, T, F].
        # TODO 2: swiglu: silu of the gate, times linear1, [B, T, F].
        # TODO 3: dropout, in all three cases here, before linear2.
        # TODO 4: back to [B, T, D].
        raise NotImplementedError("FeedForward.forward")
