"""Takes batch norm over the other axis for layer norm.

kata = "layer-norm"
status = "fail"
words = ["Write it from mean, variance"]
"""

import wrong
from torch.nn import functional as F


class LayerNorm(wrong.LayerNorm):
    def forward(self, x):
        rows = x.reshape(-1, x.shape[-1]).mT
        scaled = F.batch_norm(rows, None, None, training=True, eps=self.eps).mT
        return scaled.reshape(x.shape) * self.weight + self.bias
