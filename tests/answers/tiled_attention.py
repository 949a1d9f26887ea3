"""Answers to tiled-attention."""

# ==== right ====
"""Tiled attention as other people write it, from the lesson and the stub alone."""

answer(
    "rows-at-a-time", "Chunks of torch.split; the numerator is kept next to the denominator, in one tensor."
)


def tiled_attention(query, key, value, causal=False, block=64):
    if block < 1:
        raise ValueError(f"block should be 1 or more, got {block}")
    if (
        query.shape[:-2] != key.shape[:-2]
        or key.shape[:-1] != value.shape[:-1]
        or query.shape[-1] != key.shape[-1]
    ):
        raise ValueError(f"sizes do not fit: {query.shape}, {key.shape}, {value.shape}")
    Tq, Tk = query.shape[-2], key.shape[-2]
    q, k, v = (x if x.dtype == torch.float64 else x.float() for x in (query, key, value))
    v = torch.cat([v, torch.ones_like(v[..., :1])], -1)  # the last column counts
    rows, sums = [q.new_zeros(*q.shape[:-2], 0, v.shape[-1] - 1)], [q.new_zeros(*q.shape[:-2], 0)]
    for a in range(0, Tq, block):
        qa = q[..., a : a + block, :] / q.shape[-1] ** 0.5
        row = torch.arange(a, a + qa.shape[-2], device=q.device)[:, None]
        m = qa.new_full((*qa.shape[:-1], 1), float("-inf"))
        acc = qa.new_zeros(*qa.shape[:-1], v.shape[-1])
        b = 0
        while b < Tk and not (causal and b > a + qa.shape[-2] - 1 + Tk - Tq):
            s = qa @ k[..., b : b + block, :].transpose(-1, -2)
            if causal:
                column = torch.arange(b, b + s.shape[-1], device=q.device)
                s = s.masked_fill(column > row + (Tk - Tq), float("-inf"))
            m_new = torch.max(m, s.max(-1, keepdim=True)[0])
            p = torch.nan_to_num(torch.exp(s - m_new), nan=0.0)
            acc = acc * torch.nan_to_num(torch.exp(m - m_new), nan=0.0) + p @ v[..., b : b + block, :]
            m = m_new
            b += block
        count = acc[..., -1:]
        rows.append(torch.where(count > 0, acc[..., :-1] / count, torch.zeros_like(acc[..., :-1])))
        sums.append((m + count.log())[..., 0])
    return torch.cat(rows, -2).to(query.dtype), torch.cat(sums, -1)


answer("gradients-by-keys", "Tiles of keys are outside, and every query that sees one of them is inside.")


def tiled_backward(grad, query, key, value, output, logsumexp, causal=False, block=64):
    _refuse(query, key, value, block)
    g, q, k, v, o = (x if x.dtype == torch.float64 else x.float() for x in (grad, query, key, value, output))
    Tq, Tk, root = q.shape[-2], k.shape[-2], q.shape[-1] ** 0.5
    dq, dk, dv = q * 0, torch.zeros_like(k), torch.zeros_like(v)
    for j in range(0, Tk, block):
        kj, vj = k[..., j : j + block, :], v[..., j : j + block, :]
        first = max(0, j - (Tk - Tq)) if causal else 0
        for i in range(first, Tq, block):
            end = min(i + block, Tq)
            p = torch.exp(q[..., i:end, :] @ kj.transpose(-1, -2) / root - logsumexp[..., i:end, None])
            p = torch.where(logsumexp[..., i:end, None] == float("-inf"), 0.0, p)
            if causal:
                p = p.tril(i + Tk - Tq - j)
            delta = (g[..., i:end, :] * o[..., i:end, :]).sum(-1, keepdim=True)
            ds = p * (g[..., i:end, :] @ vj.transpose(-1, -2) - delta) / root
            dq[..., i:end, :] += ds @ kj
            dk[..., j : j + block, :] += ds.transpose(-1, -2) @ q[..., i:end, :]
            dv[..., j : j + block, :] += p.transpose(-1, -2) @ g[..., i:end, :]
    return dq.to(query.dtype), dk.to(key.dtype), dv.to(value.dtype)


answer("running-maximum", "One tile of queries after another, zeros of the output's dtype, an early end.")


def _refuse(query, key, value, block):
    if block < 1:
        raise ValueError(f"block is {block}, expected 1 or more")
    for name, x in (("query", query), ("key", key), ("value", value)):
        if x.ndim < 2:
            raise ValueError(f"{name} has shape {tuple(x.shape)}, expected at least two axes")
    if query.shape[-1] != key.shape[-1]:
        raise ValueError(f"key has width {key.shape[-1]}, expected {query.shape[-1]} as query has")
    if key.shape[-2] != value.shape[-2]:
        raise ValueError(f"value has length {value.shape[-2]}, expected {key.shape[-2]} as key has")
    if query.shape[:-2] != key.shape[:-2]:
        raise ValueError(
            f"key has the axes {tuple(key.shape[:-2])} in front, expected {tuple(query.shape[:-2])}"
        )
    if query.shape[:-2] != value.shape[:-2]:
        raise ValueError(
            f"value has the axes {tuple(value.shape[:-2])} in front, expected {tuple(query.shape[:-2])}"
        )


