from hw4lib.model.sublayers import FeedForwardLayer, SelfAttentionLayer
from torch import nn


class SelfAttentionEncoderLayer(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.0):
        super().__init__()
        self.self_attn = SelfAttentionLayer(d_model, num_heads, dropout)
        self.ffn = FeedForwardLayer(d_model, d_ff, dropout)

    def forward(self, x, key_padding_mask=None):
        x, weights = self.self_attn(x, key_padding_mask=key_padding_mask)
        return self.ffn(x), weights
