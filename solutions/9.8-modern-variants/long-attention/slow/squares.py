"""Answers that are right and pay for all queries against all keys.

Keys and values multiplied first are one small matrix for all queries; from the left it is one for each block.
"""

mistake(
    "all-pairs",
    "you multiply all queries with all keys; multiply keys with values first, then queries with that",
    linear_attention=[
        "sums = q @ k.sum(dim=-2).unsqueeze(-1) -> weights = q @ k.mT",
        "q @ (k.mT @ v) / sums -> weights / weights.sum(dim=-1, keepdim=True) @ v",
    ],
    fails=["test_linear_speed", "test_too_long_for_all_pairs"],
)

mistake(
    "all-pairs-masked",
    "you multiply all queries with all keys and mask half of it; sum over earlier keys, block by block",
    linear_attention="""
        - return _from_the_left(q, k, v).to(query.dtype)
        + weights = (q @ k.mT).tril()
        + return (weights / weights.sum(dim=-1, keepdim=True) @ v).to(query.dtype)
    """,
    fails=["test_causal_speed", "test_too_long_for_all_pairs"],
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