def _hidden(i, ie, j, je, shift, device):
    rows = torch.arange(i, ie, device=device)[:, None]
    cols = torch.arange(j, je, device=device)[None, :]
    return cols > rows + shift


def tiled_attention(query, key, value, causal=False, block=64):
    _refuse(query, key, value, block)
    wide = torch.promote_types(query.dtype, torch.float32)
    tq, tk = query.shape[-2], key.shape[-2]
    shift = tk - tq
    scale = query.shape[-1] ** -0.5
    output = query.new_zeros(*query.shape[:-1], value.shape[-1])
    logsumexp = query.new_full(query.shape[:-1], -torch.inf, dtype=wide)
    with torch.no_grad():
        for i in range(0, tq, block):
            ie = min(i + block, tq)
            q = query[..., i:ie, :].to(wide)
            q = q * scale
            m = q.new_full(q.shape[:-1], -torch.inf)
            total = q.new_zeros(q.shape[:-1])
            a = q.new_zeros(*q.shape[:-1], value.shape[-1])
            for j in range(0, tk, block):
                je = min(j + block, tk)
                if causal and j > ie - 1 + shift:
                    break
                k, v = key[..., j:je, :].to(wide), value[..., j:je, :].to(wide)
                s = q @ k.transpose(-1, -2)
                if causal and je - 1 > i + shift:
                    s = s.masked_fill(_hidden(i, ie, j, je, shift, s.device), -torch.inf)
                new = torch.maximum(m, s.amax(-1))
                safe = new.masked_fill(new == -torch.inf, 0.0)
                c = torch.exp(m - safe)
                e = torch.exp(s - safe[..., None])
                total = c * total + e.sum(-1)
                a = c[..., None] * a + e @ v
                m = new
            some = total > 0
            a = a / torch.where(some, total, 1.0)[..., None]
            output[..., i:ie, :] = a.to(output.dtype)
            logsumexp[..., i:ie] = m + torch.log(total)
    return output, logsumexp


def tiled_backward(grad, query, key, value, output, logsumexp, causal=False, block=64):
    _refuse(query, key, value, block)
    wide = torch.promote_types(query.dtype, torch.float32)
    tq, tk = query.shape[-2], key.shape[-2]
    shift = tk - tq
    scale = query.shape[-1] ** -0.5
    with torch.no_grad():
        dq = torch.zeros_like(query, dtype=wide)
        dk = torch.zeros_like(key, dtype=wide)
        dv = torch.zeros_like(value, dtype=wide)
        delta = (grad.to(wide) * output.to(wide)).sum(-1)
        lse = logsumexp.to(wide)
        lse = lse.masked_fill(lse == -torch.inf, 0.0)
        for j in range(0, tk, block):
            je = min(j + block, tk)
            k, v = key[..., j:je, :].to(wide), value[..., j:je, :].to(wide)
            for i in range(0, tq, block):
                ie = min(i + block, tq)
                if causal and j > ie - 1 + shift:
                    continue
                q = query[..., i:ie, :].to(wide) * scale
                g = grad[..., i:ie, :].to(wide)
                s = q @ k.transpose(-1, -2)
                if causal and je - 1 > i + shift:
                    s = s.masked_fill(_hidden(i, ie, j, je, shift, s.device), -torch.inf)
                p = torch.exp(s - lse[..., i:ie, None])
                ds = p * (g @ v.transpose(-1, -2) - delta[..., i:ie, None])
                dv[..., j:je, :] += p.transpose(-1, -2) @ g
                dk[..., j:je, :] += ds.transpose(-1, -2) @ q
                dq[..., i:ie, :] += ds @ k * scale
    return dq.to(query.dtype), dk.to(key.dtype), dv.to(value.dtype)


answer("joined-results", "Each tile is joined to an output and a logsumexp of all tiles before it.")


def _check(query, key, value, block):
    lead, tk, d = tuple(query.shape[:-2]), key.shape[-2], query.shape[-1]
    if block < 1:
        raise ValueError(f"expected block >= 1, got block={block}")
    if tuple(key.shape) != (*lead, tk, d):
        raise ValueError(f"expected key {(*lead, 'Tk', d)}, got {tuple(key.shape)}")
    if tuple(value.shape[:-1]) != (*lead, tk):
        raise ValueError(f"expected value {(*lead, tk, 'Dv')}, got {tuple(value.shape)}")


