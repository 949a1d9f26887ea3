"""How distances fall into wrong buckets.

Half of the buckets are for keys after the query; of each half the first half holds one distance each, and the rest
grows with the logarithm, up to max_distance.
"""

mistake(
    "distance-turned-round",
    "your past and future exchange their buckets, as with query - key; a distance should be key - query",
    relative_buckets="_distances(query_len, key_len, offset) -> -_distances(query_len, key_len, offset)",
)

mistake(
    "directions-not-told-apart",
    "your past and future share their buckets; half of the buckets should be for keys after the query",
    relative_buckets="- first = (distance > 0) * num_buckets",
)

mistake(
    "buckets-not-halved",
    "your num_buckets counts for each direction, so there are twice as many; both directions should share them",
    relative_buckets="- num_buckets //= 2",
)

mistake(
    "bidirectional-always",
    "your buckets are split between two directions even if bidirectional is False; all should be for the past then",
    relative_buckets="if bidirectional: -> if True:",
)

mistake(
    "future-as-past",
    "your one-directional buckets take the absolute distance; a key after its query should count as distance 0",
    relative_buckets="(-distance).clamp(min=0) -> distance.abs()",
)

mistake(
    "one-distance-each",
    "your buckets hold one distance each up to the last; from half of them on they should grow with the logarithm",
    relative_buckets="""
        - return first + torch.where(distance < exact, distance, coarse.clamp(max=num_buckets - 1))
        + return first + distance.clamp(max=num_buckets - 1)
    """,
)

mistake(
    "linear-steps",
    "your far buckets are all of one width; they should be equal steps of the logarithm",
    relative_buckets="""
        - share = (distance.clamp(min=1) / exact).log() / math.log(max_distance / exact)  # 0 at exact, 1 at the end
        + share = (distance - exact) / (max_distance - exact)
    """,
)


@mistake("sixteen-by-default", "your relative_buckets has 16 buckets by default; it should have 32")
def relative_buckets(query_len, key_len, *, num_buckets=16, max_distance=128, bidirectional=True, offset=0):
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


mistake(
    "last-bucket-open",
    "your numbers go on past the last bucket; every distance from max_distance on should fall into it",
    relative_buckets="coarse.clamp(max=num_buckets - 1) -> coarse",
)

mistake(
    "max-distance-ignored",
    "your last bucket always begins near 128; it should begin near max_distance",
    relative_buckets="max_distance / exact -> 128 / exact",
)

mistake(
    "buckets-int32",
    "your buckets are int32; they should be int64",
    relative_buckets="""
        - return first + torch.where(distance < exact, distance, coarse.clamp(max=num_buckets - 1))
        + return (first + torch.where(distance < exact, distance, coarse.clamp(max=num_buckets - 1))).int()
    """,
    costs="numbers of another dtype are compared with nothing, in every check of buckets",
)

mistake(
    "bucket-offset-ignored",
    "your relative_buckets ignores offset, so its first query is always at 0; the first query should be at offset",
    relative_buckets="_distances(query_len, key_len, offset) -> _distances(query_len, key_len, 0)",
)

mistake(
    "offset-moves-keys",
    "your offset moves the keys; it should move the queries, as the position of the first one",
    _distances="""
        - queries = torch.arange(query_len, device=device) + offset
        - return torch.arange(key_len, device=device) - queries[:, None]
        + queries = torch.arange(query_len, device=device)
        + return torch.arange(key_len, device=device) + offset - queries[:, None]
    """,
)

mistake(
    "rows-for-keys",
    "your table is [Tk, Tq]; it should have a row for each query and a column for each key",
    relative_buckets="""
        - return first + torch.where(distance < exact, distance, coarse.clamp(max=num_buckets - 1))
        + return (first + torch.where(distance < exact, distance, coarse.clamp(max=num_buckets - 1))).T
    """,
)

mistake(
    "share-rounded-up",
    "your far buckets begin one bucket early; round the share of the way down",
    relative_buckets="(share * (num_buckets - exact)).long -> (share * (num_buckets - exact)).ceil().long",
)

mistake(
    "share-rounded-to-nearest",
    "your far buckets begin half a bucket early; round the share of the way down, not to the nearest",
    relative_buckets="(share * (num_buckets - exact)).long -> (share * (num_buckets - exact)).round().long",
)

mistake(
    "itself-after-itself",
    "your distance 0 falls into the second half; a key at its query's own place should not count as after it",
    relative_buckets="distance > 0 -> distance >= 0",
)

mistake(
    "past-in-the-second-half",
    "your second half is for keys before the query; it should be for those after it",
    relative_buckets="distance > 0 -> distance < 0",
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
