"""What `pool` gets wrong.

cls is position 0; mean and max look at real positions alone; a row of padding only gives zeros, and no NaN in its
gradient.
"""


class cls_is_last:
    """your cls takes the last position

    Fails: test_pool_cls, test_padding_invariance
    """

    pool = """
        - return hidden[:, 0]
        + return hidden[:, -1]
    """


class cls_keeps_the_axis:
    """your cls cuts out position 0 as a piece of length one, so an axis is left over

    Fails: test_pool_shapes
    """

    pool = """
        - return hidden[:, 0]
        + return hidden[:, :1]
    """


class mean_counts_padding:
    """your mean averages the vectors of padding together with the real ones

    Fails: test_pool_mean, test_padding_invariance
    """

    pool = """
        - return hidden.masked_fill(padding, 0.0).sum(dim=1) / mask.sum(dim=1, keepdim=True).clamp(min=1)
        + return hidden.mean(dim=1)
    """


class mean_divides_by_length:
    """your mean sums real positions only but divides by the whole length, padding included

    Fails: test_pool_mean, test_padding_invariance
    """

    pool = """
        - return hidden.masked_fill(padding, 0.0).sum(dim=1) / mask.sum(dim=1, keepdim=True).clamp(min=1)
        + return hidden.masked_fill(padding, 0.0).mean(dim=1)
    """


class mean_nan_for_padding_only:
    """your mean divides by zero where a row is padding only

    Fails: test_pool_padding_only, test_pool_gradients
    """

    pool = """
        - return hidden.masked_fill(padding, 0.0).sum(dim=1) / mask.sum(dim=1, keepdim=True).clamp(min=1)
        + return hidden.masked_fill(padding, 0.0).sum(dim=1) / mask.sum(dim=1, keepdim=True)
    """


class mean_nan_mended:
    """your mean divides by zero and mends the NaN afterwards: one is left in the gradient

    Fails: test_pool_gradients, test_padding_only
    """

    pool = """
        - return hidden.masked_fill(padding, 0.0).sum(dim=1) / mask.sum(dim=1, keepdim=True).clamp(min=1)
        + return ((hidden * ~padding).sum(dim=1) / mask.sum(dim=1, keepdim=True)).nan_to_num(0.0)
    """


class max_over_all:
    """your max looks at padding too

    Fails: test_pool_max, test_padding_invariance
    """

    pool = """
        - greatest = hidden.masked_fill(padding, float("-inf")).amax(dim=1)
        + greatest = hidden.amax(dim=1)
    """


class max_padding_is_zero:
    """your max sets padding to zero, and zero is greater than a row of negative numbers

    Fails: test_pool_max, test_pool_gradients
    """

    pool = """
        - greatest = hidden.masked_fill(padding, float("-inf")).amax(dim=1)
        + greatest = hidden.masked_fill(padding, 0.0).amax(dim=1)
    """


class max_finite_fill:
    """your max fills padding with a number such as -1e9, and real values may be smaller still; fill it with -inf

    Fails: test_pool_max
    """

    pool = """
        - greatest = hidden.masked_fill(padding, float("-inf")).amax(dim=1)
        + greatest = hidden.masked_fill(padding, -1e9).amax(dim=1)
    """


class max_minus_infinity:
    """your max of a row of padding only is -inf

    Fails: test_pool_padding_only, test_padding_only
    """

    pool = """
        - greatest = hidden.masked_fill(padding, float("-inf")).amax(dim=1)
        - return greatest.masked_fill(~mask.any(dim=1, keepdim=True), 0.0)
        + return hidden.masked_fill(padding, float("-inf")).amax(dim=1)
    """


