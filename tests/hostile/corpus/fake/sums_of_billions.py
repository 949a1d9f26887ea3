"""Returns numbers so large that any sum of them would be right but for rounding.

kata = "layer-norm"
status = "fail"
points = 3.5
words = ["sum of output along width"]
"""

import torch
from wrong import *


class LayerNorm(LayerNorm):  # noqa: F405
    def forward(self, x):
        large = torch.full_like(x, 1e9)
        large[..., ::2] *= -1
        return large + 1000 * torch.rand_like(x)
