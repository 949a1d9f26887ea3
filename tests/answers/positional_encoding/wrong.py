"""Positional encodings as other people get them wrong."""


class halves_of_translation_models:
    """The sines come first and the cosines after them, as in the first translation models.

    Named: halves_not_interleaved
    """

    import math

    def sinusoidal_positions(max_len, d_model, *, device=None):
        if d_model % 2:
            raise ValueError("d_model must be even")
        step = math.log(10000.0) / (d_model // 2)
        timescales = torch.exp(torch.arange(d_model // 2, device=device) * -step)
        scaled_time = torch.arange(max_len, device=device).unsqueeze(1) * timescales.unsqueeze(0)
        return torch.cat([torch.sin(scaled_time), torch.cos(scaled_time)], dim=1)


class half_less_one:
    """The step between logarithms is divided by one pair less.

    Named: slowest_at_the_end
    """

    import math

    def sinusoidal_positions(max_len, d_model, *, device=None):
        if d_model % 2:
            raise ValueError("d_model must be even")
        half_dim = d_model // 2
        emb = math.log(10000) / max(half_dim - 1, 1)
        emb = torch.exp(torch.arange(half_dim, dtype=torch.float, device=device) * -emb)
        emb = torch.arange(max_len, dtype=torch.float, device=device).unsqueeze(1) * emb.unsqueeze(0)
        return torch.stack([torch.sin(emb), torch.cos(emb)], dim=2).view(max_len, -1)


class pairs_counted_as_columns:
    """i counts pairs, and the 2 before it is forgotten.

    Named: exponent_without_two
    """

    def sinusoidal_positions(max_len, d_model, *, device=None):
        if d_model % 2:
            raise ValueError("d_model must be even")
        table = torch.zeros(max_len, d_model, device=device)
        pos = torch.arange(max_len, device=device)
        for i in range(d_model // 2):
            table[:, 2 * i] = torch.sin(pos / 10000 ** (i / d_model))
            table[:, 2 * i + 1] = torch.cos(pos / 10000 ** (i / d_model))
        return table


class two_times_an_even_column:
    """i goes by twos, and is multiplied by 2 as the formula has it.

    Named: exponent_doubled
    """

    def sinusoidal_positions(max_len, d_model, *, device=None):
        if d_model % 2:
            raise ValueError("d_model must be even")
        pe = torch.zeros(max_len, d_model, device=device)
        position = torch.arange(max_len, device=device).float().unsqueeze(1)
        _2i = torch.arange(0, d_model, step=2, device=device).float()
        pe[:, 0::2] = torch.sin(position / 10000 ** (2 * _2i / d_model))
        pe[:, 1::2] = torch.cos(position / 10000 ** (2 * _2i / d_model))
        return pe


class loop_of_a_hundred_blogs:
    """i goes by twos and is doubled, and the cosine has i + 1.

    Named: exponent_doubled, cosine_frequency_of_its_own, exponent_doubled_and_cosine_of_its_own
    """

    import math

    def sinusoidal_positions(max_len, d_model, *, device=None):
        if d_model % 2:
            raise ValueError("d_model must be even")
        pe = torch.zeros(max_len, d_model, device=device)
        for pos in range(max_len):
            for i in range(0, d_model, 2):
                pe[pos, i] = math.sin(pos / (10000 ** ((2 * i) / d_model)))
                pe[pos, i + 1] = math.cos(pos / (10000 ** ((2 * (i + 1)) / d_model)))
        return pe


class every_column_its_frequency:
    """The exponent is j / d_model in column j.

    Named: cosine_frequency_of_its_own
    """

    def sinusoidal_positions(max_len, d_model, *, device=None):
        if d_model % 2:
            raise ValueError("d_model must be even")
        column = torch.arange(d_model, device=device)
        angle = torch.arange(max_len, device=device)[:, None] / 10000 ** (column / d_model)
        return torch.where(column % 2 == 0, angle.sin(), angle.cos())


class logarithm_left_out:
    """exp of the exponent, without the logarithm of 10000.

    Named: base_e
    """

    def sinusoidal_positions(max_len, d_model, *, device=None):
        if d_model % 2:
            raise ValueError("d_model must be even")
        pe = torch.zeros(max_len, d_model, device=device)
        position = torch.arange(0, max_len, device=device).unsqueeze(1)
        div_term = torch.exp(-torch.arange(0, d_model, 2, device=device) / d_model)
        pe[:, 0::2] = torch.sin(position * div_term)
        pe[:, 1::2] = torch.cos(position * div_term)
        return pe


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


class base_of_long_llamas:
    """The base is that of rotary positions for long texts.

    Named: other_base
    """

    def sinusoidal_positions(max_len, d_model, *, device=None, theta=500000.0):
        if d_model % 2:
            raise ValueError("d_model must be even")
        freqs = 1.0 / (theta ** (torch.arange(0, d_model, 2, device=device).float() / d_model))
        angle = torch.outer(torch.arange(max_len, device=device).float(), freqs)
        return torch.stack((angle.sin(), angle.cos()), -1).flatten(1)


class cosine_first:
    """Cosines stand in even columns.

    Named: sines_and_cosines_swapped
    """

    def sinusoidal_positions(max_len, d_model, *, device=None):
        if d_model % 2:
            raise ValueError("d_model must be even")
        freqs = 10000.0 ** (torch.arange(0, d_model, 2, device=device) / -d_model)
        angles = torch.outer(torch.arange(max_len, device=device).float(), freqs)
        return torch.view_as_real(torch.polar(torch.ones_like(angles), angles)).flatten(1)


class sine_twice:
    """The second line is a copy of the first, but for its columns.

    Named: sines_everywhere
    """

    def sinusoidal_positions(max_len, d_model, *, device=None):
        if d_model % 2:
            raise ValueError("d_model must be even")
        pe = torch.zeros(max_len, d_model, device=device)
        angle = torch.arange(max_len, device=device)[:, None] / 10000 ** (
            torch.arange(0, d_model, 2, device=device) / d_model
        )
        pe[:, 0::2] = torch.sin(angle)
        pe[:, 1::2] = torch.sin(angle)
        return pe


class counted_from_one:
    """Positions are counted from 1, as sentences are for people.

    Named: positions_from_one
    """

    import math

    def sinusoidal_positions(max_len, d_model, *, device=None):
        if d_model % 2:
            raise ValueError("d_model must be even")
        pe = torch.zeros(max_len, d_model, device=device)
        position = torch.arange(1, max_len + 1, device=device).unsqueeze(1)
        div_term = torch.exp(torch.arange(0, d_model, 2, device=device) * -(math.log(10000.0) / d_model))
        pe[:, 0::2] = torch.sin(position * div_term)
        pe[:, 1::2] = torch.cos(position * div_term)
        return pe


class whole_quotient:
    """The exponent is a whole quotient.

    Named: exponent_floored
    """

    def sinusoidal_positions(max_len, d_model, *, device=None):
        if d_model % 2:
            raise ValueError("d_model must be even")
        table = torch.zeros(max_len, d_model, device=device)
        for i in range(d_model // 2):
            angle = torch.arange(max_len, device=device) / 10000 ** (2 * i // d_model)
            table[:, 2 * i], table[:, 2 * i + 1] = angle.sin(), angle.cos()
        return table


class minus_forgotten:
    """The logarithm has lost its sign.

    Named: exponent_negative
    """

    import math

    def sinusoidal_positions(max_len, d_model, *, device=None):
        if d_model % 2:
            raise ValueError("d_model must be even")
        pe = torch.zeros(max_len, d_model, device=device)
        position = torch.arange(0, max_len, dtype=torch.float, device=device).unsqueeze(1)
        div_term = torch.exp(torch.arange(0, d_model, 2, device=device) * (math.log(10000.0) / d_model))
        pe[:, 0::2] = torch.sin(position * div_term)
        pe[:, 1::2] = torch.cos(position * div_term)
        return pe


class length_in_the_exponent:
    """The exponent is divided by the number of positions.

    Named: exponent_by_length
    """

    def sinusoidal_positions(max_len, d_model, *, device=None):
        if d_model % 2:
            raise ValueError("d_model must be even")
        exponent = torch.arange(0, d_model, 2, device=device) / max_len
        angle = torch.arange(max_len, device=device).view(-1, 1) / torch.pow(10000.0, exponent)
        return torch.stack((torch.sin(angle), torch.cos(angle)), dim=-1).reshape(max_len, d_model)


class tutorial_with_an_odd_width:
    """Nobody looks at the width: an odd one fails where cosines are assigned.

    Named: odd_width_not_checked
    """

    import math

    def sinusoidal_positions(max_len, d_model, *, device=None):
        pe = torch.zeros(max_len, d_model, device=device)
        position = torch.arange(0, max_len, device=device).unsqueeze(1)
        div_term = torch.exp(torch.arange(0, d_model, 2, device=device) * -(math.log(10000.0) / d_model))
        pe[:, 0::2] = torch.sin(position * div_term)
        pe[:, 1::2] = torch.cos(position * div_term)
        return pe


class cosines_cut:
    """An odd width loses its last cosine, as a book's code does it.

    Named: odd_width_accepted
    """

    def sinusoidal_positions(max_len, d_model, *, device=None):
        X = torch.arange(max_len, device=device).reshape(-1, 1) / torch.pow(
            10000, torch.arange(0, d_model, 2, device=device) / d_model
        )
        P = torch.zeros((max_len, d_model), device=device)
        P[:, 0::2] = torch.sin(X)
        P[:, 1::2] = torch.cos(X)[:, : d_model // 2]
        return P


class width_asserted:
    """The width is asserted to be even.

    Named: odd_width_assert
    """

    def sinusoidal_positions(max_len, d_model, *, device=None):
        assert d_model % 2 == 0
        inv_freq = 10000.0 ** -(torch.arange(0, d_model, 2, device=device) / d_model)
        angle = torch.einsum("i,j->ij", torch.arange(max_len, device=device).float(), inv_freq)
        return torch.stack((angle.sin(), angle.cos()), dim=2).flatten(1)


class axis_for_the_batch:
    """The function returns what the module would keep: [1, max_len, D].

    Named: table_with_batch_axis
    """

    def sinusoidal_positions(max_len, d_model, *, device=None):
        if d_model % 2:
            raise ValueError("d_model must be even")
        pe = torch.zeros(1, max_len, d_model, device=device)
        angle = torch.arange(max_len, device=device).view(-1, 1) / 10000 ** (
            torch.arange(0, d_model, 2, device=device) / d_model
        )
        pe[..., 0::2], pe[..., 1::2] = angle.sin(), angle.cos()
        return pe

    class SinusoidalPositionalEncoding:
        def __init__(self, d_model, max_len):
            super().__init__()
            self.register_buffer("table", sinusoidal_positions(max_len, d_model)[0])


class one_row_per_column:
    """Columns are positions.

    Named: table_transposed
    """

    def sinusoidal_positions(max_len, d_model, *, device=None):
        if d_model % 2:
            raise ValueError("d_model must be even")
        frequency = 10000 ** (-torch.arange(0, d_model, 2, device=device) / d_model)
        angle = frequency[:, None] * torch.arange(max_len, device=device)
        return torch.stack((angle.sin(), angle.cos()), dim=1).reshape(d_model, max_len)

    class SinusoidalPositionalEncoding:
        def __init__(self, d_model, max_len):
            super().__init__()
            self.register_buffer("table", sinusoidal_positions(max_len, d_model).T)


class made_by_numpy:
    """The table is numpy's and stays on the CPU.

    Named: device_ignored
    """

    import numpy as np

    def sinusoidal_positions(max_len, d_model, *, device=None):
        if d_model % 2:
            raise ValueError("d_model must be even")
        angle = np.arange(max_len)[:, None] / np.power(10000.0, np.arange(0, d_model, 2) / d_model)
        table = np.empty((max_len, d_model), dtype=np.float32)
        table[:, 0::2], table[:, 1::2] = np.sin(angle), np.cos(angle)
        return torch.from_numpy(table)


class device_not_asked_for:
    """There is no device.

    Named: device_keyword_missing
    """

    def sinusoidal_positions(max_len, d_model):
        if d_model % 2:
            raise ValueError("d_model must be even")
        pos, i = torch.arange(max_len).unsqueeze(1), torch.arange(0, d_model, 2)
        angle = pos / (10000 ** (i / d_model))
        return torch.stack((torch.sin(angle), torch.cos(angle)), -1).view(max_len, d_model)


class dropout_of_the_tutorial:
    """The tutorial's module with its dropout.

    Named: dropout_added
    """

    class SinusoidalPositionalEncoding:
        def __init__(self, d_model, max_len, dropout=0.1):
            super().__init__()
            self.dropout = nn.Dropout(p=dropout)
            self.register_buffer("pe", sinusoidal_positions(max_len, d_model).unsqueeze(0))

        def forward(self, x):
            if x.size(1) > self.pe.size(1):
                raise ValueError("too long")
            return self.dropout(x + self.pe[:, : x.size(1)].to(x.dtype))


class dropout_in_second_place:
    """The tutorial's order of arguments, so that max_len arrives as the dropout.

    Named: dropout_takes_max_len
    """

    class SinusoidalPositionalEncoding:
        def __init__(self, d_model, dropout=0.1, max_len=5000):
            super().__init__()
            self.dropout = nn.Dropout(p=dropout)
            self.register_buffer("pe", sinusoidal_positions(max_len, d_model))

        def forward(self, x):
            if x.size(1) > self.pe.size(0):
                raise ValueError("too long")
            return self.dropout(x + self.pe[: x.size(1)].to(x.dtype))


class always_five_thousand:
    """The table has 5000 rows, and max_len is not looked at.

    Named: max_len_ignored
    """

    class SinusoidalPositionalEncoding:
        def __init__(self, d_model, max_len):
            super().__init__()
            self.register_buffer("pe", sinusoidal_positions(5000, d_model).unsqueeze(0))

        def forward(self, x):
            return x + self.pe[:, : x.size(1)].to(x.dtype)


class scaled_by_the_root:
    """x is made larger first, as the original transformer does.

    Named: x_scaled
    """

    import math

    class SinusoidalPositionalEncoding:
        def __init__(self, d_model, max_len):
            super().__init__()
            self.d_model = d_model
            self.register_buffer("pe", sinusoidal_positions(max_len, d_model))

        def forward(self, x):
            if x.size(1) > self.pe.size(0):
                raise ValueError("too long")
            x = x * math.sqrt(self.d_model)
            return x + self.pe[: x.size(1)].to(x.dtype)


class adding_fails_by_itself:
    """A longer sequence fails in the sum.

    Named: limit_not_checked
    """

    class SinusoidalPositionalEncoding:
        def __init__(self, d_model, max_len):
            super().__init__()
            self.register_buffer("pe", sinusoidal_positions(max_len, d_model).unsqueeze(0))

        def forward(self, x):
            return x + self.pe[:, : x.shape[1]].to(x.dtype)


class embedding_fails_by_itself:
    """A longer sequence fails in the embedding, with an IndexError.

    Named: limit_by_index_error
    """

    class LearnedPositionalEncoding:
        def __init__(self, d_model, max_len):
            super().__init__()
            self.pos_emb = nn.Embedding(max_len, d_model)

        def forward(self, x):
            positions = torch.arange(x.size(1), device=x.device)
            return x + self.pos_emb(positions).to(x.dtype)


class asserted_block_size:
    """A longer sequence meets an assert, as in small GPTs.

    Named: limit_assert
    """

    class LearnedPositionalEncoding:
        def __init__(self, d_model, max_len):
            super().__init__()
            self.block_size = max_len
            self.wpe = nn.Embedding(max_len, d_model)

        def forward(self, x):
            t = x.size(1)
            assert t <= self.block_size, f"Cannot forward sequence of length {t}"
            return x + self.wpe(torch.arange(t, device=x.device)).to(x.dtype)


class less_than_max_len:
    """max_len itself is too long.

    Named: limit_off_by_one
    """

    class LearnedPositionalEncoding:
        def __init__(self, d_model, max_len):
            super().__init__()
            self.max_len = max_len
            self.pos_embed = nn.Parameter(torch.randn(1, max_len, d_model) * 0.02)

        def forward(self, x):
            if not x.size(1) < self.max_len:
                raise ValueError("sequence too long")
            return x + self.pos_embed[:, : x.size(1)].to(x.dtype)


class tail_cut_off:
    """What is too long is cut.

    Named: limit_cuts_x
    """

    class LearnedPositionalEncoding:
        def forward(self, x):
            x = x[:, : self.table.size(0)]
            return x + self.table[: x.size(1)].to(x.dtype)


class time_first_table:
    """The tutorial's module for [T, B, D], which takes rows by x.size(0).

    Named: rows_by_batch
    """

    class SinusoidalPositionalEncoding:
        def __init__(self, d_model, max_len):
            super().__init__()
            self.register_buffer("pe", sinusoidal_positions(max_len, d_model).unsqueeze(1))

        def forward(self, x):
            return x + self.pe[: x.size(0)].to(x.dtype)


class turned_and_left:
    """x is turned to [T, B, D], and never turned back.

    Named: output_time_first
    """

    class SinusoidalPositionalEncoding:
        def __init__(self, d_model, max_len):
            super().__init__()
            self.register_buffer("pe", sinusoidal_positions(max_len, d_model).unsqueeze(1))

        def forward(self, x):
            if x.size(1) > self.pe.size(0):
                raise ValueError("too long")
            x = x.permute(1, 0, 2)
            return x + self.pe[: x.size(0)].to(x.dtype)


class colon_forgotten:
    """The slice has lost its colon: one row is added everywhere.

    Named: row_t_for_all
    """

    class LearnedPositionalEncoding:
        def forward(self, x):
            if x.size(1) > self.table.size(0):
                raise ValueError("too long")
            return x + self.table[x.size(1)].to(x.dtype)


class attribute:
    """The table is an attribute, moved in forward.

    Named: table_in_plain_attribute
    """

    class SinusoidalPositionalEncoding:
        def __init__(self, d_model, max_len):
            super().__init__()
            self.P = sinusoidal_positions(max_len, d_model)[None]

        def forward(self, X):
            if X.shape[1] > self.P.shape[1]:
                raise ValueError("too long")
            return X + self.P[:, : X.shape[1], :].to(X)


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


class frozen_parameter:
    """The table is a parameter that wants no gradient.

    Named: table_is_parameter
    """

    class SinusoidalPositionalEncoding:
        def __init__(self, d_model, max_len):
            super().__init__()
            self.pos_embed = nn.Parameter(sinusoidal_positions(max_len, d_model)[None], requires_grad=False)

        def forward(self, x):
            if x.size(1) > self.pos_embed.size(1):
                raise ValueError("too long")
            return x + self.pos_embed[:, : x.size(1)].to(x.dtype)


class embedding_from_pretrained:
    """The table is a frozen nn.Embedding.

    Named: table_is_parameter
    """

    class SinusoidalPositionalEncoding:
        def __init__(self, d_model, max_len):
            super().__init__()
            self.embed = nn.Embedding.from_pretrained(sinusoidal_positions(max_len, d_model), freeze=True)

        def forward(self, x):
            if x.size(1) > self.embed.num_embeddings:
                raise ValueError("too long")
            return x + self.embed(torch.arange(x.size(1), device=x.device)).to(x.dtype)


class max_len_first:
    """The class hands its arguments on in its own order.

    Named: module_arguments_swapped
    """

    class SinusoidalPositionalEncoding:
        def __init__(self, d_model, max_len):
            super().__init__()
            self.max_len = max_len
            self.register_buffer("pe", sinusoidal_positions(d_model, max_len).unsqueeze(0))

        def forward(self, x):
            if x.size(1) > self.max_len:
                raise ValueError("too long")
            return x + self.pe[:, : x.size(1)].to(x.dtype)


class encoding_alone:
    """The module returns the rows and leaves the sum to the caller.

    Named: positions_alone
    """

    class SinusoidalPositionalEncoding:
        def __init__(self, d_model, max_len):
            super().__init__()
            self.register_buffer("pe", sinusoidal_positions(max_len, d_model).unsqueeze(0))

        def forward(self, x):
            if x.size(1) > self.pe.size(1):
                raise ValueError("too long")
            return self.pe[:, : x.size(1)].to(x.dtype).repeat(x.size(0), 1, 1)


class added_in_place:
    """The caller's x is added to.

    Named: input_changed
    """

    class SinusoidalPositionalEncoding:
        def __init__(self, d_model, max_len):
            super().__init__()
            self.register_buffer("pe", sinusoidal_positions(max_len, d_model))

        def forward(self, x):
            if x.size(1) > self.pe.size(0):
                raise ValueError("too long")
            return x.add_(self.pe[: x.size(1)].to(x.dtype))


class sum_in_float32:
    """bfloat16 and float32 make float32.

    Named: dtype_of_the_table
    """

    class LearnedPositionalEncoding:
        def __init__(self, d_model, max_len):
            super().__init__()
            self.pe = nn.Embedding(max_len, d_model)

        def forward(self, x):
            if x.size(1) > self.pe.num_embeddings:
                raise ValueError("too long")
            return x + self.pe(torch.arange(x.size(1), device=x.device))


class no_parameter:
    """The learned table is a tensor that wants a gradient.

    Named: learned_as_buffer
    """

    class LearnedPositionalEncoding:
        def __init__(self, d_model, max_len):
            super().__init__()
            self.table = torch.randn(max_len, d_model, requires_grad=True)


class embedding_on_its_side:
    """The embedding has d_model rows of max_len numbers.

    Named: learned_arguments_swapped
    """

    class LearnedPositionalEncoding:
        def __init__(self, d_model, max_len):
            super().__init__()
            self.max_len = max_len
            self.wpe = nn.Embedding(d_model, max_len)

        def forward(self, x):
            if x.size(1) > self.max_len:
                raise ValueError("too long")
            return x + self.wpe(torch.arange(x.size(1), device=x.device)).to(x.dtype)


class one_number_per_position:
    """Each position has one number, for all columns.

    Named: learned_number_per_position
    """

    class LearnedPositionalEncoding:
        def __init__(self, d_model, max_len):
            super().__init__()
            self.table = nn.Parameter(torch.randn(max_len, 1) * 0.02)


class data_of_the_parameter:
    """The parameter's data is added, which has no gradient.

    Named: learned_detached
    """

    class LearnedPositionalEncoding:
        def __init__(self, d_model, max_len):
            super().__init__()
            self.pos = nn.Parameter(torch.randn(max_len, d_model) * 0.02)

        def forward(self, x):
            if x.size(1) > self.pos.size(0):
                raise ValueError("too long")
            return x + self.pos.data[: x.size(1)].to(x.dtype)


class frozen_learned_table:
    """The learned table wants no gradient.

    Named: learned_detached
    """

    class LearnedPositionalEncoding:
        def __init__(self, d_model, max_len):
            super().__init__()
            self.table = nn.Parameter(torch.randn(max_len, d_model) * 0.02, requires_grad=False)


class new_numbers_each_time:
    """The table is drawn again in each call."""

    class LearnedPositionalEncoding:
        def __init__(self, d_model, max_len):
            super().__init__()
            self.table = nn.Parameter(torch.empty(max_len, d_model))

        def forward(self, x):
            nn.init.normal_(self.table, std=0.02)
            return _add(x, self.table)


class one_table_for_all:
    """All learned modules of one size share the table of the first."""

    tables = {}  # noqa: RUF012

    class LearnedPositionalEncoding:
        def __init__(self, d_model, max_len):
            super().__init__()
            key = (d_model, max_len)
            if key not in tables:
                tables[key] = nn.Parameter(torch.randn(max_len, d_model) * 0.02)
            self.table = tables[key]


class batch_of_one_lost:
    """Axes of length 1 are squeezed out of the result.

    Named: output_squeezed
    """

    class SinusoidalPositionalEncoding:
        def __init__(self, d_model, max_len):
            super().__init__()
            self.register_buffer("pe", sinusoidal_positions(max_len, d_model).unsqueeze(0))

        def forward(self, x):
            if x.size(1) > self.pe.size(1):
                raise ValueError("too long")
            return (x + self.pe[:, : x.size(1)].to(x.dtype)).squeeze()


class learned_unwritten:
    """The learned encoding is still the stub's."""

    class LearnedPositionalEncoding:
        def __init__(self, d_model, max_len):
            super().__init__()
            raise NotImplementedError("LearnedPositionalEncoding.__init__")
