"""What happens wrongly to a sequence that is longer than the table.

max_len positions fit, one more is a ValueError; anyone who hides that has positions that mean something else.
"""


class limit_off_by_one:
    """your modules refuse a sequence of exactly max_len positions, which fits

    Fails: test_sinusoidal_too_long, test_learned_too_long
    """

    _add = """
        - if max_len < T:
        + if max_len <= T:
    """


class limit_not_checked:
    """your modules do not compare T with max_len: adding fails with a RuntimeError, or stretches a table of one row

    Fails: test_sinusoidal_too_long, test_learned_too_long
    """

    def _add(x, table):
        T = x.size(1)
        return x + table[:T].to(x.dtype)


class limit_cuts_x:
    """your modules cut a sequence that is too long: raise a ValueError instead

    Fails: test_sinusoidal_too_long, test_learned_too_long
    """

    def _add(x, table):
        T = min(x.size(1), table.size(0))
        return x[:, :T] + table[:T].to(x.dtype)


class limit_wraps_round:
    """your positions start again at 0 past max_len: raise a ValueError instead

    Fails: test_sinusoidal_too_long, test_learned_too_long
    """

    def _add(x, table):
        T, max_len = x.size(1), table.size(0)
        return x + table[torch.arange(T, device=x.device) % max_len].to(x.dtype)


class limit_assert:
    """your long sequence is caught by assert: it raises AssertionError, and nothing under python -O

    Fails: test_sinusoidal_too_long, test_learned_too_long
    """

    def _add(x, table):
        T, max_len = x.size(1), table.size(0)
        assert max_len >= T, "the sequence is too long"
        return x + table[:T].to(x.dtype)


class limit_by_index_error:
    """your long sequence fails in an embedding, with an IndexError: compare T with max_len, and raise ValueError

    Fails: test_learned_too_long
    """

    class LearnedPositionalEncoding:
        def __init__(self, d_model, max_len):
            super().__init__()
            self.table = nn.Embedding(max_len, d_model)

        def forward(self, x):
            return x + self.table(torch.arange(x.size(1), device=x.device)).to(x.dtype)


class max_len_ignored:
    """your table has 5000 rows whatever max_len is, and nothing is too long for it

    Fails: test_sinusoidal_too_long
    """

    class SinusoidalPositionalEncoding:
        def __init__(self, d_model, max_len):
            super().__init__()
            self.register_buffer("table", sinusoidal_positions(5000, d_model))
