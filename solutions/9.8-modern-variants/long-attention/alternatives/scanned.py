"""Running sums over every position at once, a Linformer on torch's attention operator, projections as linear layers."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn.functional import scaled_dot_product_attention


def features(x: torch.Tensor) -> torch.Tensor:
    return torch.where(x > 0, x + 1, x.clamp(max=0).exp())


def linear_attention(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, causal: bool = False
) -> torch.Tensor:
    dtype = query.dtype
    if dtype in (torch.float16, torch.bfloat16):
        query, key, value = query.float(), key.float(), value.float()
    query, key = features(query), features(key)
    if not causal:
        state = torch.einsum("...td,...te->...de", key, value)
        sums = torch.einsum("...td,...d->...t", query, key.sum(-2))
        return (torch.einsum("...td,...de->...te", query, state) / sums[..., None]).to(dtype)
    state = (key.unsqueeze(-1) * value.unsqueeze(-2)).cumsum(-3)  # [.., T, D, Dv]
    sums = (query * key.cumsum(-2)).sum(-1, keepdim=True)
    return ((query.unsqueeze(-2) @ state).squeeze(-2) / sums).to(dtype)


class Linformer(nn.Module):
    def __init__(self, d_model: int, num_heads: int, max_len: int, k: int) -> None:
        super().__init__()
        self.heads = num_heads
        for name in ("w_q", "w_k", "w_v", "w_o"):
            setattr(self, name, nn.Linear(d_model, d_model))
        self.key_projection = nn.Parameter(torch.empty(k, max_len))
        self.value_projection = nn.Parameter(torch.empty(k, max_len))
        nn.init.xavier_uniform_(self.key_projection)
        nn.init.xavier_uniform_(self.value_projection)

    def forward(self, x: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
        B, T, D = x.shape
        E, G = self.key_projection[:, :T], self.value_projection[:, :T]
        if mask is not None:  # the projections have a column of zeros where padding stands
            E, G = E * mask[:, None, :].to(x.dtype), G * mask[:, None, :].to(x.dtype)
        q = self.w_q(x).view(B, T, self.heads, -1).transpose(1, 2)
        k = torch.matmul(E, self.w_k(x)).unflatten(-1, (self.heads, -1)).transpose(1, 2)
        v = torch.matmul(G, self.w_v(x)).unflatten(-1, (self.heads, -1)).transpose(1, 2)
        y = scaled_dot_product_attention(q, k, v)
        return self.w_o(y.transpose(1, 2).reshape(B, T, D))
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
