"""Attention for long sequences: sums of keys and values in place of a softmax, and keys mixed down to a few.

B batch, T length, D width of a query or key, Dv width of a value, C positions in a block. References: Katharopoulos et
al. 2020 (arXiv:2006.16236), section 3; Wang et al. 2020 (arXiv:2006.04768), section 4.
"""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as F

BLOCK = 64


def linear_attention(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, causal: bool = False
) -> torch.Tensor:
    """Return [.., Tq, Dv]."""
    wide = torch.promote_types(query.dtype, torch.float32)
    q, k = (F.elu(x.to(wide)) + 1 for x in (query, key))
    v = value.to(wide)
    if causal:
        return _from_the_left(q, k, v).to(query.dtype)
    sums = q @ k.sum(dim=-2).unsqueeze(-1)  # [.., Tq, 1]
    return (q @ (k.mT @ v) / sums).to(query.dtype)


def _from_the_left(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """Attend block by block: to all blocks before at once, and to the own one under a mask."""
    T = q.shape[-2]
    # Keys of 0 add nothing; queries of 1 keep the last rows, which are cut off again, from being 0 / 0.
    q, k, v = (
        F.pad(x, (0, 0, 0, -T % BLOCK), value=fill).unflatten(-2, (-1, BLOCK))  # [.., N, C, D]
        for x, fill in ((q, 1.0), (k, 0.0), (v, 0.0))
    )
    products, keys = k.mT @ v, k.sum(dim=-2, keepdim=True).mT  # [.., N, D, Dv] and [.., N, D, 1]
    before, keys_before = (
        F.pad(x.cumsum(dim=-3)[..., :-1, :, :], (0, 0, 0, 0, 1, 0)) for x in (products, keys)
    )
    own = (q @ k.mT).tril()
    sums = q @ keys_before + own.sum(dim=-1, keepdim=True)
    return ((q @ before + own @ v) / sums).flatten(-3, -2)[..., :T, :]


class Linformer(nn.Module):
    """Project keys and values along the time, then attend to what is left."""

    def __init__(self, d_model: int, num_heads: int, max_len: int, k: int) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.w_q = nn.Linear(d_model, d_model)
        self.w_k = nn.Linear(d_model, d_model)
        self.w_v = nn.Linear(d_model, d_model)
        self.w_o = nn.Linear(d_model, d_model)
        self.key_projection = nn.Parameter(torch.randn(k, max_len) * max_len**-0.5)
        self.value_projection = nn.Parameter(torch.randn(k, max_len) * max_len**-0.5)

    def forward(self, x: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
        """Return [B, T, D]."""
        T = x.shape[1]
        query, key, value = self.w_q(x), self.w_k(x), self.w_v(x)
        if mask is not None:
            key, value = (y.masked_fill(~mask.unsqueeze(-1), 0.0) for y in (key, value))
        key = self.key_projection[:, :T] @ key  # [B, k, D]
        value = self.value_projection[:, :T] @ value
        query, key, value = (
            y.unflatten(-1, (self.num_heads, -1)).transpose(1, 2) for y in (query, key, value)
        )
        scores = query @ key.mT * query.shape[-1] ** -0.5  # [B, H, T, k]
        heads = scores.softmax(dim=-1) @ value
        return self.w_o(heads.transpose(1, 2).flatten(2))
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
