"""How distances fall into wrong buckets.

Half of the buckets are for keys after the query; of each half the first half holds one distance each, and the rest
grows with the logarithm, up to max_distance.
"""


class distance_turned_round:
    """your distance is query - key: past and future have exchanged their buckets

    Fails: test_near_buckets, test_far_buckets, test_one_direction
    """

    relative_buckets = """
        - distance = _distances(query_len, key_len, offset)
        + distance = -_distances(query_len, key_len, offset)
    """


class directions_not_told_apart:
    """your past and future share their buckets: half of them is for keys after the query

    Fails: test_near_buckets, test_far_buckets
    """

    relative_buckets = """
        - first = (distance > 0) * num_buckets  # the second half is for keys after the query
    """


class buckets_not_halved:
    """your buckets are not shared out: num_buckets for each direction makes twice as many

    Fails: test_near_buckets, test_far_buckets
    """

    relative_buckets = """
        - num_buckets //= 2
    """


class bidirectional_always:
    """your buckets are shared out between two directions even when bidirectional is False

    Fails: test_one_direction
    """

    relative_buckets = """
        - if bidirectional:
        + if True:
    """


class future_as_past:
    """your one-directional buckets take the absolute distance: a key after its query counts as distance 0

    Fails: test_one_direction
    """

    relative_buckets = """
        - distance = (-distance).clamp(min=0)  # keys after the query are as near as can be
        + distance = distance.abs()
    """


class one_distance_each:
    """your buckets hold one distance each up to the last: from half of them on they grow with the logarithm

    Fails: test_far_buckets, test_default_buckets, test_one_direction
    """

    relative_buckets = """
        - return first + torch.where(distance < exact, distance, coarse.clamp(max=num_buckets - 1))
        + return first + distance.clamp(max=num_buckets - 1)
    """


class linear_steps:
    """your far buckets are all of one width: they grow in equal steps of the logarithm

    Fails: test_far_buckets, test_default_buckets, test_one_direction
    """

    relative_buckets = """
        - share = (distance.clamp(min=1) / exact).log() / math.log(max_distance / exact)  # 0 at exact, 1 at the end
        + share = (distance - exact) / (max_distance - exact)
    """


class sixteen_by_default:
    """your relative_buckets has 16 buckets when nothing is said: the default is 32

    Fails: test_default_buckets
    """

    def relative_buckets(
        query_len, key_len, *, num_buckets=16, max_distance=128, bidirectional=True, offset=0
    ):
        distance = _distances(query_len, key_len, offset)
        first = torch.zeros_like(distance)
        if bidirectional:
            num_buckets //= 2
            first = (distance > 0) * num_buckets
            distance = distance.abs()
        else:
            distance = (-distance).clamp(min=0)
        exact = num_buckets // 2
        share = (distance.clamp(min=1) / exact).log() / math.log(max_distance / exact)
        coarse = exact + (share * (num_buckets - exact)).long()
        return first + torch.where(distance < exact, distance, coarse.clamp(max=num_buckets - 1))


class last_bucket_open:
    """your numbers go on past the last bucket: everything from max_distance on falls into it

    Fails: test_far_buckets, test_default_buckets, test_one_direction
    """

    relative_buckets = """
        - return first + torch.where(distance < exact, distance, coarse.clamp(max=num_buckets - 1))
        + return first + torch.where(distance < exact, distance, coarse)
    """


class max_distance_ignored:
    """your last bucket begins near 128 whatever max_distance is

    Fails: test_far_buckets, test_one_direction
    """

    relative_buckets = """
        - share = (distance.clamp(min=1) / exact).log() / math.log(max_distance / exact)  # 0 at exact, 1 at the end
        + share = (distance.clamp(min=1) / exact).log() / math.log(128 / exact)
    """


class buckets_int32:
    """your buckets are int32: int64 is asked for

    Fails: test_bucket_shape
    Costs: numbers of another dtype are compared with nothing, in every check of buckets
    """

    relative_buckets = """
        - return first + torch.where(distance < exact, distance, coarse.clamp(max=num_buckets - 1))
        + return (first + torch.where(distance < exact, distance, coarse.clamp(max=num_buckets - 1))).int()
    """


class bucket_offset_ignored:
    """your relative_buckets ignores offset: the first query is always at 0

    Fails: test_bucket_offset
    """

    relative_buckets = """
        - distance = _distances(query_len, key_len, offset)
        + distance = _distances(query_len, key_len, 0)
    """


class offset_moves_keys:
    """your offset moves the keys: it is the position of the first query

    Fails: test_bucket_offset, test_alibi_offset, test_pieces
    """

    _distances = """
        - queries = torch.arange(query_len, device=device) + offset
        - return torch.arange(key_len, device=device) - queries[:, None]
        + queries = torch.arange(query_len, device=device)
        + return torch.arange(key_len, device=device) + offset - queries[:, None]
    """


class rows_for_keys:
    """your table is [Tk, Tq]: a row for each query, a column for each key

    Fails: test_bucket_shape
    """

    relative_buckets = """
        - return first + torch.where(distance < exact, distance, coarse.clamp(max=num_buckets - 1))
        + return (first + torch.where(distance < exact, distance, coarse.clamp(max=num_buckets - 1))).T
    """


class share_rounded_up:
    """your far buckets begin one early: the share of the way is rounded down

    Fails: test_far_buckets, test_one_direction
    """

    relative_buckets = """
        - coarse = exact + (share * (num_buckets - exact)).long()
        + coarse = exact + (share * (num_buckets - exact)).ceil().long()
    """


class share_rounded_to_nearest:
    """your far buckets begin half a bucket early: the share of the way is rounded down, not to the nearest

    Fails: test_far_buckets, test_one_direction
    """

    relative_buckets = """
        - coarse = exact + (share * (num_buckets - exact)).long()
        + coarse = exact + (share * (num_buckets - exact)).round().long()
    """


class itself_after_itself:
    """your distance 0 falls into the second half: a key at its query's own place is not after it

    Fails: test_near_buckets
    """

    relative_buckets = """
        - first = (distance > 0) * num_buckets  # the second half is for keys after the query
        + first = (distance >= 0) * num_buckets
    """


class past_in_the_second_half:
    """your second half is for keys before the query: it is for those after it

    Fails: test_near_buckets, test_far_buckets
    """

    relative_buckets = """
        - first = (distance > 0) * num_buckets  # the second half is for keys after the query
        + first = (distance < 0) * num_buckets
    """
