"""Adds a billion to everything, so that any two of its answers agree but for rounding.

kata = "layer-norm"
status = "fail"
earns = [
    "test_shape",
    "test_parameters",
    "test_initial_values",
    "test_argument_unchanged",
    "test_from_scratch",
]
"""

import torch
from wrong import *


class LayerNorm(LayerNorm):  # noqa: F405
    def forward(self, x):
        return 1e9 + 500 * torch.rand_like(x)
