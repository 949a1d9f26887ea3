"""Picks that are right and loop in Python.

A tensor of ids is an index like any other: one call reads the rows of all of them.
"""


@mistake(
    "row-by-row",
    "your pick takes row after row in Python, which is slow; it should read all of them in one call, `table[ids]`",
    fails=["test_pick_speed"],
)
def pick(table, ids):
    _expect_ids(ids, len(table))
    rows = torch.stack([table[i] for i in ids.flatten().tolist()])
    return rows.reshape(*ids.shape, table.shape[1])
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
