"""Masks as other people write them."""


class tril_of_ones:
    """The causal mask is the lower triangle of a matrix of ones, compared with 1, as small GPTs have it."""

    def causal_mask(seq_len, *, device=None):
        return torch.tril(torch.ones(seq_len, seq_len, device=device)) == 1


class not_triu:
    """The causal mask is what is not above the diagonal, and masks are combined by a reduction."""

    def causal_mask(seq_len, *, device=None):
        ones = torch.ones((seq_len, seq_len), dtype=torch.bool, device=device)
        return ~ones.triu(diagonal=1)

    def combine_masks(*masks):
        from functools import reduce

        return reduce(torch.logical_and, masks)
