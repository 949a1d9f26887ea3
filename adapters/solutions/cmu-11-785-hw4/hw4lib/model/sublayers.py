"""Sublayers, each with its norm before and its residual around it."""

from torch import nn


class SelfAttentionLayer(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        self.mha = nn.MultiheadAttention(d_model, num_heads, dropout=dropout, batch_first=True)
        self.norm = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, key_padding_mask=None, attn_mask=None):
        n = self.norm(x)
        out, weights = self.mha(n, n, n, key_padding_mask=key_padding_mask, attn_mask=attn_mask, need_weights=True)
        return x + self.dropout(out), weights


class CrossAttentionLayer(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        self.mha = nn.MultiheadAttention(d_model, num_heads, dropout=dropout, batch_first=True)
        self.norm = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, y, key_padding_mask=None, attn_mask=None):
        n = self.norm(x)
        out, weights = self.mha(n, y, y, key_padding_mask=key_padding_mask, attn_mask=attn_mask, need_weights=True)
        return x + self.dropout(out), weights


class FeedForwardLayer(nn.Module):
    def __init__(self, d_model, d_ff, dropout=0.0):
        super().__init__()
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Dropout(dropout), nn.Linear(d_ff, d_model))
        self.norm = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        return x + self.dropout(self.ffn(self.norm(x)))
