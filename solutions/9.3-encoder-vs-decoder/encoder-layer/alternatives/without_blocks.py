"""Nothing of the given blocks: its own parts, torch's norm and attention operators, dropout by hand."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class _Attention(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        if width % heads:
            raise ValueError("heads must be equally wide")
        self.heads = heads
        self.w_q, self.w_k, self.w_v, self.w_o = (nn.Linear(width, width) for _ in range(4))

    def forward(self, x: Tensor, mask: Tensor | None) -> Tensor:
        q, k, v = (w(x).unflatten(-1, (self.heads, -1)).movedim(2, 1) for w in (self.w_q, self.w_k, self.w_v))
        if mask is None:
            mixed = F.scaled_dot_product_attention(q, k, v)
        else:
            blind = ~mask.any(dim=-1, keepdim=True)
            scores = torch.einsum("bhqd,bhkd->bhqk", q, k) / math.sqrt(q.shape[-1])
            scores = torch.where(mask | blind, scores, float("-inf"))
            weights = (scores - scores.logsumexp(-1, keepdim=True)).exp()
            mixed = torch.where(blind, 0.0, weights).to(v.dtype) @ v
        return self.w_o(mixed.movedim(1, 2).flatten(2))


class _Network(nn.Module):
    def __init__(self, width: int, hidden: int, activation: str, rate: float) -> None:
        super().__init__()
        self.function = {"relu": F.relu, "gelu": F.gelu, "swiglu": F.silu}[activation]
        self.rate = rate
        self.linear1, self.linear2 = nn.Linear(width, hidden), nn.Linear(hidden, width)
        if activation == "swiglu":
            self.gate = nn.Linear(width, hidden)

    def forward(self, x: Tensor) -> Tensor:
        if hasattr(self, "gate"):
            hidden = self.function(self.gate(x)) * self.linear1(x)
        else:
            hidden = self.function(self.linear1(x))
        return self.linear2(_drop(hidden, self.rate, self.training))


def _drop(x: Tensor, rate: float, training: bool) -> Tensor:
    if not training or rate == 0:
        return x
    kept = torch.rand_like(x, dtype=torch.float32) >= rate
    return x * kept / (1 - rate)


class EncoderLayer(nn.Module):
    """One forward for both orders: a norm that is not wanted at a place is left out there."""

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        d_ff: int,
        dropout: float = 0.0,
        norm_first: bool = True,
        activation: str = "relu",
    ) -> None:
        super().__init__()
        self.rate, self.norm_first = dropout, norm_first
        self.norm1, self.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.attention = _Attention(d_model, num_heads)
        self.feed_forward = _Network(d_model, d_ff, activation, dropout)
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Let each position look at the others, then transform each by itself."""
        self.calls += 1
        nothing = nn.Identity()
        for norm, sublayer in (
            (self.norm1, lambda y: self.attention(y, mask)),
            (self.norm2, self.feed_forward),
        ):
            before, after = (norm, nothing) if self.norm_first else (nothing, norm)
            x = after(_drop(sublayer(before(x)), self.rate, self.training) + x)
        return x


class Encoder(nn.Module):
    """Layers in a loop over their indices."""

    def __init__(
        self,
        num_layers: int,
        d_model: int,
        num_heads: int,
        d_ff: int,
        dropout: float = 0.0,
        norm_first: bool = True,
        activation: str = "relu",
    ) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model) if norm_first else nn.Identity()
        self.layers = nn.ModuleList()
        while len(self.layers) < num_layers:
            self.layers.append(EncoderLayer(d_model, num_heads, d_ff, dropout, norm_first, activation))

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Send x through all layers."""
        for i in range(len(self.layers)):
            x = self.layers[i](x, mask=mask)
        return self.norm(x)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
