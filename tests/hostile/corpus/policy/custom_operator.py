"""Wraps torch's operator in an operator of its own.

kata = "layer-norm"
status = "fail"
words = ["Write it from mean, variance"]
"""

import torch
import wrong
from torch.nn import functional as F


def _norm(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, eps: float) -> torch.Tensor:
    return F.layer_norm(x, x.shape[-1:], weight, bias, eps)


library = torch.library.Library("toy", "DEF")
library.define("norm(Tensor x, Tensor weight, Tensor bias, float eps) -> Tensor")
library.impl("norm", _norm, "CompositeImplicitAutograd")


class LayerNorm(wrong.LayerNorm):
    def forward(self, x):
        return torch.ops.toy.norm(x, self.weight, self.bias, self.eps)
