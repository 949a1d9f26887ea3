"""What goes wrong with tiles, and with who sees what across them."""

mistake(
    "not-scaled",
    "your scores are not scaled; divide them by √D",
    _scores="* q.shape[-1] ** -0.5 -> * 1.0",
    costs="no score is right, forward or backward",
)

mistake(
    "scaled-by-the-width",
    "your scores are divided by D; divide them by √D",
    _scores="** -0.5 -> ** -1.0",
    costs="no score is right, forward or backward",
)

mistake(
    "last-keys-dropped",
    "you drop the last keys where they do not fill a tile; the last tile may be short",
    _tiles="for first in range(0, seen, block) -> for first in range(0, max(seen, 0) // block * block, block)",
    costs="nearly every text has a last tile that is not full",
)

mistake(
    "last-queries-dropped",
    "you drop the last queries where they do not fill a tile; the last tile may be short",
    _tiles="for start in range(0, Tq, block): -> for start in range(0, Tq // block * block, block):",
    costs="nearly every text has a last tile that is not full",
)

mistake(
    "first-tile-only",
    "your queries see the first tile of keys only; they should see all tiles, to the last",
    _tiles="range(0, seen, block)] -> range(0, min(seen, block), block)]",
)

mistake(
    "padding-counts",
    "you fill the last tile with keys of 0, which get weights; their scores should be -inf",
    tiled_attention="""
          total = total * fade + weights.sum(dim=-1, keepdim=True)
        + total = total + (block - weights.shape[-1]) * (-finite).exp() * (Tk > block)
    """,
)

mistake(
    "causal-not-used",
    "you do not look at `causal`; query i should see no key after i + Tk - Tq",
    _tiles="if causal else Tk -> if False else Tk",
    _scores="if future is None -> if True",
)

mistake(
    "diagonal-not-masked",
    "you leave out tiles in the future, but not later keys in the tile on the diagonal; it should be masked",
    _scores="if future is None -> if True",
)

mistake(
    "diagonal-left-out",
    "you leave out the tile on the diagonal, too; its earlier keys should be seen",
    _tiles="seen = rows.stop + Tk - Tq -> seen = rows.start + Tk - Tq",
)

mistake(
    "does-not-see-itself",
    "your query does not see the key at its own place; only later keys should be masked",
    _scores="j > i + future -> j >= i + future",
)

mistake(
    "sees-the-next",
    "your query sees the key after its own place; query i should see none after i + Tk - Tq",
    _tiles="seen = rows.stop + Tk - Tq -> seen = min(rows.stop + 1 + Tk - Tq, Tk)",
    _scores="j > i + future -> j > i + future + 1",
)

mistake(
    "aligned-at-the-start",
    "your query i sees the keys 0 to i, whatever there is before; it should see those to i + Tk - Tq",
    _tiles="seen = rows.stop + Tk - Tq if causal else Tk -> seen = min(rows.stop, Tk) if causal else Tk",
    _scores="j > i + future -> j > i",
    convention="FlashAttention did so before version 2.1",
)

mistake(
    "place-in-the-tile",
    "your mask compares places inside the tile; compare places in the whole text",
    _scores="""
        - i = torch.arange(rows.start, rows.stop, device=q.device)[:, None]
        - j = torch.arange(keys.start, keys.stop, device=q.device)
        + i = torch.arange(rows.stop - rows.start, device=q.device)[:, None]
        + j = torch.arange(keys.stop - keys.start, device=q.device)
    """,
)

mistake(
    "sees-the-future",
    "your mask is turned round, so queries see later keys; they should see earlier ones",
    _tiles="seen = rows.stop + Tk - Tq if causal else Tk -> seen = Tk",
    _scores="j > i + future -> j < i + future",
)

mistake(
    "masked-with-zero",
    "your masked scores are 0, which still gets a weight; they should be -inf",
    _scores="future, -torch.inf) -> future, 0.0)",
)

mistake(
    "masked-with-a-number",
    "your masked scores are -1e9, so a query that sees no key averages all; they should be -inf",
    _scores="future, -torch.inf) -> future, -1e9)",
)

mistake(
    "future-computed",
    "you compute tiles of the future and mask all of them; leave them out",
    _tiles="seen = rows.stop + Tk - Tq if causal else Tk -> seen = Tk",
)

mistake(
    "whole-matrix",
    "you compute all scores at once; compute them tile by tile",
    tiled_attention="in _tiles(Tq, Tk, causal, block): -> in _tiles(Tq, Tk, causal, max(Tq, Tk, 1)):",
)

mistake(
    "keys-not-in-tiles",
    "you compute the scores of all keys at once; take `block` keys at a time",
    tiled_attention="for keys in tiles: -> for keys in [slice(0, tiles[-1].stop)] if tiles else []:",
)

mistake(
    "queries-not-in-tiles",
    "you compute the scores of all queries at once; take `block` queries at a time",
    tiled_attention="in _tiles(Tq, Tk, causal, block): -> "
    "in [(slice(0, Tq), [slice(j, min(j + block, Tk)) for j in range(0, Tk, block)])]:",
)

mistake(
    "mask-of-all-pairs",
    "you make one causal mask [Tq, Tk] and take tiles of it; make each tile's mask from its own places",
    tiled_attention="""
          Tq, Tk = q.shape[-2], k.shape[-2]
        + places = torch.arange(Tk, device=q.device)
        + hidden = places > torch.arange(Tq, device=q.device)[:, None] + Tk - Tq if causal else None

        - scores = _scores(q, k, rows, keys, Tk - Tq if causal else None)
        + scores = _scores(q, k, rows, keys, None)
        + scores = scores if hidden is None else scores.masked_fill(hidden[rows, keys], -torch.inf)
    """,
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
