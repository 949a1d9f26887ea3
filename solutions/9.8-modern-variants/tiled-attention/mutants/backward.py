"""What goes wrong backward: every tile adds its share to three gradients."""

mistake(
    "dq-assigned",
    "your dq is that of the last tile of keys; add the share of every tile",
    tiled_backward="dq[..., rows, :] += -> dq[..., rows, :] =",
)

mistake(
    "dk-assigned",
    "your dk is that of the last tile of queries; add the share of every tile",
    tiled_backward="dk[..., keys, :] += -> dk[..., keys, :] =",
)

mistake(
    "dv-assigned",
    "your dv is that of the last tile of queries; add the share of every tile",
    tiled_backward="dv[..., keys, :] += -> dv[..., keys, :] =",
)

mistake(
    "dk-not-scaled",
    "your dk is not divided by √D; divide it like dq",
    tiled_backward="slopes.mT @ q[..., rows, :] -> slopes.mT @ q[..., rows, :] / scale",
)

mistake(
    "dq-not-scaled",
    "your dq is not divided by √D; divide it like dk",
    tiled_backward="slopes @ k[..., keys, :] -> slopes @ k[..., keys, :] / scale",
)

mistake(
    "gradients-not-scaled",
    "your dq and dk are not divided by √D; they should be, as the scores are",
    tiled_backward="- delta[..., rows, :]) * scale -> - delta[..., rows, :])",
)

mistake(
    "delta-forgotten",
    "your dS is P · dP; subtract Δ from dP first",
    tiled_backward=" - delta[..., rows, :]) -> )",
)

mistake(
    "delta-not-weighted",
    "your dS is P · dP - Δ; multiply P by the difference dP - Δ",
    tiled_backward="weights * (g[..., rows, :] @ v[..., keys, :].mT - delta[..., rows, :]) -> "
    "(weights * (g[..., rows, :] @ v[..., keys, :].mT) - delta[..., rows, :])",
)

mistake(
    "delta-of-the-first-rows",
    "your Δ is that of the first tile's queries; take the rows of the tile",
    tiled_backward="- delta[..., rows, :] -> - delta[..., : rows.stop - rows.start, :]",
)

mistake(
    "delta-of-the-tile",
    "your Δ is the sum of P · dP over one tile of keys; it should be the sum of grad · output, over all keys",
    tiled_backward="""
        - slopes = weights * (g[..., rows, :] @ v[..., keys, :].mT - delta[..., rows, :]) * scale
        + slopes = g[..., rows, :] @ v[..., keys, :].mT
        + slopes = weights * (slopes - (weights * slopes).sum(-1, keepdim=True)) * scale
    """,
)

mistake(
    "delta-added",
    "you add Δ to dP; subtract it",
    tiled_backward=".mT - delta -> .mT + delta",
)

mistake(
    "softmax-of-the-tile",
    "your P is a softmax of one tile; subtract the logsumexp of all keys from the scores, then exp",
    tiled_backward="(_scores(q, k, rows, keys, Tk - Tq if causal else None) - lse[..., rows, :]).exp() -> "
    "_scores(q, k, rows, keys, Tk - Tq if causal else None).softmax(-1).nan_to_num()",
)

mistake(
    "logsumexp-not-subtracted",
    "your P is exp(S); subtract the logsumexp from S first",
    tiled_backward=" - lse[..., rows, :]).exp() -> ).exp()",
)

mistake(
    "logsumexp-computed-again",
    "you compute the logsumexp again from all scores; subtract the one that is given",
    tiled_backward="""
          for rows, tiles in _tiles(Tq, Tk, causal, block):
        +     every = _scores(q, k, rows, slice(0, Tk), Tk - Tq if causal else None)
        +     lse[..., rows, :] = every.logsumexp(-1, keepdim=True).nan_to_num(neginf=torch.inf)
    """,
)

mistake(
    "nan-where-nothing-is-seen",
    "you subtract a logsumexp of -inf from -inf, which is NaN; P should be 0 where a query sees no key",
    tiled_backward="lse.masked_fill(lse == -torch.inf, torch.inf).unsqueeze(-1) -> lse.unsqueeze(-1)",
)

mistake(
    "dv-from-the-slopes",
    "your dv is dSᵀ · grad; it should be Pᵀ · grad",
    tiled_backward="weights.mT @ g -> slopes.mT @ g",
)

mistake(
    "dk-and-dv-exchanged",
    "you return dq, dv, dk; return dq, dk, dv",
    tiled_backward="dk.to(key.dtype), dv.to(value.dtype) -> dv.to(value.dtype), dk.to(key.dtype)",
)

mistake(
    "backward-not-masked",
    "your P is not masked backward, so keys get gradients from queries that did not see them; they should get none",
    tiled_backward="Tk - Tq if causal else None) - lse -> None) - lse",
)

mistake(
    "whole-matrix-backward",
    "you compute all of P at once backward; compute it tile by tile",
    tiled_backward="in _tiles(Tq, Tk, causal, block): -> in _tiles(Tq, Tk, causal, max(Tq, Tk, 1)):",
)

mistake(
    "autograd",
    "you let autograd compute the gradients; write the formulas of dq, dk and dv",
    tiled_backward="""
        - for rows, tiles in _tiles(Tq, Tk, causal, block):
        + leaves = [x.detach().requires_grad_() for x in (q, k, v)]
        + with torch.enable_grad():
        +     scores = _scores(*leaves[:2], slice(0, Tq), slice(0, Tk), Tk - Tq if causal else None)
        +     found = (scores - lse).exp() @ leaves[2]
        + dq, dk, dv = torch.autograd.grad(found, leaves, g)
        + for rows, tiles in ():
    """,
)

mistake(
    "dk-scaled-twice",
    "your dk is divided by √D twice, as the query is already; divide it once",
    tiled_backward="slopes.mT @ q[..., rows, :] -> slopes.mT @ q[..., rows, :] * scale",
)

mistake(
    "gradients-summed-in-half-precision",
    "your gradients are summed in the dtype of the inputs, where small shares are lost; sum them in float32",
    tiled_backward="torch.zeros_like(q), torch.zeros_like(k), torch.zeros_like(v) -> "
    "torch.zeros_like(query), torch.zeros_like(key), torch.zeros_like(value)",
)

mistake(
    "ends-at-a-tile-that-sees-nothing",
    "your loop ends at the first tile of queries that sees no key of the tile; it should go on to the later ones",
    tiled_backward="""
          for rows, tiles in _tiles(Tq, Tk, causal, block):
        -     for keys in tiles:
        +     for keys in tiles[: len(next(_tiles(Tq, Tk, causal, block))[1])]:
    """,
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
