"""Each tile is an attention of its own; two of them are merged by their logsumexps, keys outside, queries inside."""

from __future__ import annotations

import torch


def _seen(first_row, rows, first_key, keys, shift, device):
    """Return which queries of a tile see which of its keys; shift None: all."""
    if shift is None:
        return torch.ones(rows, keys, dtype=torch.bool, device=device)
    return torch.ones(rows, keys, dtype=torch.bool, device=device).tril(first_row + shift - first_key)


def _check(query, key, value, block):
    sizes = tuple(query.shape), tuple(key.shape), tuple(value.shape)
    front = {tuple(x.shape[:-2]) for x in (query, key, value)}
    if block <= 0:
        raise ValueError(f"expected a block of at least 1, not {block}")
    if len(front) > 1 or query.size(-1) != key.size(-1) or key.size(-2) != value.size(-2):
        raise ValueError(f"expected [.., Tq, D], [.., Tk, D], [.., Tk, Dv], not {sizes}")


def _wide(*tensors):
    return [x.detach().double() if x.dtype == torch.float64 else x.detach().float() for x in tensors]


def tiled_attention(query, key, value, causal=False, block=64):
    """Merge what each tile gives into the rows that it belongs to."""
    _check(query, key, value, block)
    q, k, v = _wide(query, key, value)
    Tq, Tk = q.size(-2), k.size(-2)
    shift = Tk - Tq if causal else None
    found = q.new_zeros(*q.shape[:-1], v.size(-1))
    lse = q.new_full(q.shape[:-1], float("-inf"))
    for j in range(0, Tk, block):
        kj, vj = k[..., j : j + block, :], v[..., j : j + block, :]
        for i in range(0, Tq, block):
            qi = q[..., i : i + block, :]
            if shift is not None and i + qi.size(-2) - 1 + shift < j:
                continue
            s = torch.einsum("...id,...jd->...ij", qi, kj) / q.size(-1) ** 0.5
            s = torch.where(_seen(i, qi.size(-2), j, kj.size(-2), shift, q.device), s, float("-inf"))
            part = torch.logsumexp(s, -1)
            old = lse[..., i : i + block].clone()
            new = torch.logaddexp(old, part)
            base = torch.where(new.isinf(), 0.0, new)[..., None]
            rows = found[..., i : i + block, :]
            rows.mul_((old[..., None] - base).exp()).add_((s - base).exp() @ vj)
            lse[..., i : i + block] = new
    return found.to(query.dtype), lse


def tiled_backward(grad, query, key, value, output, logsumexp, causal=False, block=64):
    """Fill dk and dv tile by tile of keys; dq is added to."""
    _check(query, key, value, block)
    g, q, k, v, out, lse = _wide(grad, query, key, value, output, logsumexp)
    Tq, Tk, root = q.size(-2), k.size(-2), q.size(-1) ** 0.5
    shift = Tk - Tq if causal else None
    rest = torch.einsum("...d,...d->...", g, out)
    dq = torch.zeros_like(q)
    dks, dvs = [k[..., :0, :]], [v[..., :0, :]]
    for j in range(0, Tk, block):
        kj, vj = k[..., j : j + block, :], v[..., j : j + block, :]
        dk, dv = torch.zeros_like(kj), torch.zeros_like(vj)
        for i in range(0, Tq, block):
            rows = slice(i, min(i + block, Tq))
            if shift is not None and rows.stop - 1 + shift < j:
                continue
            seen = _seen(i, rows.stop - i, j, kj.size(-2), shift, q.device) & lse[..., rows, None].isfinite()
            s = torch.einsum("...id,...jd->...ij", q[..., rows, :], kj) / root
            p = torch.where(seen, (s - lse[..., rows, None]).exp(), 0.0)
            dv += torch.einsum("...ij,...id->...jd", p, g[..., rows, :])
            ds = p * (torch.einsum("...id,...jd->...ij", g[..., rows, :], vj) - rest[..., rows, None])
            dq[..., rows, :] += torch.einsum("...ij,...jd->...id", ds, kj) / root
            dk += torch.einsum("...ij,...id->...jd", ds, q[..., rows, :]) / root
        dks.append(dk)
        dvs.append(dv)
    return dq.to(query.dtype), torch.cat(dks, -2).to(key.dtype), torch.cat(dvs, -2).to(value.dtype)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
