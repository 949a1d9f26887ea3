"""What `outer_compare`, `one_hot` and `pick` get wrong.

A new axis of length 1 lets everything meet everything; ids are compared or used as an index all at once, and what is
outside the table is refused rather than counted from the end.
"""

mistake(
    "outer-transposed",
    "your outer_compare has the entries of b as its rows, so the table is [B, A]; a should give the rows",
    outer_compare="a[:, None] <= b[None, :] -> a[None, :] <= b[:, None]",
)

mistake(
    "outer-strict",
    "your outer_compare is strict, so equal entries give False; <= should hold for them",
    outer_compare="<= -> <",
)

mistake(
    "outer-reversed",
    "your outer_compare asks whether a[i] >= b[j], so the answer is turned round; it should ask for a[i] <= b[j]",
    outer_compare="<= -> >=",
)

mistake(
    "outer-entry-by-entry",
    "your outer_compare lines a up with b entry by entry, so no table is made; give each an axis of length 1",
    outer_compare="a[:, None] <= b[None, :] -> a <= b",
)

mistake(
    "outer-one-column",
    "your outer_compare gives both an axis for columns, so they meet entry by entry; b should be a row",
    outer_compare="""
        - return a[:, None] <= b[None, :]
        + n = min(len(a), len(b))
        + return a[:n, None] <= b[:n, None]
    """,
)

mistake(
    "outer-float",
    "your outer_compare returns numbers, so nothing can be indexed by it; a comparison should stay bool",
    outer_compare="return a[:, None] <= b[None, :] -> return (a[:, None] <= b[None, :]).float()",
)

mistake(
    "outer-through-float32",
    "your outer_compare turns integers into float32, so large ones look equal; compare them as they are",
    outer_compare="a[:, None] <= b[None, :] -> a.float()[:, None] <= b.float()[None, :]",
)

mistake(
    "one-hot-integers",
    "your one_hot returns integers, so no matrix can be multiplied by it; it should be float32",
    one_hot="torch.float32 -> torch.int64",
)

mistake(
    "one-hot-float64",
    "your one_hot returns float64, as numpy's identity does; it should be float32",
    one_hot="torch.float32 -> torch.float64",
)

mistake(
    "one-hot-bool",
    "your one_hot returns the comparison itself, which is bool; it should be float32",
    one_hot=".to(torch.float32) ->",
)

mistake(
    "one-hot-size-from-ids",
    "your one_hot is as wide as the largest id in the batch, so its shape changes; it should be size wide",
    one_hot="torch.arange(size, device -> torch.arange(int(ids.max()) + 1, device",
)

mistake(
    "one-hot-first-axis",
    "your one_hot counts the ids along the first axis; the new axis should be the last",
    one_hot="""
        - return (ids[..., None] == torch.arange(size, device=ids.device)).to(torch.float32)
        + return torch.stack([ids == i for i in range(size)]).to(torch.float32)
    """,
)

mistake(
    "one-hot-flattened",
    "your one_hot forgets the axes of ids and returns one long list of rows; it should be [.., size]",
    one_hot="ids[..., None] -> ids.reshape(-1, 1)",
)

mistake(
    "ids-unrefused",
    "your ids are not examined, so a wrong one goes on silently or raises something else; raise ValueError",
    _expect_ids="""
        - outside = ids[(ids < 0) | (ids >= size)]
        + outside = ids[ids != ids]
    """,
)

mistake(
    "ids-from-the-end",
    "your pick takes negative ids, so torch counts from the end of the table; it should refuse them with ValueError",
    _expect_ids="ids[(ids < 0) | (ids >= size)] -> ids[ids >= size]",
)

mistake(
    "ids-one-too-far",
    "your limit lets the id `size` pass, which is one past the end; the largest id should be size - 1",
    _expect_ids="ids >= size -> ids > size",
)

mistake(
    "ids-left-to-torch",
    "your ids are left to torch's indexing, which raises IndexError or counts from the end; raise ValueError first",
    one_hot="""
        - _expect_ids(ids, size)
        - return (ids[..., None] == torch.arange(size, device=ids.device)).to(torch.float32)
        + return torch.eye(size, device=ids.device)[ids]
    """,
    pick="_expect_ids(ids, len(table)) ->",
)

mistake(
    "pick-clamped",
    "your pick moves ids that are outside to the nearest row, which hides the error; raise ValueError",
    pick="""
        - _expect_ids(ids, len(table))
        - return table[ids]
        + return table[ids.clamp(0, len(table) - 1)]
    """,
)

mistake(
    "pick-columns",
    "your pick reads columns of the table, so a row never comes back whole; ids should index the first axis",
    pick="table[ids] -> table[:, ids % table.shape[1]]",
)

mistake(
    "pick-flattened",
    "your pick forgets the axes of ids and returns one long list of rows; it should be [.., D]",
    pick="table[ids] -> table[ids.reshape(-1)]",
)

mistake(
    "pick-two-axes",
    "your pick takes ids to be [B, T], so it raises for others; they may have any number of axes",
    pick="""
        - return table[ids]
        + B, T = ids.shape
        + return table[ids.reshape(-1)].reshape(B, T, -1)
    """,
)

mistake(
    "pick-detached",
    "your pick cuts the gradient off, so a table of embeddings never learns; it should index the table itself",
    pick="table[ids] -> table.detach()[ids]",
)

mistake(
    "one-hot-rows",
    "your one_hot writes whole rows of ones at the places ids, not one column of each; compare with arange(size)",
    one_hot="""
        - return (ids[..., None] == torch.arange(size, device=ids.device)).to(torch.float32)
        + out = torch.zeros(*ids.shape, size, device=ids.device)
        + out[ids % max(len(out), 1)] = 1.0
        + return out
    """,
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
