"""How biases are looked up or computed wrongly.

T5 learns one number for each bucket and head; ALiBi takes from each score its head's slope times the distance.
"""


class heads_last:
    """your bias is [1, Tq, Tk, H]: scores have their heads before queries and keys

    Fails: test_bias_values
    """

    class RelativePositionBias:
        forward = """
            - return bias.permute(2, 0, 1)[None]
            + return bias[None]
        """


class no_batch_axis:
    """your bias is [H, Tq, Tk]: an axis of 1 comes first, for the batch

    Fails: test_bias_values
    """

    class RelativePositionBias:
        forward = """
            - return bias.permute(2, 0, 1)[None]
            + return bias.permute(2, 0, 1)
        """


class one_table_for_all_heads:
    """your embedding has one number a bucket: each head learns its own, nn.Embedding(num_buckets, num_heads)

    Fails: test_bias_parameter
    """

    class RelativePositionBias:
        __init__ = """
            - self.embedding = nn.Embedding(num_buckets, num_heads)
            + self.embedding = nn.Embedding(num_buckets, 1)
            + self.num_heads = num_heads
        """

        forward = """
            - return bias.permute(2, 0, 1)[None]
            + return bias.permute(2, 0, 1)[None].expand(-1, self.num_heads, -1, -1)
        """


class direction_not_handed_on:
    """your module does not hand bidirectional on to the buckets

    Fails: test_bias_options
    """

    class RelativePositionBias:
        forward = """
            - bidirectional=self.bidirectional,
        """


class offset_not_handed_on:
    """your module does not hand offset on to the buckets

    Fails: test_bias_options
    """

    class RelativePositionBias:
        forward = """
            - offset=offset,
        """


class bias_cut_off:
    """your bias is cut from the graph: the table never learns

    Fails: test_bias_gradient
    """

    class RelativePositionBias:
        forward = """
            - return bias.permute(2, 0, 1)[None]
            + return bias.permute(2, 0, 1)[None].detach()
        """


class bias_in_float32:
    """your bias is float32 whatever the table is: it has the dtype of the embedding

    Fails: test_relative_promises
    """

    class RelativePositionBias:
        forward = """
            - return bias.permute(2, 0, 1)[None]
            + return bias.permute(2, 0, 1)[None].float()
        """


class slopes_from_one:
    """your slopes begin with 1: h runs from 1 to H, so the first is 2^(-8 / H)

    Fails: test_slopes
    """

    alibi_slopes = """
        - return 2.0 ** (-8 * torch.arange(1, num_heads + 1) / num_heads)
        + return 2.0 ** (-8 * torch.arange(num_heads) / num_heads)
    """


class slopes_halved:
    """your slopes are halved from head to head whatever H is: the exponent is -8h / H

    Fails: test_slopes
    """

    alibi_slopes = """
        - return 2.0 ** (-8 * torch.arange(1, num_heads + 1) / num_heads)
        + return 0.5 ** torch.arange(1.0, num_heads + 1)
    """


class any_number_of_heads:
    """your slopes are made for any number of heads: one that is not a power of two is a ValueError

    Fails: test_slopes_error
    """

    alibi_slopes = """
        - if num_heads < 1 or num_heads & (num_heads - 1):
        -     raise ValueError(f"num_heads ({num_heads}) must be a power of two")
    """


class penalty_positive:
    """your ALiBi rewards distance: the slope is taken with a minus

    Fails: test_alibi
    """

    alibi_bias = """
        - return -slopes * _distances(query_len, key_len, offset).abs()
        + return slopes * _distances(query_len, key_len, offset).abs()
    """


class signed_distance:
    """your ALiBi takes key - query with its sign: one direction is rewarded

    Fails: test_alibi
    """

    alibi_bias = """
        - return -slopes * _distances(query_len, key_len, offset).abs()
        + return slopes * _distances(query_len, key_len, offset)
    """


class alibi_offset_ignored:
    """your ALiBi ignores offset: the first query is always at 0

    Fails: test_alibi_offset, test_pieces
    """

    alibi_bias = """
        - return -slopes * _distances(query_len, key_len, offset).abs()
        + return -slopes * _distances(query_len, key_len, 0).abs()
    """


class axes_by_view:
    """your axes are renamed by a view or reshape: permute moves the numbers, a view leaves them where they were

    Fails: test_bias_values
    """

    class RelativePositionBias:
        forward = """
            - return bias.permute(2, 0, 1)[None]
            + return bias.reshape(1, -1, query_len, key_len)
        """


class max_distance_not_handed_on:
    """your module does not hand max_distance on to the buckets

    Fails: test_bias_values
    """

    class RelativePositionBias:
        forward = """
            - max_distance=self.max_distance,
        """


class table_without_embedding:
    """your table is a bare nn.Parameter: an nn.Embedding called embedding is asked for

    Fails: test_bias_parameter
    """

    class RelativePositionBias:
        __init__ = """
            - self.embedding = nn.Embedding(num_buckets, num_heads)
            + self.table = nn.Parameter(torch.randn(num_buckets, num_heads))
        """

        forward = """
            - num_buckets=self.embedding.num_embeddings,
            + num_buckets=len(self.table),

            - bias = self.embedding(buckets.to(self.embedding.weight.device))  # [Tq, Tk, H]
            + bias = self.table[buckets.to(self.table.device)]
        """


class slopes_in_between:
    """your slopes for a number that is not a power of two are put together from two series: here it is a ValueError

    Fails: test_slopes_error
    """

    alibi_slopes = """
        - if num_heads < 1 or num_heads & (num_heads - 1):
        -     raise ValueError(f"num_heads ({num_heads}) must be a power of two")
        + if num_heads & (num_heads - 1):
        +     below = 2 ** (num_heads.bit_length() - 1)
        +     return torch.cat((alibi_slopes(below), alibi_slopes(2 * below)[0::2][: num_heads - below]))
    """


class one_row_for_all_queries:
    """your ALiBi has one row for all queries, as if each were the last: what stands for distance is |query - key|

    Fails: test_alibi
    """

    alibi_bias = """
        - return -slopes * _distances(query_len, key_len, offset).abs()
        + row = torch.arange(key_len) - (key_len - 1)
        + return (slopes * row).expand(num_heads, query_len, key_len)
    """
