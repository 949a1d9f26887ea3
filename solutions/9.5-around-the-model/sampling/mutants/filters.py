"""How filters keep too much, too little or the wrong things.

What may be drawn keeps its logit, what may not becomes -inf; each row decides for itself.
"""


class top_k_strict:
    """your top_k keeps one token less: the k-th itself stays

    Fails: test_top_k
    """

    top_k = """
        - return logits.masked_fill(logits < least, -math.inf)
        + return logits.masked_fill(logits <= least, -math.inf)
    """


class top_k_zeroed:
    """your top_k sets the other logits to 0, which is a score like any other: -inf is none

    Fails: test_top_k
    """

    top_k = """
        - return logits.masked_fill(logits < least, -math.inf)
        + return logits.masked_fill(logits < least, 0.0)
    """


class top_k_too_large:
    """your top_k fails when k is larger than the vocabulary: then all stay

    Fails: test_top_k_all
    """

    top_k = """
        - least = logits.topk(min(k, logits.size(-1)), dim=-1).values[..., -1:]
        + least = logits.topk(k, dim=-1).values[..., -1:]
    """


class top_k_values_only:
    """your top_k returns the k best logits alone: all V come back, the others as -inf

    Fails: test_shapes
    """

    top_k = """
        - least = logits.topk(min(k, logits.size(-1)), dim=-1).values[..., -1:]
        - return logits.masked_fill(logits < least, -math.inf)
        + return logits.topk(min(k, logits.size(-1)), dim=-1).values
    """


class crossing_token_dropped:
    """your top_p drops the token with which p is reached: it still belongs to the set

    Fails: test_top_p
    """

    top_p = """
        - dropped = before >= p
        + dropped = before + share >= p
    """


class best_may_be_dropped:
    """your top_p drops all tokens where the best alone has more than p: one always stays

    Fails: test_top_p_small
    """

    top_p = """
        - dropped = before >= p
        - dropped[..., 0] = False
        + dropped = (before + share > p) & ((before >= p) | (before == 0))
    """


class left_in_order:
    """your top_p leaves its decisions in sorted order: they have to go back to the tokens' own places

    Fails: test_top_p
    """

    top_p = """
        - dropped = torch.zeros_like(dropped).scatter(-1, order, dropped)  # back to the tokens' own places
    """


class rest_not_normalised:
    """your top_p takes exp(logits) for probabilities: only the softmax makes them sum up to 1

    Fails: test_shift
    """

    top_p = """
        - share = ordered.softmax(dim=-1)
        + share = ordered.exp()
    """


class min_p_absolute:
    """your min_p asks for a probability of p: p times that of the best token is enough

    Fails: test_min_p
    """

    min_p = """
        - best = logits.amax(dim=-1, keepdim=True)
        - return logits.masked_fill(logits < best + math.log(p), -math.inf)
        + return logits.masked_fill(logits.softmax(dim=-1) < p, -math.inf)
    """


class min_p_overflows:
    """your min_p compares exp(logits): large ones are infinite, and nothing can be told apart

    Fails: test_large
    """

    min_p = """
        - best = logits.amax(dim=-1, keepdim=True)
        - return logits.masked_fill(logits < best + math.log(p), -math.inf)
        + likely = logits.exp()
        + return logits.masked_fill(likely < p * likely.amax(dim=-1, keepdim=True), -math.inf)
    """


class filtered_in_place:
    """your top_p writes -inf into the caller's logits

    Fails: test_arguments
    """

    top_p = """
        - return logits.masked_fill(dropped, -math.inf)
        + return logits.masked_fill_(dropped, -math.inf)
    """


class result_in_float32:
    """your min_p gives float32 whatever comes in

    Fails: test_dtypes
    """

    min_p = """
        - return logits.masked_fill(logits < best + math.log(p), -math.inf)
        + return logits.float().masked_fill(logits < best + math.log(p), -math.inf)
    """
