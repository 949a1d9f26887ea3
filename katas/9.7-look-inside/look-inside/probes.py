"""What the checks bring into the worker: models whose heads can be switched off, and `with` blocks around them.

Nothing in here compares or judges; it shares its process with the submission.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, ExitStack
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

Ablate = Callable[..., AbstractContextManager[object]]


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

    def forward(self, x: Tensor) -> Tensor:
        """Return [B, T, D]."""
        for layer in self.layers:
            x = layer(x)
        return x


class Interrupted(Exception):
    """What a block is left by."""


class Blocks:
    """`with` blocks of ablate_heads around calls of a model."""

    def __init__(self, ablate_heads: Ablate, model: nn.Module) -> None:
        self.ablate_heads, self.model = ablate_heads, model
        self.parameters = dict(model.named_parameters())

    def off(self, x: Tensor, *places: tuple[int, Iterable[int]]) -> Tensor:
        """Return model(x) inside of nested blocks, one for each (layer, heads)."""
        with ExitStack() as stack:
            for layer, heads in places:
                stack.enter_context(self.ablate_heads(self.model, layer, heads))
            return self.model(x)

    def after(self, x: Tensor, inner: tuple[int, Iterable[int]], *outer: tuple[int, Iterable[int]]) -> Tensor:
        """Return model(x) inside of the outer blocks, when an inner one has ended."""
        with ExitStack() as stack:
            for layer, heads in outer:
                stack.enter_context(self.ablate_heads(self.model, layer, heads))
            with self.ablate_heads(self.model, *inner):
                self.model(x)
            return self.model(x)

    def interrupted(self, x: Tensor, layer: int, heads: Iterable[int]) -> str:
        """Leave a block by an exception; return the name of what came out of it, or nothing."""
        try:
            with self.ablate_heads(self.model, layer, heads):
                self.model(x)
                raise Interrupted
        except Exception as error:
            return type(error).__name__
        return ""

    def enter(self, layer: int, heads: Iterable[int]) -> None:
        """Enter a block and leave it."""
        with self.ablate_heads(self.model, layer, heads):
            pass

    def named(self, x: Tensor, layer: int, heads: Iterable[int]) -> Tensor:
        """Return model(x) inside of a block whose arguments are given by name, heads as a tuple."""
        with self.ablate_heads(model=self.model, layer=layer, heads=tuple(heads)):
            return self.model(x)

    def hooks(self) -> int:
        """Return how many hooks the parts of the model have."""
        return sum(
            len(kept)
            for module in self.model.modules()
            for name, kept in vars(module).items()
            if name.endswith("_hooks") and hasattr(kept, "__len__")
        )

    def exchanged(self) -> list[str]:
        """Return which parameters are other objects than at first, or would not learn any more."""
        now: dict[str, Any] = dict(self.model.named_parameters())
        return [
            name
            for name, old in self.parameters.items()
            if now.get(name) is not old or not old.requires_grad or not old.is_leaf
        ]