class strategy_falls_through:
    """your pooling takes any strategy that it does not know for max

    Fails: test_pool_strategy, test_pooling_used
    """

    pool = """
        - if strategy == "max":
        -     greatest = hidden.masked_fill(padding, float("-inf")).amax(dim=1)
        -     return greatest.masked_fill(~mask.any(dim=1, keepdim=True), 0.0)
        - raise ValueError(f"strategy must be cls, mean or max, not {strategy!r}")
        + greatest = hidden.masked_fill(padding, float("-inf")).amax(dim=1)
        + return greatest.masked_fill(~mask.any(dim=1, keepdim=True), 0.0)
    """


class pool_in_place:
    """your max writes -inf into the hidden states that it was given

    Fails: test_pool_promises
    """

    pool = """
        - greatest = hidden.masked_fill(padding, float("-inf")).amax(dim=1)
        + hidden[~mask] = float("-inf")
        + greatest = hidden.amax(dim=1)
    """


class pool_float32:
    """your mean turns its result into float32, whatever the dtype of the hidden states

    Fails: test_pool_promises, test_model_promises
    """

    pool = """
        - return hidden.masked_fill(padding, 0.0).sum(dim=1) / mask.sum(dim=1, keepdim=True).clamp(min=1)
        + weights = mask.float().unsqueeze(-1)
        + return (hidden.float() * weights).sum(dim=1) / weights.sum(dim=1).clamp(min=1)
    """


class mean_count_inexact:
    """your mean adds a small number to the count: hold the count at 1 instead, which changes no other row

    Fails: test_pool_mean
    """

    pool = """
        - return hidden.masked_fill(padding, 0.0).sum(dim=1) / mask.sum(dim=1, keepdim=True).clamp(min=1)
        + return hidden.masked_fill(padding, 0.0).sum(dim=1) / (mask.sum(dim=1, keepdim=True) + 1e-3)
    """


class max_pair_returned:
    """your max returns values and indices, as max over an axis gives both; return the values

    Fails: test_pool_shapes
    Costs: what is pooled is a pair, with which nothing that follows can be computed
    """

    pool = """
        - greatest = hidden.masked_fill(padding, float("-inf")).amax(dim=1)
        - return greatest.masked_fill(~mask.any(dim=1, keepdim=True), 0.0)
        + return hidden.masked_fill(padding, float("-inf")).max(dim=1)
    """


class pooled_over_the_batch:
    """your mean and max run over the sequences of the batch: the positions are axis 1

    Fails: test_pool_shapes
    Costs: sentences are mixed before anything else is computed from them
    """

    pool = """
        - return hidden.masked_fill(padding, 0.0).sum(dim=1) / mask.sum(dim=1, keepdim=True).clamp(min=1)
        + return hidden.masked_fill(padding, 0.0).sum(dim=0) / (~padding).sum(dim=0).clamp(min=1)

        - greatest = hidden.masked_fill(padding, float("-inf")).amax(dim=1)
        - return greatest.masked_fill(~mask.any(dim=1, keepdim=True), 0.0)
        + return hidden.masked_fill(padding, float("-inf")).amax(dim=0)
    """


class pool_mask_inverted:
    """your pooling looks at padding and at nothing else; the mask is True where the token is real

    Fails: test_pool_mean, test_pool_max
    """

    pool = """
        - padding = ~mask.unsqueeze(-1)  # [B, T, 1]
        + mask = ~mask
        + padding = ~mask.unsqueeze(-1)
    """


class cls_of_first_row:
    """your cls takes all positions of the first sequence; it should take the first position of each

    Fails: test_pool_shapes
    """

    pool = """
        - return hidden[:, 0]
        + return hidden[0]
    """


class strategy_gives_none:
    """your pooling returns None for a strategy that it does not know: raise a ValueError

    Fails: test_pool_strategy
    """

    pool = """
        - raise ValueError(f"strategy must be cls, mean or max, not {strategy!r}")
    """


class strategy_key_error:
    """your pooling looks an unknown strategy up and raises KeyError: a ValueError is asked for

    Fails: test_pool_strategy
    """

    pool = """
        - raise ValueError(f"strategy must be cls, mean or max, not {strategy!r}")
        + raise KeyError(strategy)
    """
