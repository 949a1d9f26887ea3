"""Look inside: entropy of attention, induction heads, a linear probe in closed form, heads switched off.

References: Olsson et al. 2022 (arXiv:2209.11895); Alain and Bengio 2016 (arXiv:1610.01644); Michel et al. 2019
(arXiv:1905.10650).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial

import torch
from torch import Tensor, nn


def attention_entropy(weights: Tensor) -> Tensor:
    """Return -Σ w · ln w over the keys; a weight of 0 adds 0, and its gradient is finite."""
    logs = torch.where(weights > 0, weights, 1).log()  # 0 · log 1 in place of 0 · log 0
    return -(weights * logs).sum(dim=-1)


def induction_score(weights: Tensor, period: int) -> Tensor:
    """Return the mean weight from t to t - period + 1 over all t >= period."""
    if not 1 <= period < weights.size(-1):
        raise ValueError(f"{weights.size(-1)} positions hold no second copy of {period} tokens")
    # The diagonal begins with query period - 1, whose token has no previous copy.
    followers = weights.diagonal(1 - period, dim1=-2, dim2=-1)[..., 1:]
    return followers.mean(dim=-1)


def probe(features: Tensor, labels: Tensor, *, ridge: float = 1e-3) -> Callable[[Tensor], Tensor]:
    """Fit ridge regression on one-hot labels; centred features and targets take the bias out of the penalty."""
    classes, number = labels.unique(return_inverse=True)
    x = features.detach().double()
    y = torch.eye(len(classes), dtype=x.dtype, device=x.device)[number]
    x_mean, y_mean = x.mean(dim=0), y.mean(dim=0)
    x, y = x - x_mean, y - y_mean
    penalty = ridge * torch.eye(x.size(1), dtype=x.dtype, device=x.device)
    weight = torch.linalg.solve(x.T @ x + penalty, x.T @ y)

    def predict(new: Tensor) -> Tensor:
        scores = (new.detach().double() - x_mean) @ weight + y_mean
        return classes[scores.argmax(dim=-1)]

    return predict


def silenced(columns: Tensor, _: nn.Module, args: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    """Return what a module reads, with zeros in some columns."""
    return (args[0].masked_fill(columns.to(args[0].device), 0), *args[1:])


@contextmanager
def ablate_heads(model: nn.Module, layer: int, heads: Iterable[int]) -> Iterator[None]:
    """Let a layer's w_o read zeros in the columns of some heads while the block runs."""
    block = model.layers[layer]
    attention = block.attention if hasattr(block, "attention") else block.self_attention
    heads = list(heads)
    if any(not 0 <= head < attention.num_heads for head in heads):
        raise ValueError(f"heads {heads} of {attention.num_heads}")
    width = attention.w_o.in_features // attention.num_heads
    off = torch.zeros(attention.num_heads, dtype=torch.bool)
    off[heads] = True
    columns = off.repeat_interleave(width)
    handle = attention.w_o.register_forward_pre_hook(partial(silenced, columns))
    try:
        yield
    finally:
        handle.remove()
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
