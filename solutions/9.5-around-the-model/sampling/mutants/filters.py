"""How filters keep too much, too little or the wrong things.

What may be drawn keeps its logit, what may not becomes -inf; each row decides for itself.
"""


class top_k_strict:
    """your top_k keeps one token too few: the k-th is kept as well

    Fails: test_top_k
    """

    top_k = """
        - return logits.masked_fill(logits < least, -math.inf)
        + return logits.masked_fill(logits <= least, -math.inf)
    """


class top_k_one_more:
    """your top_k keeps one token more than k: its limit is the logit after the k-th

    Fails: test_top_k
    """

    top_k = """
        - least = logits.topk(min(k, logits.size(-1)), dim=-1).values[..., -1:]
        + least = logits.topk(min(k + 1, logits.size(-1)), dim=-1).values[..., -1:]
    """


class top_k_zeroed:
    """your top_k sets the other logits to 0, which is a score like any other: -inf is none

    Fails: test_top_k
    """

    top_k = """
        - return logits.masked_fill(logits < least, -math.inf)
        + return logits.masked_fill(logits < least, 0.0)
    """


class top_k_finite:
    """your removed logits are -1e9: only -inf can never be drawn

    Fails: test_top_k
    """

    top_k = """
        - return logits.masked_fill(logits < least, -math.inf)
        + return logits.masked_fill(logits < least, -1e9)
    """


class top_k_too_large:
    """your top_k fails when k is larger than the vocabulary: then all are kept

    Fails: test_top_k_all
    """

    top_k = """
        - least = logits.topk(min(k, logits.size(-1)), dim=-1).values[..., -1:]
        + least = logits.topk(k, dim=-1).values[..., -1:]
    """


class top_k_of_the_batch:
    """your top_k has one limit for all rows: each row keeps its own k best

    Fails: test_top_k
    """

    top_k = """
        - least = logits.topk(min(k, logits.size(-1)), dim=-1).values[..., -1:]
        + least = logits.flatten().topk(min(k, logits.size(-1))).values[-1]
    """


class top_k_for_each_row_of_the_batch:
    """your top_k keeps the best of the batch together, k times as many as it has rows: each row keeps its own k best

    Fails: test_top_k
    """

    top_k = """
        - least = logits.topk(min(k, logits.size(-1)), dim=-1).values[..., -1:]
        + rows = logits.numel() // logits.size(-1)
        + least = logits.flatten().topk(min(k * rows, logits.numel())).values[-1]
    """


class top_k_lowest_limit:
    """your top_k takes the lowest of the rows' limits for all of them: each row keeps its own k best

    Fails: test_top_k
    """

    top_k = """
        - return logits.masked_fill(logits < least, -math.inf)
        + return logits.masked_fill(logits < least.min(), -math.inf)
    """


class top_k_of_the_first_row:
    """your top_k takes its limit from the first row: each row keeps its own k best

    Fails: test_top_k
    """

    top_k = """
        - return logits.masked_fill(logits < least, -math.inf)
        + return logits.masked_fill(logits < least.flatten()[0], -math.inf)
    """


class top_k_worst:
    """your top_k keeps the k worst tokens

    Fails: test_top_k
    """

    top_k = """
        - least = logits.topk(min(k, logits.size(-1)), dim=-1).values[..., -1:]
        - return logits.masked_fill(logits < least, -math.inf)
        + most = logits.topk(min(k, logits.size(-1)), dim=-1, largest=False).values[..., -1:]
        + return logits.masked_fill(logits > most, -math.inf)
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


class top_k_probabilities:
    """your top_k returns probabilities: a filter gives logits back

    Fails: test_top_k
    """

    top_k = """
        - return logits.masked_fill(logits < least, -math.inf)
        + return logits.masked_fill(logits < least, -math.inf).softmax(dim=-1)
    """


class top_k_as_a_mask:
    """your top_k returns which tokens stay, as ones and zeros: a filter gives logits back

    Fails: test_top_k
    """

    top_k = """
        - return logits.masked_fill(logits < least, -math.inf)
        + return (logits >= least).to(logits.dtype)
    """


class crossing_token_dropped:
    """your top_p drops the token with which p is reached: it still belongs to the set

    Fails: test_top_p
    """

    top_p = """
        - dropped = before >= p
        + dropped = before + share >= p
    """


class one_token_more:
    """your top_p keeps one token more than those that reach p

    Fails: test_top_p
    """

    top_p = """
        - dropped[..., 0] = False
        + dropped[..., 1:] = dropped[..., :-1].clone()
        + dropped[..., 0] = False
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


