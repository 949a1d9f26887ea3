"""A causal mask that is right and wastes time.

One comparison of two index vectors fills it: [T, 1] and [1, T] broadcast to [T, T].
"""


class index_tables:
    """you write the indices of all pairs into two [T, T] tables: [T, 1] and [1, T] broadcast by themselves

    Fails: test_causal_mask_speed
    """

    causal_mask = """
        - query, key = t[:, None], t[None, :]
        + key = t.repeat(seq_len, 1)
        + query = key.T.contiguous()
    """


class rows_of_lists:
    """you write the causal mask row by row as Python lists: one comparison of two index vectors fills it

    Fails: test_causal_mask_speed
    """

    def causal_mask(seq_len, *, device=None):
        rows = []
        for query in range(seq_len):
            rows.append([True] * (query + 1) + [False] * (seq_len - query - 1))
        return torch.tensor(rows, device=device)