def _up(x):
    return x.detach().to(torch.promote_types(x.dtype, torch.float32))


def _tiles(tq, tk, block, causal):
    for j in range(0, tk, block):
        for i in range(0, tq, block):
            queries, keys = slice(i, min(i + block, tq)), slice(j, min(j + block, tk))
            if not causal or keys.start <= queries.stop - 1 + tk - tq:
                yield queries, keys


def _scores(q, k, queries, keys, causal, shift):
    s = torch.einsum("...id,...jd->...ij", q[..., queries, :], k[..., keys, :]) / q.shape[-1] ** 0.5
    if causal:
        i = torch.arange(queries.start, queries.stop, device=q.device)
        j = torch.arange(keys.start, keys.stop, device=q.device)
        s = torch.where(j <= i[:, None] + shift, s, -torch.inf)
    return s


def tiled_attention(query, key, value, causal=False, block=64):
    _check(query, key, value, block)
    q, k, v = _up(query), _up(key), _up(value)
    tq, tk = q.shape[-2], k.shape[-2]
    # What is known so far is itself an attention over fewer keys: an output and a logsumexp. Each tile is joined to it.
    out = q.new_zeros(*q.shape[:-1], v.shape[-1])
    lse = q.new_full(q.shape[:-1], -torch.inf)
    for queries, keys in _tiles(tq, tk, block, causal):
        s = _scores(q, k, queries, keys, causal, tk - tq)
        old = lse[..., queries]
        both = torch.logaddexp(old, torch.logsumexp(s, -1))
        base = torch.where(both == -torch.inf, 0.0, both)
        p = torch.exp(s - base[..., None])
        out[..., queries, :] = torch.exp(old - base)[..., None] * out[..., queries, :] + p @ v[..., keys, :]
        lse[..., queries] = both
    return out.to(query.dtype), lse


def tiled_backward(grad, query, key, value, output, logsumexp, causal=False, block=64):
    _check(query, key, value, block)
    q, k, v, g, o = _up(query), _up(key), _up(value), _up(grad), _up(output)
    tq, tk = q.shape[-2], k.shape[-2]
    dq, dk, dv = torch.zeros_like(q), torch.zeros_like(k), torch.zeros_like(v)
    delta = torch.einsum("...id,...id->...i", g, o)
    lse = _up(logsumexp)
    for queries, keys in _tiles(tq, tk, block, causal):
        blind = (lse[..., queries] == -torch.inf)[..., None]
        s = _scores(q, k, queries, keys, causal, tk - tq)
        p = torch.where(blind, 0.0, torch.exp(s - lse[..., queries, None]))
        dp = torch.einsum("...id,...jd->...ij", g[..., queries, :], v[..., keys, :])
        ds = p * (dp - delta[..., queries, None]) / q.shape[-1] ** 0.5
        dv[..., keys, :] += torch.einsum("...ij,...id->...jd", p, g[..., queries, :])
        dk[..., keys, :] += torch.einsum("...ij,...id->...jd", ds, q[..., queries, :])
        dq[..., queries, :] += torch.einsum("...ij,...jd->...id", ds, k[..., keys, :])
    return dq.to(query.dtype), dk.to(key.dtype), dv.to(value.dtype)


# ==== wrong ====
"""Tiled attention with a slip each, by somebody who knew the lesson and the stub alone."""


@answer("numerator-alone", "The sum forgets what the old maximum was.", named=["sum-not-rescaled"])
def tiled_attention(query, key, value, causal=False, block=64):
    _refuse(query, key, value, block)
    q, k, v = (x if x.dtype == torch.float64 else x.float() for x in (query, key, value))
    Tq, Tk = q.shape[-2], k.shape[-2]
    out, lse = (
        torch.zeros_like(query[..., :1]).repeat_interleave(v.shape[-1], -1),
        torch.zeros_like(q[..., 0]),
    )
    for a in range(0, Tq, block):
        e = min(a + block, Tq)
        m, total = q.new_full((*q.shape[:-2], e - a), float("-inf")), q.new_zeros(*q.shape[:-2], e - a)
        acc = q.new_zeros(*q.shape[:-2], e - a, v.shape[-1])
        for b in range(0, min(Tk, e + Tk - Tq) if causal else Tk, block):
            s = q[..., a:e, :] @ k[..., b : b + block, :].transpose(-1, -2) / q.shape[-1] ** 0.5
            if causal:
                i, j = torch.arange(a, e)[:, None], torch.arange(b, b + s.shape[-1])
                s = s.masked_fill(j > i + Tk - Tq, float("-inf"))
            new = torch.maximum(m, s.amax(-1))
            safe = torch.where(new == float("-inf"), 0.0, new)
            p = torch.exp(s - safe[..., None])
            total = total + p.sum(-1)
            acc = acc * torch.exp(m - safe)[..., None] + p @ v[..., b : b + block, :]
            m = new
        out[..., a:e, :] = acc / torch.where(total == 0, 1.0, total)[..., None]
        lse[..., a:e] = m + total.log()
    return out, lse


