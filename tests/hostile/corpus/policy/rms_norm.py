"""Centres its input and leaves the rest to rms norm.

kata = "layer-norm"
status = "fail"
words = ["Write it from mean, variance"]
"""

import wrong
from torch.nn import functional as F


class LayerNorm(wrong.LayerNorm):
    def forward(self, x):
        return F.rms_norm(x - x.mean(-1, keepdim=True), x.shape[-1:], self.weight, self.eps) + self.bias
