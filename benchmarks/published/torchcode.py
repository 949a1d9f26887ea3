"""Ours under the names of TorchCode's tasks: each function takes a module of ours and returns what a task asks for."""

from __future__ import annotations

import functools
from types import ModuleType, SimpleNamespace
from typing import Any

import torch


def adam(ours: ModuleType) -> Any:
    """Return Adam: AdamW that decays nothing, and whose gradients become zeros and not None."""

    def made(params: Any, **options: Any) -> Any:
        optimizer = ours.AdamW(params, **{"weight_decay": 0.0, **options})
        optimizer.zero_grad = functools.partial(optimizer.zero_grad, set_to_none=False)
        return optimizer

    return made


def gradient_clipping(ours: ModuleType) -> Any:
    """Return the function as it is."""
    return ours.clip_gradients


def cosine_lr(ours: ModuleType) -> Any:
    """Return the schedule with their names for its ends."""

    def schedule(step: int, total_steps: int, warmup_steps: int, max_lr: float, min_lr: float = 0.0) -> Any:
        return ours.warmup_cosine(step, warmup=warmup_steps, total=total_steps, peak=max_lr, floor=min_lr)

    return schedule


def rope(ours: ModuleType) -> Any:
    """Return what turns queries and keys."""
    return lambda q, k: (ours.rotate(q), ours.rotate(k))


def attention(ours: ModuleType) -> Any:
    """Return attention without its weights."""
    return lambda q, k, v: ours.scaled_dot_product_attention(q, k, v)[0]


def mha(ours: ModuleType) -> Any:
    """Return a module whose keys are those of its context; ours has one context for keys and values."""

    def made(d_model: int, num_heads: int) -> Any:
        module = ours.MultiHeadAttention(d_model, num_heads)

        def forward(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
            if k is v:
                return module(q) if k is q else module(q, context=k)  # type: ignore[no-any-return]
            # A context that holds both: the projections of keys read its first half, those of values the second.
            wide = _Halves(module)
            with wide:
                return module(q, context=torch.cat((k, v), dim=-1))  # type: ignore[no-any-return]

        parts = {f"W_{name}": getattr(module, f"w_{name}") for name in "qkvo"}
        return SimpleNamespace(forward=forward, **parts)

    return made


class _Halves:
    """While it is entered, the keys' projection reads the first half of what it is given, the values' the second."""

    def __init__(self, module: Any) -> None:
        self._hooks = [(module.w_k, 0), (module.w_v, 1)]
        self._entered: list[Any] = []

    def __enter__(self) -> None:
        for layer, half in self._hooks:
            self._entered.append(
                layer.register_forward_pre_hook(lambda _, args, half=half: (args[0].chunk(2, dim=-1)[half],))
            )

    def __exit__(self, *_: object) -> None:
        for hook in self._entered:
            hook.remove()


def layernorm(ours: ModuleType) -> Any:
    """Return a function of the module's parameters."""

    def norm(x: torch.Tensor, gamma: torch.Tensor, beta: torch.Tensor, eps: float = 1e-5) -> Any:
        module = ours.LayerNorm(x.shape[-1], eps)
        return torch.func.functional_call(module, {"weight": gamma, "bias": beta}, (x,))

    return norm


def rmsnorm(ours: ModuleType) -> Any:
    """Return a function of the module's parameter."""

    def norm(x: torch.Tensor, weight: torch.Tensor, eps: float = 1e-6) -> Any:
        return torch.func.functional_call(ours.RMSNorm(x.shape[-1], eps), {"weight": weight}, (x,))

    return norm


def topk_sampling(ours: ModuleType) -> Any:
    """Return a function that filters and draws."""

    def sample(logits: torch.Tensor, top_k: int = 0, top_p: float = 1.0, temperature: float = 1.0) -> int:
        rows = (logits / temperature)[None]
        rows = ours.top_k(rows, top_k) if top_k > 0 else rows
        rows = ours.top_p(rows, top_p) if top_p < 1 else rows
        return int(torch.multinomial(rows[0].softmax(-1), 1))

    return sample


def linear_attention(ours: ModuleType) -> Any:
    """Return the function as it is."""
    return ours.linear_attention


def gelu(ours: ModuleType) -> Any:
    """Return the function as it is."""
    return ours.gelu
