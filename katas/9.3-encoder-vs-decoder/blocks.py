"""Given blocks: what the earlier katas build, thin over torch's own operators.

They take and return what yours do, so you can build on them without having passed those katas. You are graded
with these blocks, not with a changed copy. They call operators by the names that torch uses inside, which is not a way
to write an answer: handed in as one, whole or in parts, they are recognised and earn nothing.

B batch, H heads, T length, D = d_model. A boolean mask is True where attention is allowed: rows are queries,
columns are keys.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

aten = torch.ops.aten
"""Torch's own operators; where there are several of a name, the kind follows the dot."""

# --- 9.3.1 masks ---


def bidirectional_mask(seq_len: int, *, device: torch.device | str | None = None) -> Tensor:
    """Return bool [T, T], all True."""
    return aten.full([seq_len, seq_len], True, dtype=torch.bool, device=device)


def causal_mask(seq_len: int, *, device: torch.device | str | None = None) -> Tensor:
    """Return bool [T, T], True where key <= query."""
    return aten.tril(bidirectional_mask(seq_len, device=device))


def padding_mask(tokens: Tensor, pad_id: int = 0) -> Tensor:
    """Return bool [B, 1, 1, T] for int tokens [B, T], True where the token is real."""
    return aten.unsqueeze(aten.unsqueeze(aten.ne(tokens, pad_id), 1), 1)


def combine_masks(*masks: Tensor) -> Tensor:
    """Return the logical and of boolean masks, broadcast."""
    return aten.all(aten.stack(aten.broadcast_tensors(masks)), 0)


def additive_mask(mask: Tensor, dtype: torch.dtype = torch.float32) -> Tensor:
    """Return 0 where mask is True and -inf where it is False."""
    return aten.where(mask, 0.0, -math.inf).to(dtype)


# --- 9.3.2 masked attention, 9.1.1 self-attention ---


def scaled_dot_product_attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Return (output [.., Tq, dv], weights [.., Tq, Tk]) for [.., Tq, d], [.., Tk, d], [.., Tk, dv].

    mask is boolean and broadcastable to [.., Tq, Tk]. A query that may attend to nothing gets zeros.
    """
    # Averages of one-hot values are the weights themselves.
    one_hot = torch.eye(key.shape[-2], dtype=key.dtype, device=key.device)
    values = one_hot.expand(*key.shape[:-1], -1)
    weights = aten.scaled_dot_product_attention.default(query, key, values, mask)
    return weights @ value, weights


class MultiHeadAttention(nn.Module):
    """Attention in num_heads slices of the columns; w_q, w_k, w_v, w_o are nn.Linear(D, D)."""

    def __init__(self, d_model: int, num_heads: int, bias: bool = True) -> None:
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"num_heads ({num_heads}) must divide d_model ({d_model})")
        self.num_heads = num_heads
        self.w_q = nn.Linear(d_model, d_model, bias=bias)
        self.w_k = nn.Linear(d_model, d_model, bias=bias)
        self.w_v = nn.Linear(d_model, d_model, bias=bias)
        self.w_o = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, x: Tensor, mask: Tensor | None = None, context: Tensor | None = None) -> Tensor:
        """Return [B, T, D] for x [B, T, D]; keys and values come from context [B, Tk, D] when it is given."""
        source = x if context is None else context
        q, k, v = (
            projected.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)  # [B, H, T, D / H]
            for projected in (self.w_q(x), self.w_k(source), self.w_v(source))
        )
        return self.w_o(aten.scaled_dot_product_attention.default(q, k, v, mask).transpose(1, 2).flatten(2))


class SelfAttention(nn.Module):
    """One head from a sequence to itself; w_q, w_k, w_v are nn.Linear(D, d_k) without bias."""

    def __init__(self, d_model: int, d_k: int) -> None:
        super().__init__()
        self.w_q = nn.Linear(d_model, d_k, bias=False)
        self.w_k = nn.Linear(d_model, d_k, bias=False)
        self.w_v = nn.Linear(d_model, d_k, bias=False)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return (output [B, T, d_k], weights [B, T, T]) for x [B, T, D]."""
        return scaled_dot_product_attention(self.w_q(x), self.w_k(x), self.w_v(x))


# --- 9.2.1 positional encoding ---


def sinusoidal_positions(max_len: int, d_model: int, *, device: torch.device | str | None = None) -> Tensor:
    """Return float [max_len, D]: sines in even columns, cosines in odd ones; an odd d_model is a ValueError."""
    if d_model % 2:
        raise ValueError(f"d_model ({d_model}) must be even")
    time = torch.arange(max_len, dtype=torch.float64, device=device)
    pair = torch.arange(0, d_model, 2, dtype=torch.float64, device=device)
    angles = torch.outer(time, torch.exp(pair * (-math.log(10_000) / d_model)))
    waves = aten.stack([aten.sin(angles), aten.cos(angles)], -1)
    return aten.flatten(waves, 1).to(torch.get_default_dtype())


class SinusoidalPositionalEncoding(nn.Module):
    """Adds fixed positions, kept in a buffer."""

    positions: Tensor

    def __init__(self, d_model: int, max_len: int) -> None:
        super().__init__()
        self.register_buffer("positions", sinusoidal_positions(max_len, d_model))

    def forward(self, x: Tensor) -> Tensor:
        """Return x + positions for x [B, T, D]; T > max_len is a ValueError."""
        return _add_positions(x, self.positions)


class LearnedPositionalEncoding(nn.Module):
    """Adds learned positions, one parameter [max_len, D]."""

    def __init__(self, d_model: int, max_len: int) -> None:
        super().__init__()
        self.positions = nn.Parameter(torch.randn(max_len, d_model) * 0.02)

    def forward(self, x: Tensor) -> Tensor:
        """Return x + positions for x [B, T, D]; T > max_len is a ValueError."""
        return _add_positions(x, self.positions)


