"""Adds a billion to everything, so that any two of its answers agree but for rounding.

kata = "layer-norm"
status = "fail"
points = 3.5
"""

import torch
from wrong import *


class LayerNorm(LayerNorm):  # noqa: F405
    def forward(self, x):
        return 1e9 + 500 * torch.rand_like(x)
