"""Lists of tiles, queries scaled first; backward in two sweeps, one for dq and one for dk and dv, as kernels do."""

from __future__ import annotations

import torch

NONE = -1e30
"""In place of -inf, so that differences are never NaN."""


def _tile(x, number, block):
    return x[:, number * block : (number + 1) * block]


def _hidden(i, j, rows, keys, block, Tq, Tk, x):
    """Return where a query of tile i does not see a key of tile j."""
    row = torch.arange(rows, device=x.device) + i * block + Tk - Tq
    return torch.arange(keys, device=x.device)[None] + j * block > row[:, None]


def _prepared(query, key, value, causal, block, *more):
    """Flatten the axes in front, widen, and list for each tile of queries the tiles of keys that it sees."""
    Tq, Tk = query.shape[-2], key.shape[-2]
    if not block >= 1:
        raise ValueError(f"block = {block}, but at least 1 was expected")
    for name, x, want in (("key", key, (*query.shape[:-2], Tk, query.shape[-1])),
                          ("value", value, (*query.shape[:-2], Tk, value.shape[-1]))):  # fmt: skip
        if tuple(x.shape) != want:
            raise ValueError(f"{name} has the shape {list(x.shape)}, expected {list(want)}")
    kind = torch.float64 if query.dtype == torch.float64 else torch.float32
    flat = [x.detach().to(kind).reshape(query.shape[:-2].numel(), *x.shape[query.dim() - 2 :])
            for x in (query, key, value, *more)]  # fmt: skip
    pairs = [(i, j) for i in range(-(-Tq // block)) for j in range(-(-Tk // block))
             if not causal or j * block <= min((i + 1) * block, Tq) - 1 + Tk - Tq]  # fmt: skip
    return Tq, Tk, pairs, flat


def tiled_attention(query, key, value, causal=False, block=64):
    """Carry maximum, sum and weighted values from tile to tile."""
    Tq, Tk, pairs, (q, k, v) = _prepared(query, key, value, causal, block)
    q = q * query.shape[-1] ** -0.5
    outputs, sums = [], []
    for i in range(-(-Tq // block)):
        qi = _tile(q, i, block)
        m = qi.new_full(qi.shape[:2], NONE)
        total, mixed = torch.zeros_like(m), qi.new_zeros(*qi.shape[:2], v.shape[-1])
        for j in [j for other, j in pairs if other == i]:
            s = qi.bmm(_tile(k, j, block).mT)
            if causal:
                s.masked_fill_(_hidden(i, j, *s.shape[1:], block, Tq, Tk, s), NONE)
            new = torch.maximum(m, s.max(-1).values)
            p = (s - new[..., None]).exp_() * (s > NONE)
            fade = (m - new).exp()
            total = total * fade + p.sum(-1)
            mixed = mixed * fade[..., None] + p.bmm(_tile(v, j, block))
            m = new
        outputs.append(mixed / total.clamp(min=1e-30)[..., None])
        sums.append(torch.where(total > 0, m + total.clamp(min=1e-30).log(), float("-inf")))
    front = query.shape[:-2]
    output = torch.cat(outputs, 1).to(query.dtype).reshape(*front, Tq, value.shape[-1])
    return output, torch.cat(sums, 1).reshape(*front, Tq)


def tiled_backward(grad, query, key, value, output, logsumexp, causal=False, block=64):
    """Sweep over the pairs of tiles twice."""
    more = grad, output, logsumexp
    Tq, Tk, pairs, (q, k, v, g, out, lse) = _prepared(query, key, value, causal, block, *more)
    scale = query.shape[-1] ** -0.5
    delta = (g * out).sum(-1)

    def again(i, j):
        s = _tile(q, i, block) @ _tile(k, j, block).mT * scale
        p = torch.exp(s - _tile(lse, i, block)[..., None])
        if causal:
            p = p.masked_fill(_hidden(i, j, *s.shape[1:], block, Tq, Tk, s), 0)
        return p, p * (_tile(g, i, block) @ _tile(v, j, block).mT - _tile(delta, i, block)[..., None]) * scale

    dq, dk, dv = (torch.zeros_like(x) for x in (q, k, v))
    for i, j in pairs:
        _tile(dq, i, block).add_(again(i, j)[1] @ _tile(k, j, block))
    for i, j in pairs:
        p, ds = again(i, j)
        _tile(dk, j, block).add_(ds.mT @ _tile(q, i, block))
        _tile(dv, j, block).add_(p.mT @ _tile(g, i, block))
    return tuple(x.to(y.dtype).reshape(y.shape) for x, y in zip((dq, dk, dv), (query, key, value), strict=True))
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
