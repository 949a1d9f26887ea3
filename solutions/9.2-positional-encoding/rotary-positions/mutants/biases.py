"""How biases are looked up or computed wrongly.

T5 learns one number for each bucket and head; ALiBi takes from each score its head's slope times the distance.
"""

mistake(
    "heads-last",
    "your bias is [1, Tq, Tk, H]; its heads should come before queries and keys, as in the scores",
    RelativePositionBias="bias.permute(2, 0, 1) -> bias",
)

mistake(
    "no-batch-axis",
    "your bias is [H, Tq, Tk]; it should begin with an axis of 1 for the batch",
    RelativePositionBias="bias.permute(2, 0, 1)[None] -> bias.permute(2, 0, 1)",
)

mistake(
    "one-table-for-all-heads",
    "your embedding has one number per bucket; each head should learn its own, nn.Embedding(num_buckets, num_heads)",
    RelativePositionBias="""
        - self.embedding = nn.Embedding(num_buckets, num_heads)
        + self.embedding = nn.Embedding(num_buckets, 1)
        + self.num_heads = num_heads

        - return bias.permute(2, 0, 1)[None]
        + return bias.permute(2, 0, 1)[None].expand(-1, self.num_heads, -1, -1)
    """,
)

mistake(
    "direction-not-handed-on",
    "your module does not pass bidirectional on, so the buckets use the default; it should pass its own value on",
    RelativePositionBias="- bidirectional=self.bidirectional,",
)

mistake(
    "offset-not-handed-on",
    "your module does not pass offset on, so its buckets begin at query 0; it should pass offset on to them",
    RelativePositionBias="- offset=offset,",
)

mistake(
    "bias-cut-off",
    "your bias is cut from the graph, so the table never learns; gradients should reach the embedding",
    RelativePositionBias="bias.permute(2, 0, 1)[None] -> bias.permute(2, 0, 1)[None].detach()",
)

mistake(
    "bias-in-float32",
    "your bias is float32 whatever the table is; it should have the dtype of the embedding",
    RelativePositionBias="bias.permute(2, 0, 1)[None] -> bias.permute(2, 0, 1)[None].float()",
)

mistake(
    "slopes-from-one",
    "your slopes begin with 1; h should run from 1 to H, so that the first is 2^(-8 / H)",
    alibi_slopes="1, num_heads + 1 -> num_heads",
)

mistake(
    "slopes-halved",
    "your slopes are halved from head to head whatever H is; the exponent should be -8h / H",
    alibi_slopes="""
        - return 2.0 ** (-8 * torch.arange(1, num_heads + 1) / num_heads)
        + return 0.5 ** torch.arange(1.0, num_heads + 1)
    """,
)

mistake(
    "any-number-of-heads",
    "your slopes are made for any number of heads; raise ValueError unless it is a power of two",
    alibi_slopes="""
        - if num_heads < 1 or num_heads & (num_heads - 1):
        -     raise ValueError(f"num_heads ({num_heads}) must be a power of two")
    """,
)

mistake(
    "penalty-positive",
    "your ALiBi rewards distance; take the slope with a minus",
    alibi_bias="-slopes -> slopes",
)

mistake(
    "signed-distance",
    "your ALiBi uses key - query with its sign, so one direction is rewarded; it should use the absolute distance",
    alibi_bias="""
        - return -slopes * _distances(query_len, key_len, offset).abs()
        + return slopes * _distances(query_len, key_len, offset)
    """,
)

mistake(
    "alibi-offset-ignored",
    "your ALiBi ignores offset, so its first query is always at 0; the first query should be at offset",
    alibi_bias="_distances(query_len, key_len, offset) -> _distances(query_len, key_len, 0)",
)

mistake(
    "axes-by-view",
    "your axes are only renamed by a view or reshape, which leaves the numbers where they were; move them with "
    "permute",
    RelativePositionBias="bias.permute(2, 0, 1)[None] -> bias.reshape(1, -1, query_len, key_len)",
)

mistake(
    "max-distance-not-handed-on",
    "your module does not pass max_distance on, so the buckets use the default; it should pass its own value on",
    RelativePositionBias="- max_distance=self.max_distance,",
)

mistake(
    "table-without-embedding",
    "your table is a bare nn.Parameter; it should be an nn.Embedding called embedding",
    RelativePositionBias="""
        - self.embedding = nn.Embedding(num_buckets, num_heads)
        + self.table = nn.Parameter(torch.randn(num_buckets, num_heads))

        - num_buckets=self.embedding.num_embeddings,
        + num_buckets=len(self.table),

        - bias = self.embedding(buckets.to(self.embedding.weight.device))  # [Tq, Tk, H]
        + bias = self.table[buckets.to(self.table.device)]
    """,
)

mistake(
    "slopes-in-between",
    "your slopes for a number that is not a power of two are put together from two series; raise ValueError here",
    alibi_slopes="""
        - if num_heads < 1 or num_heads & (num_heads - 1):
        -     raise ValueError(f"num_heads ({num_heads}) must be a power of two")
        + if num_heads & (num_heads - 1):
        +     below = 2 ** (num_heads.bit_length() - 1)
        +     return torch.cat((alibi_slopes(below), alibi_slopes(2 * below)[0::2][: num_heads - below]))
    """,
)

mistake(
    "one-row-for-all-queries",
    "your ALiBi has one row for all queries, as if each were the last; it should use |query - key| for each pair",
    alibi_bias="""
        - return -slopes * _distances(query_len, key_len, offset).abs()
        + row = torch.arange(key_len) - (key_len - 1)
        + return (slopes * row).expand(num_heads, query_len, key_len)
    """,
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
