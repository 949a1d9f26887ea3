"""Modern block: a norm without a mean, heads that share keys and values, a gate; and a model made of them.

B batch, T new positions, S positions so far, D = d_model, H query heads, G heads of keys and values, d = D / H.
References: Zhang and Sennrich 2019 (arXiv:1910.07467); Ainslie et al. 2023 (arXiv:2305.13245); Shazeer 2020
(arXiv:2002.05202); Touvron et al. 2023 (arXiv:2302.13971).
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

Past = tuple[Tensor, Tensor]
"""Keys, turned already, and values of one layer, each [B, G, S, d]."""


class RMSNorm(nn.Module):
    """Divide each position by the root of its mean square; scale each column."""

    def __init__(self, d_model: int, eps: float = 1e-6) -> None:
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))

    def forward(self, x: Tensor) -> Tensor:
        wide = x.to(torch.promote_types(x.dtype, torch.float32))
        mean_square = wide.square().mean(dim=-1, keepdim=True)
        return (wide * torch.rsqrt(mean_square + self.eps)).to(x.dtype) * self.weight


def rotate(x: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    """Turn columns 2i and 2i + 1 of x [.., T, d] by position · base^(-2i / d)."""
    d = x.size(-1)
    angle_dtype = torch.promote_types(x.dtype, torch.float32)
    pair = torch.arange(0, d, 2, dtype=angle_dtype, device=x.device)
    angle = positions.to(angle_dtype)[:, None] * base ** (-pair / d)  # [T, d / 2]
    cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack((a * cos - b * sin, a * sin + b * cos), dim=-1).flatten(-2)


class GroupedQueryAttention(nn.Module):
    """Causal attention with rotary positions; several query heads share a head of keys and values."""

    def __init__(self, d_model: int, num_heads: int, num_kv_heads: int) -> None:
        super().__init__()
        if d_model % num_heads or num_heads % num_kv_heads:
            raise ValueError(
                f"num_heads ({num_heads}) must divide d_model ({d_model}), num_kv_heads ({num_kv_heads}) num_heads"
            )
        self.d_head = d_model // num_heads
        self.groups = num_heads // num_kv_heads
        self.w_q = nn.Linear(d_model, num_heads * self.d_head, bias=False)
        self.w_k = nn.Linear(d_model, num_kv_heads * self.d_head, bias=False)
        self.w_v = nn.Linear(d_model, num_kv_heads * self.d_head, bias=False)
        self.w_o = nn.Linear(num_heads * self.d_head, d_model, bias=False)

    def _heads(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (-1, self.d_head)).transpose(1, 2)  # [B, heads, T, d]

    def forward(self, x: Tensor, cache: Past | None = None) -> tuple[Tensor, Past]:
        start = 0 if cache is None else cache[0].size(2)
        positions = torch.arange(start, start + x.size(1), device=x.device)
        q = rotate(self._heads(self.w_q(x)), positions)
        k = rotate(self._heads(self.w_k(x)), positions)
        v = self._heads(self.w_v(x))
        if cache is not None:
            k, v = torch.cat((cache[0], k), dim=2), torch.cat((cache[1], v), dim=2)
        # The new queries are the last rows of the square: all of the past, and the new up to themselves.
        mask = torch.ones(q.size(2), k.size(2), dtype=torch.bool, device=x.device).tril(start)
        keys = k.repeat_interleave(self.groups, dim=1)  # query head h reads head h // groups
        values = v.repeat_interleave(self.groups, dim=1)
        mixed = F.scaled_dot_product_attention(q, keys, values, mask)
        return self.w_o(mixed.transpose(1, 2).flatten(2)), (k, v)


class FeedForward(nn.Module):
    """SwiGLU without biases."""

    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.gate = nn.Linear(d_model, d_ff, bias=False)
        self.linear1 = nn.Linear(d_model, d_ff, bias=False)
        self.linear2 = nn.Linear(d_ff, d_model, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.linear2(F.silu(self.gate(x)) * self.linear1(x))


class Layer(nn.Module):
    """Attention and feed-forward, each after a norm and added to what came in."""

    def __init__(self, d_model: int, num_heads: int, num_kv_heads: int, d_ff: int) -> None:
        super().__init__()
        self.norm1 = RMSNorm(d_model)
        self.attention = GroupedQueryAttention(d_model, num_heads, num_kv_heads)
        self.norm2 = RMSNorm(d_model)
        self.feed_forward = FeedForward(d_model, d_ff)

    def forward(self, x: Tensor, past: Past | None) -> tuple[Tensor, Past]:
        attended, past = self.attention(self.norm1(x), past)
        x = x + attended
        return x + self.feed_forward(self.norm2(x)), past


class ModernLM(nn.Module):
    """A decoder-only language model of these parts."""

    def __init__(
        self,
        vocab_size: int,
        d_model: int,
        num_heads: int,
        num_kv_heads: int,
        d_ff: int,
        num_layers: int,
        max_len: int,
    ) -> None:
        super().__init__()
        self.tokens = nn.Embedding(vocab_size, d_model)
        self.layers = nn.ModuleList(Layer(d_model, num_heads, num_kv_heads, d_ff) for _ in range(num_layers))
        self.norm = RMSNorm(d_model)
        self.head = nn.Linear(d_model, vocab_size, bias=False)

    def forward(self, tokens: Tensor, cache: list[Past] | None = None) -> tuple[Tensor, list[Past]]:
        x = self.tokens(tokens)  # [B, T, D]
        pasts = cache if cache is not None else [None] * len(self.layers)
        new = []
        for layer, past in zip(self.layers, pasts, strict=True):
            x, past = layer(x, past)
            new.append(past)
        return self.head(self.norm(x)), new
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
