"""How the mask is applied wrongly.

Where it is False the score becomes -inf before the softmax, so that all weight goes to what is allowed. It broadcasts,
and it is the caller's.
"""


class mask_ignored:
    """your attention never applies the mask

    Fails: test_mask_values
    """

    def scaled_dot_product_attention(query, key, value, mask=None):
        scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
        weights = scores.softmax(dim=-1)
        return weights @ value, weights


class mask_inverted:
    """your attention forbids what the mask allows: True means that the query may look

    Fails: test_mask_values, test_module_masks
    """

    scaled_dot_product_attention = """
          else:
        +     mask = ~mask
    """


class mask_after_softmax:
    """your mask is applied after the softmax: what is left no longer sums to one

    Fails: test_mask_values, test_module_masks
    """

    def scaled_dot_product_attention(query, key, value, mask=None):
        scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
        weights = scores.softmax(dim=-1)
        if mask is not None:
            weights = weights * mask
        return weights @ value, weights


class masked_score_zero:
    """your forbidden scores are 0 before the softmax, and exp(0) is 1: they still get weight

    Fails: test_mask_values, test_module_masks
    """

    def scaled_dot_product_attention(query, key, value, mask=None):
        scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
        if mask is not None:
            scores = scores * mask
        weights = scores.softmax(dim=-1)
        return weights @ value, weights


class finite_fill:
    """your mask adds -1e4 instead of -inf: a large enough score gets past it

    Fails: test_large_forbidden_scores
    """

    scaled_dot_product_attention = """
        - weights = scores.masked_fill(~(mask | blind), float("-inf")).softmax(dim=-1)
        + scores = scores + (~mask).to(scores.dtype) * -1e4
        + weights = scores.softmax(dim=-1)
    """


class small_fill:
    """your mask puts a finite number such as -1000 in place of forbidden scores: an allowed score may be lower still

    Fails: test_large_forbidden_scores, test_fully_masked
    """

    scaled_dot_product_attention = """
        - blind = ~mask.any(dim=-1, keepdim=True)
        - weights = scores.masked_fill(~(mask | blind), float("-inf")).softmax(dim=-1)
        - weights = weights.masked_fill(blind, 0.0)
        + weights = scores.masked_fill(~mask, -1000.0).softmax(dim=-1)
    """


class mask_not_broadcast:
    """your mask has to have all axes of the scores: let it broadcast instead of reshaping it

    Fails: test_mask_shapes, test_module_masks
    """

    scaled_dot_product_attention = """
          else:
        +     mask = mask.reshape(scores.shape)
    """


class mask_shared_by_batch:
    """your attention uses the first mask of the batch, or of the heads, for all of them

    Fails: test_mask_values, test_module_masks
    """

    scaled_dot_product_attention = """
          else:
        +     mask = mask.reshape(-1, *mask.shape[-2:])[0]  # the trailing [Tq, Tk]
    """


class mask_flipped_in_place:
    """your attention flips the caller's mask in place: used again, it means the opposite

    Fails: test_attention_promises
    """

    scaled_dot_product_attention = """
        - weights = scores.masked_fill(~(mask | blind), float("-inf")).softmax(dim=-1)
        + forbidden = mask.logical_not_()
        + weights = scores.masked_fill(forbidden & ~blind, float("-inf")).softmax(dim=-1)
    """


class mask_added:
    """your boolean mask is added to the scores: it adds 1 to what is allowed, and forbids nothing

    Fails: test_mask_values, test_module_masks
    """

    def scaled_dot_product_attention(query, key, value, mask=None):
        scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
        if mask is not None:
            scores = scores + mask
        weights = scores.softmax(dim=-1)
        return weights @ value, weights


class mask_unsqueezed:
    """your attention gives the mask another axis whatever its shape: it broadcasts as it is

    Fails: test_mask_values
    """

    scaled_dot_product_attention = """
          else:
        +     mask = mask.unsqueeze(1)
    """


class mask_transposed:
    """your mask is turned: its rows are queries and its columns keys, as in the scores

    Fails: test_mask_values, test_module_masks
    """

    scaled_dot_product_attention = """
          else:
        +     mask = mask.transpose(-2, -1)
    """


class mask_required:
    """your attention uses the mask without asking whether there is one: None allows everything

    Fails: test_shapes, test_values
    """

    def scaled_dot_product_attention(query, key, value, mask=None):
        scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
        blind = ~mask.any(dim=-1, keepdim=True)
        weights = scores.masked_fill(~(mask | blind), float("-inf")).softmax(dim=-1)
        weights = weights.masked_fill(blind, 0.0)
        return weights @ value, weights
