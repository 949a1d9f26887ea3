"""What happens wrongly to a sequence that is longer than the table.

max_len positions fit, one more is a ValueError; anyone who hides that has positions that mean something else.
"""

mistake(
    "limit-off-by-one",
    "your modules refuse a sequence of exactly max_len positions; they should refuse only longer ones",
    _add="if max_len < T: -> if max_len <= T:",
)


@mistake(
    "limit-not-checked",
    "your modules do not compare T with max_len; they should raise ValueError where T is greater",
)
def _add(x, table):
    T = x.size(1)
    return x + table[:T].to(x.dtype)


@mistake("limit-cuts-x", "your modules cut a sequence that is too long; raise a ValueError instead")
def _add(x, table):
    T = min(x.size(1), table.size(0))
    return x[:, :T] + table[:T].to(x.dtype)


@mistake("limit-wraps-round", "your positions start again at 0 past max_len; raise a ValueError instead")
def _add(x, table):
    T, max_len = x.size(1), table.size(0)
    return x + table[torch.arange(T, device=x.device) % max_len].to(x.dtype)


@mistake(
    "limit-assert",
    "your long sequence is caught by assert, so it raises AssertionError, and nothing under python -O; raise "
    "ValueError",
)
def _add(x, table):
    T, max_len = x.size(1), table.size(0)
    assert max_len >= T, "the sequence is too long"
    return x + table[:T].to(x.dtype)


@mistake(
    "limit-by-index-error",
    "your long sequence fails in an embedding, with an IndexError; compare T with max_len, and raise ValueError",
)
class LearnedPositionalEncoding:
    def __init__(self, d_model, max_len):
        super().__init__()
        self.table = nn.Embedding(max_len, d_model)

    def forward(self, x):
        return x + self.table(torch.arange(x.size(1), device=x.device)).to(x.dtype)


@mistake(
    "max-len-ignored",
    "your table has 5000 rows whatever max_len is, so a longer text is accepted; it should have max_len rows",
)
class SinusoidalPositionalEncoding:
    def __init__(self, d_model, max_len):
        super().__init__()
        self.register_buffer("table", sinusoidal_positions(5000, d_model))
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
