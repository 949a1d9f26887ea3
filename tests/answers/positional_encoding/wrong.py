"""Positional encodings as other people get them wrong."""


class a_zero_too_many:
    """The base is 100000.

    Named: other_base
    """

    import math

    def sinusoidal_positions(max_len, d_model, *, device=None):
        if d_model % 2:
            raise ValueError("d_model must be even")
        pe = torch.zeros(max_len, d_model, device=device)
        position = torch.arange(0, max_len, device=device).unsqueeze(1)
        div_term = torch.exp(torch.arange(0, d_model, 2, device=device) * -(math.log(100000.0) / d_model))
        pe[:, 0::2], pe[:, 1::2] = torch.sin(position * div_term), torch.cos(position * div_term)
        return pe


class made_in_forward:
    """The table is made anew in each call.

    Named: table_in_plain_attribute
    """

    class SinusoidalPositionalEncoding:
        def __init__(self, d_model, max_len):
            super().__init__()
            self.d_model, self.max_len = d_model, max_len

        def forward(self, x):
            if x.size(1) > self.max_len:
                raise ValueError("too long")
            return x + sinusoidal_positions(x.size(1), self.d_model, device=x.device).to(x.dtype)


class new_numbers_each_time:
    """The table is drawn again in each call."""

    class LearnedPositionalEncoding:
        def __init__(self, d_model, max_len):
            super().__init__()
            self.table = nn.Parameter(torch.empty(max_len, d_model))

        def forward(self, x):
            nn.init.normal_(self.table, std=0.02)
            return _add(x, self.table)
