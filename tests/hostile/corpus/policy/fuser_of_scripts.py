"""Lets the fuser of scripts write kernels of its own for the operator.

kata = "layer-norm"
status = "fail"
words = ["Write it from mean, variance"]
"""

import torch
import wrong

try:
    torch._C._jit_set_te_must_use_llvm_cpu(False)
except RuntimeError:
    pass


class LayerNorm(wrong.LayerNorm):
    def forward(self, x):
        return super().forward(x)
