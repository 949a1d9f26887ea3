"""A causal mask that is right and wastes time.

One comparison of two index vectors fills it: [T, 1] and [1, T] broadcast to [T, T].
"""


@mistake(
    "rows-of-lists",
    "you write the causal mask row by row as Python lists: one comparison of two index vectors fills it",
    fails=["test_causal_mask_speed"],
)
def causal_mask(seq_len, *, device=None):
    rows = []
    for query in range(seq_len):
        rows.append([True] * (query + 1) + [False] * (seq_len - query - 1))
    return torch.tensor(rows, device=device)
