"""Answers that are right and pay for all queries against all keys.

Keys and values multiplied first are one small matrix for all queries; from the left it is one for each block.
"""


class all_pairs:
    """you multiply all queries with all keys: multiply keys with values first, then queries with that

    Fails: test_linear_speed, test_too_long_for_all_pairs
    """

    linear_attention = """
        - sums = q @ k.sum(dim=-2).unsqueeze(-1)  # [.., Tq, 1]
        - return (q @ (k.mT @ v) / sums).to(query.dtype)
        + weights = q @ k.mT
        + return (weights / weights.sum(dim=-1, keepdim=True) @ v).to(query.dtype)
    """


class all_pairs_masked:
    """you multiply all queries with all keys and mask half of it: sum over what lies before, block by block

    Fails: test_causal_speed, test_too_long_for_all_pairs
    """

    linear_attention = """
        - return _from_the_left(q, k, v).to(query.dtype)
        + weights = (q @ k.mT).tril()
        + return (weights / weights.sum(dim=-1, keepdim=True) @ v).to(query.dtype)
    """