class best_dropped_at_zero:
    """your top_p drops all tokens when p is 0: the best one always stays

    Fails: test_top_p_small
    """

    top_p = """
        - dropped[..., 0] = False
    """


class left_in_order:
    """your top_p leaves its decisions in sorted order: they have to go back to the tokens' own places

    Fails: test_top_p
    """

    top_p = """
        - dropped = torch.zeros_like(dropped).scatter(-1, order, dropped)  # back to the tokens' own places
    """


class sorted_logits_returned:
    """your top_p returns the logits sorted: each has to stay at its token's place

    Fails: test_top_p
    """

    top_p = """
        - dropped = torch.zeros_like(dropped).scatter(-1, order, dropped)  # back to the tokens' own places
        - return logits.masked_fill(dropped, -math.inf)
        + return ordered.masked_fill(dropped, -math.inf)
    """


class summed_unsorted:
    """your top_p sums probabilities in the order of the tokens: sum from the best one on

    Fails: test_top_p
    """

    top_p = """
        - ordered, order = logits.sort(dim=-1, descending=True)
        + ordered, order = logits, torch.arange(logits.size(-1)).expand(logits.shape)
    """


class gathered_back:
    """your top_p goes back to the tokens' places by gather(order): that is the way there, scatter is the way back

    Fails: test_top_p
    """

    top_p = """
        - dropped = torch.zeros_like(dropped).scatter(-1, order, dropped)  # back to the tokens' own places
        + dropped = dropped.gather(-1, order)
    """


class worst_first:
    """your top_p sums from the least likely token up: begin with the best

    Fails: test_top_p
    """

    top_p = """
        - ordered, order = logits.sort(dim=-1, descending=True)
        + ordered, order = logits.sort(dim=-1)
    """


class sums_of_logits:
    """your top_p sums logits: probabilities are what sums up to 1

    Fails: test_top_p
    """

    top_p = """
        - share = ordered.softmax(dim=-1)
        + share = ordered
    """


class softmax_of_the_rows:
    """your top_p takes the softmax over the rows: a row's own probabilities sum up to 1, along the last axis

    Fails: test_top_p
    """

    top_p = """
        - share = ordered.softmax(dim=-1)
        + share = ordered.softmax(dim=0)
    """


class summed_over_the_rows:
    """your top_p adds up probabilities from row to row: each row has its own sum, along the last axis

    Fails: test_top_p
    """

    top_p = """
        - before = share.cumsum(dim=-1) - share  # what the better ones have together
        + before = share.cumsum(dim=0) - share
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


class min_p_of_logits:
    """your min_p multiplies the best logit by p: shares of probabilities are differences of logits

    Fails: test_min_p
    """

    min_p = """
        - return logits.masked_fill(logits < best + math.log(p), -math.inf)
        + return logits.masked_fill(logits < best * p, -math.inf)
    """


class min_p_of_the_batch:
    """your min_p compares all rows with the best token of the batch: each row has a best one of its own

    Fails: test_min_p
    """

    min_p = """
        - best = logits.amax(dim=-1, keepdim=True)
        + best = logits.amax()
    """


class min_p_edge_dropped:
    """your min_p drops what is exactly p times as likely as the best: with p = 1 the best itself goes

    Fails: test_min_p
    """

    min_p = """
        - return logits.masked_fill(logits < best + math.log(p), -math.inf)
        + return logits.masked_fill(logits <= best + math.log(p), -math.inf)
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

    Fails: test_promises
    """

    top_p = """
        - return logits.masked_fill(dropped, -math.inf)
        + return logits.masked_fill_(dropped, -math.inf)
    """


class result_in_float32:
    """your min_p returns float32 whatever the dtype of the logits

    Fails: test_promises
    """

    min_p = """
        - return logits.masked_fill(logits < best + math.log(p), -math.inf)
        + return logits.float().masked_fill(logits < best + math.log(p), -math.inf)
    """
