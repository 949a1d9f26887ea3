"""Answers with the right shape and a gradient that was one byte for each number, in many calls.

kata = "layer-norm"
status = "fail or error"
timeout_s = 30
"""

import torch
from wrong import *
from wrong import LayerNorm as Wrong


class LayerNorm(Wrong):
    def forward(self, x):
        kept = torch.zeros(1, dtype=torch.uint8).expand(100 << 20)
        return super().forward(x), kept, kept.bool(), [kept] * 3
