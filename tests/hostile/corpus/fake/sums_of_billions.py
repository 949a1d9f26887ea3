"""Returns numbers so large that any sum of them would be right but for rounding.

kata = "layer-norm"
status = "fail"
earns = [
    "test_shape",
    "test_parameters",
    "test_initial_values",
    "test_argument_unchanged",
    "test_from_scratch",
]
words = ["sum of output along width"]
"""

import torch
from wrong import *


class LayerNorm(LayerNorm):  # noqa: F405
    def forward(self, x):
        large = torch.full_like(x, 1e9)
        large[..., ::2] *= -1
        return large + 1000 * torch.rand_like(x)
