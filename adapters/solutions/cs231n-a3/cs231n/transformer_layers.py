"""Layers of a captioning transformer."""

import math

import torch
from torch import nn


class PositionalEncoding(nn.Module):
    def __init__(self, embed_dim, dropout=0.1, max_len=5000):
        super().__init__()
        self.dropout = nn.Dropout(p=dropout)
        assert embed_dim % 2 == 0
        table = torch.zeros(1, max_len, embed_dim)
        place = torch.arange(max_len, dtype=torch.float64)[:, None]
        rate = torch.pow(10000.0, -torch.arange(0, embed_dim, 2, dtype=torch.float64) / embed_dim)
        table[0, :, 0::2] = torch.sin(place * rate)
        table[0, :, 1::2] = torch.cos(place * rate)
        self.register_buffer("pe", table)

    def forward(self, x):
        batch, length, width = x.shape
        return self.dropout(x + self.pe[:, :length])


class MultiHeadAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, dropout=0.1):
        super().__init__()
        assert embed_dim % num_heads == 0
        self.key = nn.Linear(embed_dim, embed_dim)
        self.query = nn.Linear(embed_dim, embed_dim)
        self.value = nn.Linear(embed_dim, embed_dim)
        self.proj = nn.Linear(embed_dim, embed_dim)
        self.attn_drop = nn.Dropout(dropout)
        self.n_head = num_heads
        self.emd_dim = embed_dim
        self.head_dim = embed_dim // num_heads

    def forward(self, query, key, value, attn_mask=None):
        batch, targets, width = query.shape
        sources = key.shape[1]
        q = self.query(query).view(batch, targets, self.n_head, self.head_dim).transpose(1, 2)
        k = self.key(key).view(batch, sources, self.n_head, self.head_dim).transpose(1, 2)
        v = self.value(value).view(batch, sources, self.n_head, self.head_dim).transpose(1, 2)
        scores = torch.matmul(q, k.transpose(2, 3)) / math.sqrt(self.head_dim)
        if attn_mask is not None:
            scores = scores.masked_fill(attn_mask == 0, float("-inf"))
        weights = self.attn_drop(torch.softmax(scores, dim=-1))
        joined = torch.matmul(weights, v).transpose(1, 2).reshape(batch, targets, width)
        return self.proj(joined)
