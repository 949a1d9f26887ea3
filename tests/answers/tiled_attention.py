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
