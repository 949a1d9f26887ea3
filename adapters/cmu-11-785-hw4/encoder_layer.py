"""A pre-norm layer. It has masks of padding alone, [B, T]: each query is asked with its own row. GELU may be ReLU."""

import torch
from torch import nn


class EncoderLayer(Adapted):
    def build(self, d_model, num_heads, d_ff, dropout=0.0, norm_first=True, activation="relu"):
        layer = theirs.SelfAttentionEncoderLayer(d_model, num_heads, d_ff, dropout)
        if activation == "relu":
            layer.ffn.ffn[1] = nn.ReLU()
        return layer

    def forward(self, x, mask=None):
        if mask is None:
            return self.theirs(x)[0]
        rows = ~mask.broadcast_to(x.shape[0], 1, x.shape[1], x.shape[1])[:, 0]
        found = [self.theirs(x, key_padding_mask=rows[:, at])[0][:, at] for at in range(x.shape[1])]
        return torch.stack(found, 1)
