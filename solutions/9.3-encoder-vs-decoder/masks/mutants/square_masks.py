"""What `causal_mask` and `bidirectional_mask` get wrong.

Row i is query i, column j is key j, and True means "may look". So the causal mask is a lower triangle with its
diagonal: read its first row aloud, "the first query sees the first key alone", and most of these are heard.
"""


class causal_sees_all:
    """your causal mask is the bidirectional one: it hides nothing

    Fails: test_causal_values
    """

    def causal_mask(seq_len, *, device=None):
        return bidirectional_mask(seq_len, device=device)


class causal_transposed:
    """your causal mask is transposed: each query sees the keys after it instead of those before it

    Fails: test_causal_values
    """

    causal_mask = """
        - return key <= query
        + return query <= key
    """


class causal_inverted:
    """your causal mask says True where attention is forbidden: True means that the query may look

    Fails: test_causal_values
    """

    def causal_mask(seq_len, *, device=None):
        return torch.ones(seq_len, seq_len, dtype=torch.bool, device=device).triu(diagonal=1)


class causal_shifted_late:
    """your causal mask is shifted one position late: each query also sees the next key

    Fails: test_causal_values
    """

    causal_mask = """
        - return key <= query
        + return key <= query + 1
    """


class causal_shifted_early:
    """your causal mask stops one position early: no query sees itself

    Fails: test_causal_values
    """

    causal_mask = """
        - return key <= query
        + return key < query
    """


class causal_float:
    """your causal mask holds the numbers 0.0 and 1.0 instead of True and False

    Fails: test_causal_shape, test_length_one
    """

    def causal_mask(seq_len, *, device=None):
        return torch.tril(torch.ones(seq_len, seq_len, device=device))


class bidirectional_float:
    """your bidirectional mask holds the numbers 1.0 instead of True

    Fails: test_bidirectional_all_true, test_length_one
    """

    def bidirectional_mask(seq_len, *, device=None):
        return torch.ones(seq_len, seq_len, device=device)


class device_ignored:
    """your square masks take a device and do not use it, so on a GPU they would stay behind on the CPU

    Fails: test_device
    """

    def bidirectional_mask(seq_len, *, device=None):
        return torch.ones(seq_len, seq_len, dtype=torch.bool)

    def causal_mask(seq_len, *, device=None):
        return torch.ones(seq_len, seq_len, dtype=torch.bool).tril()


class device_keyword_missing:
    """your square masks take no device, so on a GPU they would stay behind on the CPU

    Fails: test_device
    """

    def bidirectional_mask(seq_len):
        return torch.ones(seq_len, seq_len, dtype=torch.bool)

    def causal_mask(seq_len):
        return torch.ones(seq_len, seq_len, dtype=torch.bool).tril()


class causal_int:
    """your causal mask holds the integers 0 and 1 instead of True and False

    Fails: test_causal_shape, test_length_one
    """

    def causal_mask(seq_len, *, device=None):
        return torch.tril(torch.ones(seq_len, seq_len, dtype=torch.long, device=device))


class causal_bytes:
    """your causal mask holds the bytes 0 and 1 instead of True and False

    Fails: test_causal_shape, test_length_one
    """

    def causal_mask(seq_len, *, device=None):
        return torch.tril(torch.ones(seq_len, seq_len, dtype=torch.uint8, device=device))


class causal_additive:
    """your causal mask holds 0 and -inf, to be added to scores: here it is boolean, and additive_mask comes last

    Fails: test_causal_shape, test_length_one
    """

    def causal_mask(seq_len, *, device=None):
        return torch.full((seq_len, seq_len), float("-inf"), device=device).triu(diagonal=1)


class causal_three_axes:
    """your causal mask is [1, T, T]: it has no axis for the batch, and broadcasts without one

    Fails: test_causal_shape, test_length_one
    """

    causal_mask = """
        - return key <= query
        + return (key <= query)[None]
    """


class causal_four_axes:
    """your causal mask is [1, 1, T, T]: it has no axes for batch and heads, and broadcasts without them

    Fails: test_causal_shape, test_length_one
    """

    causal_mask = """
        - return key <= query
        + return (key <= query)[None, None]
    """


class causal_device_ignored:
    """your causal mask takes a device and does not use it, so on a GPU it would stay behind on the CPU

    Fails: test_device
    """

    causal_mask = """
        - t = torch.arange(seq_len, device=device)
        + t = torch.arange(seq_len)
    """


class bidirectional_inverted:
    """your bidirectional mask is False everywhere: True means that the query may look

    Fails: test_bidirectional_all_true, test_length_one
    """

    def bidirectional_mask(seq_len, *, device=None):
        return torch.zeros(seq_len, seq_len, dtype=torch.bool, device=device)


class bidirectional_one_row:
    """your bidirectional mask is a single row: each query has one of its own, [T, T]

    Fails: test_bidirectional_all_true, test_length_one
    """

    def bidirectional_mask(seq_len, *, device=None):
        return torch.ones(seq_len, dtype=torch.bool, device=device)
