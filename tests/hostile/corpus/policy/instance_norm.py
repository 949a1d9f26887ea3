"""Takes instance norm with rows for channels.

kata = "layer-norm"
status = "fail"
words = ["Write it from mean, variance"]
"""

import wrong
from torch.nn import functional as F


class LayerNorm(wrong.LayerNorm):
    def forward(self, x):
        rows = F.instance_norm(x.reshape(1, -1, x.shape[-1]), eps=self.eps)
        return rows.reshape(x.shape) * self.weight + self.bias
