"""9.3.3 Layer normalisation: every position gets mean 0 and variance 1 over its own features.

D = d_model is the number of features of one position; `..` stands for any leading axes, such as batch and
time, or for none at all. Each vector of D numbers is normalised by itself.

Write it from means, differences and a root: torch's own norm layers and their functions are
excluded.

References: Ba et al. 2016 (arXiv:1607.06450).

First step: `LayerNorm.__init__`, as the lesson says under that heading; `kata check layer-norm -k test_initial_values`
then shows that it is right.
"""

from __future__ import annotations

import torch
from torch import nn


class LayerNorm(nn.Module):
    """Normalise the last axis, then scale and shift each feature by learned numbers.

    Args:
        d_model: D, the length of the last axis.
        eps: is added to the variance, so that a vector of equal numbers is not divided by zero.

    Attributes:
        weight: parameter [D], ones at the start; multiplies each feature after the normalisation.
        bias: parameter [D], zeros at the start; is added last.
    """

    def __init__(self, d_model: int, eps: float = 1e-5) -> None:
        super().__init__()
        # TODO 1: remember eps.
        # TODO 2: make the two parameters. What makes a tensor a parameter of a module?
        raise NotImplementedError("LayerNorm.__init__")

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Normalise each vector along the last axis of x.

        Args:
            x: [.., D], any number of leading axes; it is not changed.

        Returns:
            [.., D], of the same shape, dtype and device.
        """
        # TODO 1: the mean of each vector, [.., 1]. Which axis is averaged, and what keeps it there?
        # TODO 2: subtract it *first*, then average the squares: the biased variance, [.., 1].
        # TODO 3: divide by the root of variance plus eps.
        # TODO 4: scale by weight, then add bias.
        raise NotImplementedError("LayerNorm.forward")
