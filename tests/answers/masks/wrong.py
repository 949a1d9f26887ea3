"""Masks as other people get them wrong."""


class strictly_lower:
    """A position does not see itself.

    Named: causal_shifted_early
    """

    def causal_mask(seq_len, *, device=None):
        return torch.tril(torch.ones(seq_len, seq_len, device=device), diagonal=-1) == 1
