"""The cache holds keys as they come from w_k, and all of them are turned at every call; a loop over query heads."""

from __future__ import annotations

import math

import torch
from torch import nn


def root_mean_square(x, eps):
    return torch.sqrt(torch.mean(x * x, -1, keepdim=True) + eps)


class RMSNorm(nn.Module):
    def __init__(self, d_model, eps=1e-6):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))

    def forward(self, x):
        if x.dtype in (torch.float16, torch.bfloat16):
            wide = x.to(torch.float32)
            return (wide / root_mean_square(wide, self.eps) * self.weight.to(torch.float32)).to(x.dtype)
        return x / root_mean_square(x, self.eps) * self.weight


class GroupedQueryAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("d_model")
        if num_heads % num_kv_heads != 0:
            raise ValueError("num_heads")
        self.num_heads, self.num_kv_heads, self.d = num_heads, num_kv_heads, d_model // num_heads
        self.w_q = nn.Linear(d_model, d_model, False)
        self.w_k = nn.Linear(d_model, self.d * num_kv_heads, False)
        self.w_v = nn.Linear(d_model, self.d * num_kv_heads, False)
        self.w_o = nn.Linear(d_model, d_model, False)

    def angles(self, length, like):
        exact = torch.float64 if like.dtype == torch.float64 else torch.float32
        speed = torch.exp(
            torch.arange(0, self.d, 2, dtype=exact, device=like.device) * (-math.log(1e4) / self.d)
        )
        angle = torch.arange(length, dtype=exact, device=like.device).unsqueeze(1) * speed
        return angle.cos().repeat_interleave(2, -1).to(like.dtype), angle.sin().repeat_interleave(2, -1).to(
            like.dtype
        )

    @staticmethod
    def turn(x, cosine, sine):
        crossed = torch.stack((-x[..., 1::2], x[..., ::2]), -1).reshape(x.shape)
        return x * cosine + crossed * sine

    def forward(self, x, cache=None):
        B, T = x.shape[:2]
        k = self.w_k(x).reshape(B, T, self.num_kv_heads, self.d).permute(0, 2, 1, 3)
        v = self.w_v(x).reshape(B, T, self.num_kv_heads, self.d).permute(0, 2, 1, 3)
        if cache is not None:
            k, v = torch.cat([cache[0], k], -2), torch.cat([cache[1], v], -2)
        S = k.shape[-2]
        cosine, sine = self.angles(S, x)
        keys = self.turn(k, cosine, sine)
        allowed = torch.ones(S, S, dtype=torch.bool, device=x.device).tril()[S - T :]
        outs = []
        for head, q in enumerate(self.w_q(x).split(self.d, dim=-1)):
            shared = head * self.num_kv_heads // self.num_heads
            scores = self.turn(q, cosine[S - T :], sine[S - T :]) @ keys[:, shared].mT / math.sqrt(self.d)
            outs.append(scores.where(allowed, float("-inf")).softmax(-1) @ v[:, shared])
        return self.w_o(torch.cat(outs, -1)), (k, v)


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.linear1 = nn.Linear(d_model, d_ff, False)
        self.linear2 = nn.Linear(d_ff, d_model, False)
        self.gate = nn.Linear(d_model, d_ff, False)

    def forward(self, x):
        return self.linear2(self.linear1(x) * nn.functional.silu(self.gate(x)))


class Block(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, d_ff):
        super().__init__()
        self.attention = GroupedQueryAttention(d_model, num_heads, num_kv_heads)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.norm1, self.norm2 = RMSNorm(d_model), RMSNorm(d_model)


class ModernLM(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, num_kv_heads, d_ff, num_layers, max_len):
        super().__init__()
        self.tokens = nn.Embedding(vocab_size, d_model)
        self.layers = nn.ModuleList(
            [Block(d_model, num_heads, num_kv_heads, d_ff) for _ in range(num_layers)]
        )
        self.norm = RMSNorm(d_model)
        self.head = nn.Linear(d_model, vocab_size, False)

    def forward(self, tokens, cache=None):
        x, kept = self.tokens(tokens), []
        for block, old in zip(self.layers, cache or [None] * len(self.layers), strict=True):
            y, pair = block.attention(block.norm1(x), old)
            kept.append(pair)
            x = torch.add(x, y)
            x = torch.add(x, block.feed_forward(block.norm2(x)))
        return self.head(self.norm(x)), kept
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