@answer("last-tile-wins", "Each tile of queries writes its dk over the last one's.", named=["dk-assigned"])
def tiled_backward(grad, query, key, value, output, logsumexp, causal=False, block=64):
    _refuse(query, key, value, block)
    g, q, k, v, o = (x if x.dtype == torch.float64 else x.float() for x in (grad, query, key, value, output))
    Tq, Tk, root = q.shape[-2], k.shape[-2], q.shape[-1] ** 0.5
    dq, dk, dv = torch.zeros_like(q), torch.zeros_like(k), torch.zeros_like(v)
    lse = torch.where(logsumexp == float("-inf"), float("inf"), logsumexp)
    for i in range(0, Tq, block):
        e = min(i + block, Tq)
        delta = (g[..., i:e, :] * o[..., i:e, :]).sum(-1, keepdim=True)
        for j in range(0, min(Tk, e + Tk - Tq) if causal else Tk, block):
            kj, vj = k[..., j : j + block, :], v[..., j : j + block, :]
            p = torch.exp(q[..., i:e, :] @ kj.transpose(-1, -2) / root - lse[..., i:e, None])
            p = p.tril(i + Tk - Tq - j) if causal else p
            ds = p * (g[..., i:e, :] @ vj.transpose(-1, -2) - delta) / root
            dq[..., i:e, :] += ds @ kj
            dk[..., j : j + block, :] = ds.transpose(-1, -2) @ q[..., i:e, :]
            dv[..., j : j + block, :] += p.transpose(-1, -2) @ g[..., i:e, :]
    return dq.to(query.dtype), dk.to(key.dtype), dv.to(value.dtype)


answer(
    "front-of-value", "The axes in front of value are not compared.", named=["front-of-the-value-not-refused"]
)


def _refuse(query, key, value, block):
    if block < 1:
        raise ValueError(f"block is {block}, expected 1 or more")
    for name, x in (("query", query), ("key", key), ("value", value)):
        if x.ndim < 2:
            raise ValueError(f"{name} has shape {tuple(x.shape)}, expected at least two axes")
    if query.shape[-1] != key.shape[-1]:
        raise ValueError(f"key has width {key.shape[-1]}, expected {query.shape[-1]} as query has")
    if key.shape[-2] != value.shape[-2]:
        raise ValueError(f"value has length {value.shape[-2]}, expected {key.shape[-2]} as key has")
    if query.shape[:-2] != key.shape[:-2]:
        raise ValueError(
            f"key has the axes {tuple(key.shape[:-2])} in front, expected {tuple(query.shape[:-2])}"
        )


answer("ends-the-loop", "The first tile of queries that sees nothing ends the loop over all of them.")


def _hidden(i, ie, j, je, shift, device):
    rows = torch.arange(i, ie, device=device)[:, None]
    cols = torch.arange(j, je, device=device)[None, :]
    return cols > rows + shift


def tiled_backward(grad, query, key, value, output, logsumexp, causal=False, block=64):
    _refuse(query, key, value, block)
    wide = torch.promote_types(query.dtype, torch.float32)
    tq, tk = query.shape[-2], key.shape[-2]
    shift = tk - tq
    scale = query.shape[-1] ** -0.5
    with torch.no_grad():
        dq = torch.zeros_like(query, dtype=wide)
        dk = torch.zeros_like(key, dtype=wide)
        dv = torch.zeros_like(value, dtype=wide)
        delta = (grad.to(wide) * output.to(wide)).sum(-1)
        lse = logsumexp.to(wide)
        lse = lse.masked_fill(lse == -torch.inf, 0.0)
        for j in range(0, tk, block):
            je = min(j + block, tk)
            k, v = key[..., j:je, :].to(wide), value[..., j:je, :].to(wide)
            for i in range(0, tq, block):
                ie = min(i + block, tq)
                if causal and j > ie - 1 + shift:
                    break
                q = query[..., i:ie, :].to(wide) * scale
                g = grad[..., i:ie, :].to(wide)
                s = q @ k.transpose(-1, -2)
                if causal and je - 1 > i + shift:
                    s = s.masked_fill(_hidden(i, ie, j, je, shift, s.device), -torch.inf)
                p = torch.exp(s - lse[..., i:ie, None])
                ds = p * (g @ v.transpose(-1, -2) - delta[..., i:ie, None])
                dv[..., j:je, :] += p.transpose(-1, -2) @ g
                dk[..., j:je, :] += ds.transpose(-1, -2) @ q
                dq[..., i:ie, :] += ds @ k * scale
    return dq.to(query.dtype), dk.to(key.dtype), dv.to(value.dtype)
