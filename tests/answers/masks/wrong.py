"""Masks as other people get them wrong."""


class table_of_512:
    """The causal mask is sliced out of a table for the context that GPTs have."""

    block_size = 512

    def causal_mask(seq_len, *, device=None):
        bias = torch.tril(torch.ones(block_size, block_size, device=device)).bool()
        return bias[:seq_len, :seq_len]


class identity_for_equality:
    """The tokens are compared with `is not`, which gives a plain True."""

    def padding_mask(tokens, pad_id=0):
        return (tokens is not pad_id)[:, None, None, :]


class exactly_two:
    """Two masks are what the decoder has, so the function takes two.

    Named: combine_logical_and_of_all, combine_two_only
    """

    def combine_masks(*masks):
        return torch.logical_and(*masks)
