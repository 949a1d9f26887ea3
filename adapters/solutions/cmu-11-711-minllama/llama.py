"""Llama's norm and attention."""

import math

import torch
from rope import apply_rotary_emb
from torch import nn


class RMSNorm(nn.Module):
    def __init__(self, dim, eps=1e-6):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(dim))

    def _norm(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps)

    def forward(self, x):
        return self._norm(x.float()).type_as(x) * self.weight


class Attention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.n_heads, self.n_kv_heads = config.n_heads, config.n_kv_heads or config.n_heads
        self.head_dim = config.dim // config.n_heads
        self.max_seq_len = config.max_seq_len
        self.compute_query = nn.Linear(config.dim, self.n_heads * self.head_dim, bias=False)
        self.compute_key = nn.Linear(config.dim, self.n_kv_heads * self.head_dim, bias=False)
        self.compute_value = nn.Linear(config.dim, self.n_kv_heads * self.head_dim, bias=False)
        self.compute_output = nn.Linear(self.n_heads * self.head_dim, config.dim, bias=False)
        self.attn_dropout = nn.Dropout(config.dropout)
        self.resid_dropout = nn.Dropout(config.dropout)

    def compute_query_key_value_scores(self, query, key, value):
        scores = query @ key.transpose(2, 3) / math.sqrt(query.shape[-1])
        weights = torch.softmax(scores.float(), dim=-1).type_as(query)
        return self.attn_dropout(weights) @ value

    def forward(self, x):
        batch, length, _ = x.shape
        query = self.compute_query(x).view(batch, length, self.n_heads, self.head_dim)
        key = self.compute_key(x).view(batch, length, self.n_kv_heads, self.head_dim)
        value = self.compute_value(x).view(batch, length, self.n_kv_heads, self.head_dim)
        query, key = apply_rotary_emb(query, key, self.head_dim, self.max_seq_len)
        groups = self.n_heads // self.n_kv_heads
        key = key.repeat_interleave(groups, dim=2)
        value = value.repeat_interleave(groups, dim=2)
        output = self.compute_query_key_value_scores(*(part.transpose(1, 2) for part in (query, key, value)))
        output = output.transpose(1, 2).reshape(batch, length, -1)
        return self.resid_dropout(self.compute_output(output))
