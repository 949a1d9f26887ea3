"""Takes group norm with a single group for layer norm.

kata = "layer-norm"
status = "fail"
words = ["Write it from mean, variance"]
"""

import wrong
from torch.nn import functional as F


class LayerNorm(wrong.LayerNorm):
    def forward(self, x):
        rows = F.group_norm(x.reshape(-1, x.shape[-1]), 1, self.weight, self.bias, self.eps)
        return rows.reshape(x.shape)