def _add_positions(x: Tensor, positions: Tensor) -> Tensor:
    if x.shape[1] > len(positions):
        raise ValueError(f"the sequence has {x.shape[1]} positions, more than max_len ({len(positions)})")
    return aten.add(x, aten.narrow(positions, 0, 0, x.shape[1]).to(x.dtype))


# --- 9.3.3 layer norm ---


class LayerNorm(nn.Module):
    """Normalises the last axis; weight starts as ones and bias as zeros."""

    def __init__(self, d_model: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x: Tensor) -> Tensor:
        """Return the shape of x [.., D]."""
        return aten.layer_norm.default(x, list(self.weight.shape), self.weight, self.bias, self.eps)


# --- 9.3.4 feed-forward ---


def gelu(x: Tensor) -> Tensor:
    """Return the exact GELU, with erf."""
    return aten.gelu.default(x, approximate="none")


class FeedForward(nn.Module):
    """linear1 to d_ff, an activation (relu, gelu or swiglu, which adds gate), dropout, linear2 back to D."""

    def __init__(self, d_model: int, d_ff: int, activation: str = "relu", dropout: float = 0.0) -> None:
        super().__init__()
        if activation not in ("relu", "gelu", "swiglu"):
            raise ValueError(f"activation {activation!r} is none of relu, gelu, swiglu")
        self.activation = activation
        self.linear1 = nn.Linear(d_model, d_ff)
        self.linear2 = nn.Linear(d_ff, d_model)
        if activation == "swiglu":
            self.gate = nn.Linear(d_model, d_ff)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        """Return the shape of x [.., D]; each position is computed by itself."""
        hidden = self.linear1(x)
        match self.activation:
            case "relu":
                hidden = aten.relu.default(hidden)
            case "gelu":
                hidden = aten.gelu.default(hidden)
            case _:
                hidden = aten.silu.default(self.gate(x)) * hidden
        return self.linear2(self.dropout(hidden))


# --- 9.3.5 encoder layer: given from 9.3.6 on ---


class EncoderLayer(nn.Module):
    """Attention, then a feed-forward network, each normalised, with dropout, and added to what came in."""

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
        self.norm_first, self.rate = norm_first, dropout
        self.attention = MultiHeadAttention(d_model, num_heads)
        self.feed_forward = FeedForward(d_model, d_ff, activation, dropout)
        self.norm1, self.norm2 = LayerNorm(d_model), LayerNorm(d_model)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Return [B, T, D] for x [B, T, D]."""
        for norm, sublayer, further in (
            (self.norm1, self.attention, (mask,)),
            (self.norm2, self.feed_forward, ()),
        ):
            y = sublayer(norm(x) if self.norm_first else x, *further)
            x = x + aten.dropout.default(y, self.rate, self.training)
            x = x if self.norm_first else norm(x)
        return x


class Encoder(nn.Module):
    """num_layers encoder layers, and a last LayerNorm when norm_first."""

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
        self.layers = nn.ModuleList(
            [
                EncoderLayer(d_model, num_heads, d_ff, dropout, norm_first, activation)
                for _ in range(num_layers)
            ]
        )
        self.norm = LayerNorm(d_model) if norm_first else nn.Identity()

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Return [B, T, D] for x [B, T, D]; the mask is for every layer."""
        for step in (*self.layers, lambda hidden, _: self.norm(hidden)):
            x = step(x, mask)
        return x


# --- 9.4.1 decoder layer: given from 9.4.2 on ---


class DecoderLayer(nn.Module):
    """Self-attention, cross-attention to a memory, a feed-forward network, each normalised, with dropout, and added."""

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
        self.norm_first, self.rate = norm_first, dropout
        self.self_attention = MultiHeadAttention(d_model, num_heads)
        self.cross_attention = MultiHeadAttention(d_model, num_heads)
        self.feed_forward = FeedForward(d_model, d_ff, activation, dropout)
        self.norm1, self.norm2, self.norm3 = LayerNorm(d_model), LayerNorm(d_model), LayerNorm(d_model)

    def forward(
        self, x: Tensor, memory: Tensor, self_mask: Tensor | None = None, memory_mask: Tensor | None = None
    ) -> Tensor:
        """Return [B, T, D] for x [B, T, D] and memory [B, S, D]; masks as given."""
        for norm, sublayer, further in (
            (self.norm1, self.self_attention, (self_mask,)),
            (self.norm2, self.cross_attention, (memory_mask, memory)),
            (self.norm3, self.feed_forward, ()),
        ):
            y = sublayer(norm(x) if self.norm_first else x, *further)
            x = x + aten.dropout.default(y, self.rate, self.training)
            x = x if self.norm_first else norm(x)
        return x


class Decoder(nn.Module):
    """num_layers decoder layers with one memory, and a last LayerNorm when norm_first."""

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
        self.layers = nn.ModuleList(
            [
                DecoderLayer(d_model, num_heads, d_ff, dropout, norm_first, activation)
                for _ in range(num_layers)
            ]
        )
        self.norm = LayerNorm(d_model) if norm_first else nn.Identity()

    def forward(
        self, x: Tensor, memory: Tensor, self_mask: Tensor | None = None, memory_mask: Tensor | None = None
    ) -> Tensor:
        """Return [B, T, D] for x [B, T, D] and memory [B, S, D]; both masks are for every layer."""
        for step in (*self.layers, lambda hidden, *_: self.norm(hidden)):
            x = step(x, memory, self_mask, memory_mask)
        return x
