"""What goes wrong from left to right: which keys a query's sums hold, and whether both sums hold the same.

Query i has sums over keys 0 to i, its own among them: one that is multiplied by values, and one that divides.
"""


class causal_ignored:
    """your causal attention sees all keys: query i sees keys 0 to i

    Fails: test_causal
    """

    linear_attention = """
        - if causal:
        -     return _from_the_left(q, k, v).to(query.dtype)
    """


class own_key_not_seen:
    """your queries do not see their own key: query i sees keys 0 to i, and the first one has no other

    Fails: test_causal, test_average
    """

    _from_the_left = """
        - own = (q @ k.mT).tril()
        + own = (q @ k.mT).tril(diagonal=-1)
    """


class one_key_too_many:
    """your queries see the key after them: query i sees keys 0 to i

    Fails: test_causal
    """

    _from_the_left = """
        - own = (q @ k.mT).tril()
        + own = (q @ k.mT).tril(diagonal=1)
    """


class from_the_right:
    """your causal sums run from the right: query i sees what comes before it

    Fails: test_causal
    """

    linear_attention = """
        - return _from_the_left(q, k, v).to(query.dtype)
        + return _from_the_left(q.flip(-2), k.flip(-2), v.flip(-2)).flip(-2).to(query.dtype)
    """


class all_keys_divide:
    """your causal denominator is the sum over all keys: it is over those that the query sees

    Fails: test_average, test_causal_values
    """

    _from_the_left = """
        - sums = q @ keys_before + own.sum(dim=-1, keepdim=True)
        + sums = q @ keys.sum(dim=-3, keepdim=True)
    """


class count_divides:
    """your causal denominator is the number of keys seen: it is the sum of their weights

    Fails: test_average, test_causal_values
    """

    _from_the_left = """
        - sums = q @ keys_before + own.sum(dim=-1, keepdim=True)
        + sums = torch.arange(1, q.shape[-3] * BLOCK + 1, device=q.device).view(-1, BLOCK, 1)
    """


class causal_not_divided:
    """your causal sums are not divided: weights add up to 1, causal or not

    Fails: test_average, test_causal_values
    """

    _from_the_left = """
        - return ((q @ before + own @ v) / sums).flatten(-3, -2)[..., :T, :]
        + return (q @ before + own @ v).flatten(-3, -2)[..., :T, :]
    """


class blocks_apart:
    """your blocks do not see what lies before them: sums carry over from block to block

    Fails: test_long
    """

    _from_the_left = """
        - sums = q @ keys_before + own.sum(dim=-1, keepdim=True)
        - return ((q @ before + own @ v) / sums).flatten(-3, -2)[..., :T, :]
        + sums = own.sum(dim=-1, keepdim=True)
        + return (own @ v / sums).flatten(-3, -2)[..., :T, :]
    """


class block_counted_twice:
    """your blocks count their own keys twice: in the sum of what lies before, and under the mask as well

    Fails: test_long
    """

    _from_the_left = """
        - F.pad(x.cumsum(dim=-3)[..., :-1, :, :], (0, 0, 0, 0, 1, 0)) for x in (products, keys)
        + (x.cumsum(dim=-3) if x.shape[-3] > 1 else 0 * x) for x in (products, keys)
    """


class rest_dropped:
    """your causal attention leaves out what fills no block: the last positions are lost

    Fails: test_long
    """

    _from_the_left = """
        - return ((q @ before + own @ v) / sums).flatten(-3, -2)[..., :T, :]
        + whole = T if T < BLOCK else T - T % BLOCK
        + return ((q @ before + own @ v) / sums).flatten(-3, -2)[..., :whole, :]
    """


class running_sum_detached:
    """your running sums are detached: under causal, too, gradients go back to every key that was seen

    Fails: test_gradients
    """

    _from_the_left = """
        - own = (q @ k.mT).tril()
        + own = (q @ k.detach().mT).tril()
    """
