"""Copies a given block, with a statement that does nothing in each of its functions.

kata = "layer-norm"
status = "fail"
words = ["the submission used torch.ops.aten"]
"""

import torch
from torch import nn

aten = torch.ops.aten


class LayerNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        1 + 1
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        1 + 1
        return aten.layer_norm.default(x, list(self.weight.shape), self.weight, self.bias, self.eps)
