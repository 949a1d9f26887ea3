from hw4lib.model.sublayers import CrossAttentionLayer, FeedForwardLayer, SelfAttentionLayer
from torch import nn


class CrossAttentionDecoderLayer(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.0):
        super().__init__()
        self.self_attn = SelfAttentionLayer(d_model, num_heads, dropout)
        self.cross_attn = CrossAttentionLayer(d_model, num_heads, dropout)
        self.ffn = FeedForwardLayer(d_model, d_ff, dropout)

    def forward(self, x, enc_output, dec_key_padding_mask=None, enc_key_padding_mask=None, slf_attn_mask=None):
        x, own = self.self_attn(x, key_padding_mask=dec_key_padding_mask, attn_mask=slf_attn_mask)
        x, cross = self.cross_attn(x, enc_output, key_padding_mask=enc_key_padding_mask)
        return self.ffn(x), own, cross
