"""How the table is added wrongly.

Position t of every sequence gets row t added; x, its dtype and its gradient stay what they were.
"""


class positions_alone:
    """your module returns the positions without x

    Fails: test_sinusoidal_adds, test_learned_adds
    """

    _add = """
        - return x + table[:T].to(x.dtype)
        + return table[:T].to(x.dtype).expand_as(x)
    """


class multiplied:
    """your positions are multiplied with x: they are added

    Fails: test_sinusoidal_adds, test_learned_adds
    """

    _add = """
        - return x + table[:T].to(x.dtype)
        + return x * table[:T].to(x.dtype)
    """


class concatenated:
    """your positions are set next to x: they are added, and the width stays d_model

    Fails: test_sinusoidal_adds, test_learned_adds
    """

    _add = """
        - return x + table[:T].to(x.dtype)
        + return torch.cat((x, table[:T].to(x.dtype).expand(x.size(0), -1, -1)), dim=-1)
    """


class x_scaled:
    """your x is multiplied by √d_model first: that belongs to the word embedding, not here

    Fails: test_sinusoidal_adds, test_learned_adds
    """

    _add = """
        - return x + table[:T].to(x.dtype)
        + return x * x.size(-1) ** 0.5 + table[:T].to(x.dtype)
    """


class one_row_for_all:
    """your module adds the row of position T - 1 to every position

    Fails: test_sinusoidal_adds, test_learned_adds
    """

    _add = """
        - return x + table[:T].to(x.dtype)
        + return x + table[T - 1].to(x.dtype)
    """


class last_rows:
    """your module adds the last T rows of the table: position t takes row t

    Fails: test_sinusoidal_adds, test_learned_adds
    """

    _add = """
        - return x + table[:T].to(x.dtype)
        + return x + table[max_len - T :].to(x.dtype)
    """


class rows_by_batch:
    """your rows go by the number of the sequence in the batch, not by the position in the sequence

    Fails: test_sinusoidal_adds, test_learned_adds
    """

    _add = """
        - return x + table[:T].to(x.dtype)
        + return x + table[: x.size(0), None].to(x.dtype)
    """


class dtype_of_the_table:
    """your output has the dtype of the table: a bfloat16 x comes out as float32

    Fails: test_sinusoidal_dtypes, test_learned_dtypes
    """

    _add = """
        - return x + table[:T].to(x.dtype)
        + return x + table[:T]
    """


class positions_in_dtype_of_x:
    """your positions are made in the dtype of x: bfloat16 counts only to 256

    Fails: test_sinusoidal_dtypes
    """

    class SinusoidalPositionalEncoding:
        def forward(self, x):
            position = torch.arange(x.size(1), dtype=x.dtype, device=x.device)[:, None].float()
            frequency = 10000.0 ** (-torch.arange(0, x.size(2), 2, device=x.device) / x.size(2))
            angle = (position * frequency).to(self.table)
            table = torch.stack((angle.sin(), angle.cos()), dim=-1).flatten(1)
            if x.size(1) > self.table.size(0):
                raise ValueError("too long")
            return _add(x, table)


class input_changed:
    """your x is changed in place by +=

    Fails: test_promises
    """

    _add = """
        - return x + table[:T].to(x.dtype)
        + x += table[:T].to(x.dtype)
        + return x
    """


class x_detached:
    """your x is cut from the graph: what comes before the encoding learns nothing

    Fails: test_sinusoidal_gradient, test_learned_gradient
    """

    _add = """
        - return x + table[:T].to(x.dtype)
        + return x.detach() + table[:T].to(x.dtype)
    """


class dropout_added:
    """your modules drop numbers in train mode: this exercise has no dropout

    Fails: test_modes
    """

    class SinusoidalPositionalEncoding:
        def forward(self, x):
            return nn.functional.dropout(_add(x, self.table), 0.1, self.training)

    class LearnedPositionalEncoding:
        def forward(self, x):
            return nn.functional.dropout(_add(x, self.table), 0.1, self.training)


class row_t_for_all:
    """your module adds row T to every position: a slice of the first T rows has a colon, [:T]

    Fails: test_sinusoidal_adds, test_learned_adds
    """

    _add = """
        - return x + table[:T].to(x.dtype)
        + return x + table[T].to(x.dtype)
    """


class output_time_first:
    """your output is [T, B, D]: x came as [B, T, D], and goes as that

    Fails: test_sinusoidal_adds, test_learned_adds
    """

    _add = """
        - return x + table[:T].to(x.dtype)
        + return x.transpose(0, 1) + table[:T, None].to(x.dtype)
    """


class output_squeezed:
    """your output loses its axes of length 1: a batch of one is still [1, T, D]

    Fails: test_single
    """

    _add = """
        - return x + table[:T].to(x.dtype)
        + return (x + table[:T].to(x.dtype)).squeeze()
    """
