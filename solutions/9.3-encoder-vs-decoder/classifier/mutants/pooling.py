"""What `pool` gets wrong.

cls is position 0; mean and max look at real positions alone; a row of padding only gives zeros, and no NaN in its
gradient.
"""

mistake(
    "cls-is-last",
    "your cls returns the vector at the last position; it should return the one at position 0",
    pool="hidden[:, 0] -> hidden[:, -1]",
)

mistake(
    "cls-keeps-the-axis",
    "your cls cuts out position 0 as a piece of length one, so an axis is left over; return [B, D]",
    pool="hidden[:, 0] -> hidden[:, :1]",
)

mistake(
    "mean-counts-padding",
    "your mean averages the vectors of padding together with the real ones; it should average only the real ones",
    pool="""
        - return hidden.masked_fill(padding, 0.0).sum(dim=1) / mask.sum(dim=1, keepdim=True).clamp(min=1)
        + return hidden.mean(dim=1)
    """,
)

mistake(
    "mean-divides-by-length",
    "your mean sums real positions only but divides by the whole length; it should divide by how many are real",
    pool="""
        - return hidden.masked_fill(padding, 0.0).sum(dim=1) / mask.sum(dim=1, keepdim=True).clamp(min=1)
        + return hidden.masked_fill(padding, 0.0).mean(dim=1)
    """,
)

mistake(
    "mean-nan-for-padding-only",
    "your mean divides by zero where a row is padding only; it should give zeros there, with finite gradients",
    pool="mask.sum(dim=1, keepdim=True).clamp(min=1) -> mask.sum(dim=1, keepdim=True)",
)

mistake(
    "mean-nan-mended",
    "your mean divides by zero and mends the NaN later, so one is left in the gradient; keep the divisor above zero",
    pool="""
        - return hidden.masked_fill(padding, 0.0).sum(dim=1) / mask.sum(dim=1, keepdim=True).clamp(min=1)
        + return ((hidden * ~padding).sum(dim=1) / mask.sum(dim=1, keepdim=True)).nan_to_num(0.0)
    """,
)

mistake(
    "max-over-all",
    "your max looks at padding too; it should look at real positions only",
    pool='hidden.masked_fill(padding, float("-inf")).amax(dim=1) -> hidden.amax(dim=1)',
)

mistake(
    "max-padding-is-zero",
    "your max sets padding to zero, which is greater than a negative number; padding must never be the greatest",
    pool='float("-inf") -> 0.0',
)

mistake(
    "max-finite-fill",
    "your max fills padding with a number such as -1e9, and real values may be smaller still; fill it with -inf",
    pool='float("-inf") -> -1e9',
)

mistake(
    "max-minus-infinity",
    "your max of a row of padding only is -inf; it should be zeros",
    pool="""
        - greatest = hidden.masked_fill(padding, float("-inf")).amax(dim=1)
        - return greatest.masked_fill(~mask.any(dim=1, keepdim=True), 0.0)
        + return hidden.masked_fill(padding, float("-inf")).amax(dim=1)
    """,
)

mistake(
    "strategy-falls-through",
    "your pooling treats an unknown strategy as max; raise a ValueError",
    pool="""
        - if strategy == "max":
        -     greatest = hidden.masked_fill(padding, float("-inf")).amax(dim=1)
        -     return greatest.masked_fill(~mask.any(dim=1, keepdim=True), 0.0)
        - raise ValueError(f"strategy must be cls, mean or max, not {strategy!r}")
        + greatest = hidden.masked_fill(padding, float("-inf")).amax(dim=1)
        + return greatest.masked_fill(~mask.any(dim=1, keepdim=True), 0.0)
    """,
)

mistake(
    "pool-in-place",
    "your max writes -inf into the hidden states that it was given; it should leave them as they are",
    pool="""
        - greatest = hidden.masked_fill(padding, float("-inf")).amax(dim=1)
        + hidden[~mask] = float("-inf")
        + greatest = hidden.amax(dim=1)
    """,
)

mistake(
    "pool-float32",
    "your mean turns its result into float32, whatever the dtype of hidden; it should keep that dtype",
    pool="""
        - return hidden.masked_fill(padding, 0.0).sum(dim=1) / mask.sum(dim=1, keepdim=True).clamp(min=1)
        + weights = mask.float().unsqueeze(-1)
        + return (hidden.float() * weights).sum(dim=1) / weights.sum(dim=1).clamp(min=1)
    """,
)

mistake(
    "mean-count-inexact",
    "your mean adds a small number to the count; hold the count at 1 at least, which changes no other row",
    pool="mask.sum(dim=1, keepdim=True).clamp(min=1) -> (mask.sum(dim=1, keepdim=True) + 1e-3)",
)

mistake(
    "max-pair-returned",
    "your max returns values and indices, as max over an axis gives both; return the values",
    pool="""
        - greatest = hidden.masked_fill(padding, float("-inf")).amax(dim=1)
        - return greatest.masked_fill(~mask.any(dim=1, keepdim=True), 0.0)
        + return hidden.masked_fill(padding, float("-inf")).max(dim=1)
    """,
    costs="what is pooled is a pair, with which nothing that follows can be computed",
)

mistake(
    "pooled-over-the-batch",
    "your mean and max run over the sequences of the batch; they should run over the positions, axis 1",
    pool="""
        - return hidden.masked_fill(padding, 0.0).sum(dim=1) / mask.sum(dim=1, keepdim=True).clamp(min=1)
        + return hidden.masked_fill(padding, 0.0).sum(dim=0) / (~padding).sum(dim=0).clamp(min=1)

        - greatest = hidden.masked_fill(padding, float("-inf")).amax(dim=1)
        - return greatest.masked_fill(~mask.any(dim=1, keepdim=True), 0.0)
        + return hidden.masked_fill(padding, float("-inf")).amax(dim=0)
    """,
    costs="sentences are mixed before anything else is computed from them",
)

mistake(
    "pool-mask-inverted",
    "your pooling looks only at padding; it should look where the mask is True, at the real tokens",
    pool="""
        - padding = ~mask.unsqueeze(-1)  # [B, T, 1]
        + mask = ~mask
        + padding = ~mask.unsqueeze(-1)
    """,
)

mistake(
    "cls-of-first-row",
    "your cls takes all positions of the first sequence; it should take the first position of each",
    pool="hidden[:, 0] -> hidden[0]",
)

mistake(
    "strategy-gives-none",
    "your pooling returns None for a strategy that it does not know; raise a ValueError",
    pool='- raise ValueError(f"strategy must be cls, mean or max, not {strategy!r}")',
)

mistake(
    "strategy-key-error",
    "your pooling looks an unknown strategy up and raises KeyError; raise a ValueError",
    pool='ValueError(f"strategy must be cls, mean or max, not {strategy!r}") -> KeyError(strategy)',
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
