"""What the checks bring into the worker: models whose heads can be switched off, and steps of training.

Nothing in here compares or judges; it shares its process with the submission.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class Attention(nn.Module):
    """Attention in heads, as 9.3.2 has it, or in groups and turned, as 9.8.1 has it; `num_heads` is kept."""

    def __init__(self, d_model: int, num_heads: int, num_kv_heads: int, bias: bool, modern: bool) -> None:
        super().__init__()
        self.num_heads, self.num_kv_heads, self.modern = num_heads, num_kv_heads, modern
        shared = d_model // num_heads * num_kv_heads
        self.w_q = nn.Linear(d_model, d_model, bias=bias)
        self.w_k = nn.Linear(d_model, shared, bias=bias)
        self.w_v = nn.Linear(d_model, shared, bias=bias)
        self.w_o = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, x: Tensor, context: Tensor | None = None) -> Tensor:
        """Return [B, T, D]; causal when modern."""
        source = x if context is None else context
        q, k, v = (
            projected.unflatten(-1, (count, -1)).transpose(1, 2)
            for projected, count in (
                (self.w_q(x), self.num_heads),
                (self.w_k(source), self.num_kv_heads),
                (self.w_v(source), self.num_kv_heads),
            )
        )
        if self.modern:
            q, k = _turned(q), _turned(k)
        k, v = (one.repeat_interleave(self.num_heads // self.num_kv_heads, dim=1) for one in (k, v))
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=self.modern)
        return self.w_o(mixed.transpose(1, 2).flatten(2))


def _turned(x: Tensor) -> Tensor:
    """Turn neighbouring columns of x [.., T, d] by their position."""
    wide = torch.promote_types(x.dtype, torch.float32)
    columns = torch.arange(0, x.shape[-1], 2, dtype=wide, device=x.device)
    time = torch.arange(x.shape[-2], dtype=wide, device=x.device)
    angle = time[:, None] * 10000.0 ** (-columns / x.shape[-1])
    cosine, sine = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack((a * cosine - b * sine, a * sine + b * cosine), dim=-1).flatten(-2)


class RMSNorm(nn.Module):
    """The norm of 9.8.1."""

    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))

    def forward(self, x: Tensor) -> Tensor:
        """Return the shape of x [.., D]."""
        return F.rms_norm(x, x.shape[-1:], self.weight, 1e-6)


class FeedForward(nn.Module):
    """The network of 9.8.1."""

    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.gate = nn.Linear(d_model, d_ff, bias=False)
        self.linear1 = nn.Linear(d_model, d_ff, bias=False)
        self.linear2 = nn.Linear(d_ff, d_model, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """Return the shape of x [.., D]."""
        return self.linear2(F.silu(self.gate(x)) * self.linear1(x))


class ModernLayer(nn.Module):
    """A layer of 9.8.1."""

    def __init__(self, d_model: int, num_heads: int, num_kv_heads: int, d_ff: int) -> None:
        super().__init__()
        self.norm1, self.norm2 = RMSNorm(d_model), RMSNorm(d_model)
        self.attention = Attention(d_model, num_heads, num_kv_heads, bias=False, modern=True)
        self.feed_forward = FeedForward(d_model, d_ff)

    def forward(self, x: Tensor) -> Tensor:
        """Return [B, T, D]."""
        x = x + self.attention(self.norm1(x))
        return x + self.feed_forward(self.norm2(x))


class ModernLM(nn.Module):
    """The model of 9.8.1, without a cache."""

    def __init__(self, vocab_size: int, d_model: int, num_heads: int, num_kv_heads: int, d_ff: int,
                 num_layers: int, max_len: int) -> None:  # fmt: skip
        super().__init__()
        self.tokens = nn.Embedding(vocab_size, d_model)
        self.layers = nn.ModuleList(
            ModernLayer(d_model, num_heads, num_kv_heads, d_ff) for _ in range(num_layers)
        )
        self.norm, self.head = RMSNorm(d_model), nn.Linear(d_model, vocab_size, bias=False)

    def forward(self, tokens: Tensor) -> Tensor:
        """Return logits [B, T, V]."""
        x = self.tokens(tokens)
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x))


class StackLayer(nn.Module):
    """Attention added to x: `attention` alone, or `self_attention` and then `cross_attention` to a memory."""

    def __init__(self, d_model: int, num_heads: int, crossing: bool) -> None:
        super().__init__()
        if crossing:
            self.cross_attention = Attention(d_model, num_heads, num_heads, bias=True, modern=False)
            self.self_attention = Attention(d_model, num_heads, num_heads, bias=True, modern=False)
        else:
            self.attention = Attention(d_model, num_heads, num_heads, bias=True, modern=False)
        self.crossing = crossing

    def forward(self, x: Tensor) -> Tensor:
        """Return [B, T, D]; the memory is x, the other way round."""
        if not self.crossing:
            return x + self.attention(x)
        x = x + self.self_attention(x)
        return x + self.cross_attention(x, x.flip(1))


class Stack(nn.Module):
    """Layers of an encoder, or of a decoder, without norms and networks."""

    def __init__(self, num_layers: int, d_model: int, num_heads: int, crossing: bool = False) -> None:
        super().__init__()
        self.layers = nn.ModuleList(StackLayer(d_model, num_heads, crossing) for _ in range(num_layers))

    def widen(self, inner: int) -> None:
        """Let heads be wider, or narrower, than their share of the stream: `inner` columns go into w_o."""
        for one in [module for module in self.modules() if isinstance(module, Attention)]:
            for name in ("w_q", "w_k", "w_v"):
                setattr(one, name, nn.Linear(one.w_o.out_features, inner))
            one.w_o = nn.Linear(inner, one.w_o.out_features)
        for layer in self.layers:
            if hasattr(layer, "attention"):
                layer.self_attention = None  # the name of what is there comes first

    def pass_on(self) -> None:
        """Let each head give what it reads: `w_o` reads the same tensor that its output is added to."""
        for part in [layer.attention for layer in self.layers]:
            part.forward = lambda x, part=part: part.w_o(x)

    def forward(self, x: Tensor) -> Tensor:
        """Return [B, T, D]."""
        for layer in self.layers:
            x = layer(x)
        return x


class Once:
    """Heads that can be gone through only once, as those of a generator."""

    def __init__(self, heads: Sequence[int]) -> None:
        self.left = iter(heads)

    def __iter__(self) -> Iterator[int]:
        return self.left


class Interrupted(Exception):
    """What a block is left by."""


def interrupt(block: AbstractContextManager[object]) -> None:
    """Leave a block by an exception."""
    with block:
        raise Interrupted


def hooks(model: nn.Module) -> int:
    """Return how many hooks the parts of a model have."""
    return sum(
        len(kept)
        for module in model.modules()
        for name, kept in vars(module).items()
        if name.endswith("_hooks") and hasattr(kept, "__len__")
    )


class Optimizer:
    """Plain gradient steps of the parameters that a model has when it is made."""

    def __init__(self, model: nn.Module) -> None:
        self.model, self.parameters = model, list(model.parameters())

    def step(self, x: Tensor, slope: Tensor) -> None:
        """Take a step, the gradient of the output being `slope`."""
        self.model.zero_grad()
        (self.model(x) * slope).sum().backward()
        with torch.no_grad():
            for parameter in self.parameters:
                if parameter.grad is not None:
                    parameter -= parameter.grad
