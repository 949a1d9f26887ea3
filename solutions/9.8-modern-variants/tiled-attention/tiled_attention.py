"""Tiled attention: softmax attention whose matrix of weights is never stored, forward and backward.

References: Milakov and Gimelshein 2018 (arXiv:1805.02867); Rabe and Staats 2021 (arXiv:2112.05682); Dao et al. 2022
(arXiv:2205.14135), algorithms 1 and 4; Dao 2023 (arXiv:2307.08691).
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor


def _refuse(query: Tensor, key: Tensor, value: Tensor, block: int) -> None:
    """Raise ValueError for sizes that do not fit, and for tiles of nothing."""
    if block < 1:
        raise ValueError(f"block is {block}; expected 1 or more")
    if key.shape[:-2] != query.shape[:-2] or key.shape[-1] != query.shape[-1]:
        raise ValueError(f"key is {tuple(key.shape)}; expected the axes in front, and D, of query {tuple(query.shape)}")
    if value.shape[:-1] != key.shape[:-1]:
        raise ValueError(f"value is {tuple(value.shape)}; expected all axes but the last of key {tuple(key.shape)}")


def _tiles(Tq: int, Tk: int, causal: bool, block: int) -> Iterator[tuple[slice, list[slice]]]:
    """Yield each tile of queries with the tiles of keys that one of them sees."""
    for start in range(0, Tq, block):
        rows = slice(start, min(start + block, Tq))
        seen = rows.stop + Tk - Tq if causal else Tk
        yield rows, [slice(first, min(first + block, Tk)) for first in range(0, seen, block)]


def _scores(q: Tensor, k: Tensor, rows: slice, keys: slice, future: int | None) -> Tensor:
    """Return the scores of one tile, -inf where a query does not see a key."""
    scores = q[..., rows, :] @ k[..., keys, :].mT * q.shape[-1] ** -0.5
    if future is None:
        return scores
    i = torch.arange(rows.start, rows.stop, device=q.device)[:, None]
    j = torch.arange(keys.start, keys.stop, device=q.device)
    return scores.masked_fill(j > i + future, -torch.inf)


@torch.no_grad()
def tiled_attention(
    query: Tensor, key: Tensor, value: Tensor, causal: bool = False, block: int = 64
) -> tuple[Tensor, Tensor]:
    """Attend tile by tile, with a running maximum and a running sum for each query."""
    _refuse(query, key, value, block)
    q, k, v = (x.to(torch.promote_types(x.dtype, torch.float32)) for x in (query, key, value))
    Tq, Tk = q.shape[-2], k.shape[-2]
    output, logsumexp = query.new_zeros(*q.shape[:-1], v.shape[-1]), q.new_zeros(q.shape[:-1])
    for rows, tiles in _tiles(Tq, Tk, causal, block):
        largest = q.new_full((*q.shape[:-2], rows.stop - rows.start, 1), -torch.inf)
        total = torch.zeros_like(largest)
        mixed = output[..., rows, :].to(v.dtype)
        for keys in tiles:
            scores = _scores(q, k, rows, keys, Tk - Tq if causal else None)
            new = torch.maximum(largest, scores.amax(dim=-1, keepdim=True))
            finite = new.masked_fill(new == -torch.inf, 0.0)  # -inf - (-inf) would be NaN
            weights, fade = (scores - finite).exp(), (largest - finite).exp()
            total = total * fade + weights.sum(dim=-1, keepdim=True)
            mixed = mixed * fade + weights @ v[..., keys, :]
            largest = new
        output[..., rows, :] = mixed / total.masked_fill(total == 0, 1.0)
        logsumexp[..., rows] = (largest + total.log()).squeeze(-1)
    return output, logsumexp


@torch.no_grad()
def tiled_backward(
    grad: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    output: Tensor,
    logsumexp: Tensor,
    causal: bool = False,
    block: int = 64,
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the gradients of query, key and value, from tiles that are computed once more."""
    _refuse(query, key, value, block)
    g, q, k, v, out, lse = (
        x.to(torch.promote_types(x.dtype, torch.float32)) for x in (grad, query, key, value, output, logsumexp)
    )
    Tq, Tk, scale = q.shape[-2], k.shape[-2], q.shape[-1] ** -0.5
    dq, dk, dv = torch.zeros_like(q), torch.zeros_like(k), torch.zeros_like(v)
    delta = (g * out).sum(dim=-1, keepdim=True)
    lse = lse.masked_fill(lse == -torch.inf, torch.inf).unsqueeze(-1)  # exp(-inf - inf) is 0, not NaN
    for rows, tiles in _tiles(Tq, Tk, causal, block):
        for keys in tiles:
            weights = (_scores(q, k, rows, keys, Tk - Tq if causal else None) - lse[..., rows, :]).exp()
            slopes = weights * (g[..., rows, :] @ v[..., keys, :].mT - delta[..., rows, :]) * scale
            dq[..., rows, :] += slopes @ k[..., keys, :]
            dk[..., keys, :] += slopes.mT @ q[..., rows, :]
            dv[..., keys, :] += weights.mT @ g[..., rows, :]
    return dq.to(query.dtype), dk.to(key.dtype), dv.to(value.dtype)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
