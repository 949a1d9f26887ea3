"""A loop over blocks that carries two sums along, and a Linformer head by head in einsum."""

from __future__ import annotations

import torch
from torch import nn


def linear_attention(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, causal: bool = False
) -> torch.Tensor:
    kind = query.dtype
    wide = torch.float64 if kind == torch.float64 else torch.float32
    q = nn.functional.elu(query.to(wide), alpha=1.0).add(1)
    k = nn.functional.elu(key.to(wide), alpha=1.0).add(1)
    # The sum of weights is one more value: a column of ones.
    v = torch.cat((value.to(wide), torch.ones_like(value[..., :1], dtype=wide)), dim=-1)
    if causal:
        state = torch.zeros_like(k[..., :1, :].transpose(-1, -2) * v[..., :1, :])
        found = []
        for a, b, c in zip(q.split(128, -2), k.split(128, -2), v.split(128, -2), strict=True):
            found.append(a @ state + torch.tril(a @ b.transpose(-1, -2)) @ c)
            state = state + b.transpose(-1, -2) @ c
        y = torch.cat(found, dim=-2)
    else:
        y = q @ (k.transpose(-1, -2) @ v)
    return (y[..., :-1] / y[..., -1:]).to(kind)


class Linformer(nn.Module):
    def __init__(self, d_model: int, num_heads: int, max_len: int, k: int) -> None:
        super().__init__()
        self.H = num_heads
        self.w_q, self.w_k = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
        self.w_v, self.w_o = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
        self.key_projection = nn.Parameter(torch.randn(k, max_len) / 10)
        self.value_projection = nn.Parameter(torch.randn(k, max_len) / 10)

    def forward(self, x: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
        T = x.size(1)
        q, key, value = self.w_q(x), self.w_k(x), self.w_v(x)
        if mask is not None:
            real = mask[..., None].to(x.dtype)
            key, value = key * real, value * real
        q, key, value = (y.unflatten(-1, (self.H, -1)) for y in (q, key, value))
        key = torch.einsum("kt,bthd->bkhd", self.key_projection[:, :T], key)
        value = torch.einsum("kt,bthd->bkhd", self.value_projection[:, :T], value)
        scores = torch.einsum("bqhd,bkhd->bhqk", q, key) / key.size(-1) ** 0.5
        weights = (scores - scores.logsumexp(-1, keepdim=True)).exp()
        return self.w_o(torch.einsum("bhqk,bkhd->bqhd", weights, value).flatten(2))
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
