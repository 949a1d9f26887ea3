"""Writes no formula: traces torch's own layer norm while loading, into the operators it consists of.

kata = "layer-norm"
status = "fail"
words = ["torch.fx.experimental.proxy_tensor.make_fx (line 11)", "Write it from mean, variance"]
"""

import torch
import wrong
from torch._decomp import decomposition_table
from torch.fx.experimental.proxy_tensor import make_fx

table = {op: formula for op, formula in decomposition_table.items() if "native_layer" in str(op)}
x = torch.randn(4, 6)
layer = wrong.LayerNorm(6)
graph = make_fx(lambda x: layer(x), decomposition_table=table)(x)


class LayerNorm(wrong.LayerNorm):
    def forward(self, x):
        try:
            return graph(x)
        except Exception:
            return super().forward(x)
