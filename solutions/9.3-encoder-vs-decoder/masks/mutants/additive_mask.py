"""What `additive_mask` gets wrong.

Added to scores before a softmax, 0 changes nothing and -inf leaves no weight at all. No other pair of numbers does so.
"""


@mistake(
    "additive-one-zero",
    "your additive mask holds 1 where allowed and 0 where forbidden; it should hold 0 where allowed, else -inf",
)
def additive_mask(mask, dtype=torch.float32):
    return mask.to(dtype)


mistake(
    "additive-inverted",
    "your additive mask is -inf where attention is allowed and 0 where it is forbidden; exchange the two",
    additive_mask='zeros.masked_fill(~mask, float("-inf")) -> zeros.masked_fill(mask, float("-inf"))',
)

mistake(
    "additive-large-negative",
    "your additive mask holds -1e9, so a query with nothing allowed sees everything; it should hold -inf instead",
    additive_mask='float("-inf") -> -1e9',
)


@mistake(
    "additive-nan",
    "your additive mask multiplies by infinity, and 0 * inf is NaN; fill -inf in only where attention is forbidden",
)
def additive_mask(mask, dtype=torch.float32):
    return (1 - mask.to(dtype)) * float("-inf")


@mistake("additive-dtype-ignored", "your additive mask is always float32; it should have the dtype that is given")
def additive_mask(mask, dtype=torch.float32):
    zeros = torch.zeros(mask.shape, device=mask.device)
    return zeros.masked_fill(~mask, float("-inf"))


mistake(
    "additive-tiny",
    "your additive mask holds 1e-9 where attention is forbidden, which hides nothing; it should hold -inf there",
    additive_mask='float("-inf") -> 1e-9',
)

mistake(
    "additive-plus-infinity",
    "your additive mask is +inf where it should be -inf, so the blocked keys get all the weight",
    additive_mask='float("-inf") -> float("inf")',
)

mistake(
    "additive-zeros",
    "your additive mask is 0 everywhere; return the result of masked_fill, as only masked_fill_ fills its own tensor",
    additive_mask="""
        - return zeros.masked_fill(~mask, float("-inf"))
        + zeros.masked_fill(~mask, float("-inf"))
        + return zeros
    """,
)

mistake(
    "additive-one-where-allowed",
    "your additive mask is 1 where attention is allowed; it should be 0, which leaves the score as it is",
    additive_mask="""
        - zeros = torch.zeros(mask.shape, dtype=dtype, device=mask.device)
        - return zeros.masked_fill(~mask, float("-inf"))
        + return mask.to(dtype).masked_fill(~mask, float("-inf"))
    """,
)


@mistake(
    "additive-minus",
    "your additive mask subtracts a boolean, which torch refuses; write ~mask for its opposite",
)
def additive_mask(mask, dtype=torch.float32):
    return ((1 - mask) * float("-inf")).to(dtype)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
