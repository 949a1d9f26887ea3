"""What `additive_mask` gets wrong.

Added to scores before a softmax, 0 changes nothing and -inf leaves no weight at all. No other pair of numbers does so.
"""


class additive_one_zero:
    """your additive mask is the mask as numbers, 1 and 0: added to the scores it hides nothing

    Fails: test_additive_values
    """

    def additive_mask(mask, dtype=torch.float32):
        return mask.to(dtype)


class additive_inverted:
    """your additive mask is -inf where attention is allowed and 0 where it is forbidden

    Fails: test_additive_values
    """

    additive_mask = """
        - return zeros.masked_fill(~mask, float("-inf"))
        + return zeros.masked_fill(mask, float("-inf"))
    """


class additive_large_negative:
    """your additive mask holds -1e9 where -inf belongs: a query with nothing allowed sees everything

    Fails: test_additive_values
    """

    additive_mask = """
        - return zeros.masked_fill(~mask, float("-inf"))
        + return zeros.masked_fill(~mask, -1e9)
    """


class additive_nan:
    """your additive mask multiplies by infinity: 0 * inf is NaN, so the allowed pairs are NaN instead of 0

    Fails: test_additive_values
    """

    def additive_mask(mask, dtype=torch.float32):
        return (1 - mask.to(dtype)) * float("-inf")


class additive_dtype_ignored:
    """your additive mask is float32 whatever dtype is asked for

    Fails: test_additive_dtypes
    """

    def additive_mask(mask, dtype=torch.float32):
        zeros = torch.zeros(mask.shape, device=mask.device)
        return zeros.masked_fill(~mask, float("-inf"))


class additive_tiny:
    """your additive mask holds 1e-9 where -inf belongs: that is a hair above 0, and hides nothing

    Fails: test_additive_values
    """

    additive_mask = """
        - return zeros.masked_fill(~mask, float("-inf"))
        + return zeros.masked_fill(~mask, 1e-9)
    """


class additive_plus_infinity:
    """your additive mask is +inf where it should be -inf: the blocked keys would get all the weight

    Fails: test_additive_values
    """

    additive_mask = """
        - return zeros.masked_fill(~mask, float("-inf"))
        + return zeros.masked_fill(~mask, float("inf"))
    """


class additive_zeros:
    """your additive mask is 0 everywhere: masked_fill gives a new tensor, and only masked_fill_ fills the one at hand

    Fails: test_additive_values
    """

    additive_mask = """
        - return zeros.masked_fill(~mask, float("-inf"))
        + zeros.masked_fill(~mask, float("-inf"))
        + return zeros
    """


class additive_one_where_allowed:
    """your additive mask is 1 where attention is allowed: it has to be 0, which leaves the score as it is

    Fails: test_additive_values
    """

    additive_mask = """
        - zeros = torch.zeros(mask.shape, dtype=dtype, device=mask.device)
        - return zeros.masked_fill(~mask, float("-inf"))
        + return mask.to(dtype).masked_fill(~mask, float("-inf"))
    """


class additive_minus:
    """your additive mask subtracts a boolean, which torch refuses: ~mask is its opposite

    Fails: test_additive_values
    """

    def additive_mask(mask, dtype=torch.float32):
        return ((1 - mask) * float("-inf")).to(dtype)
