"""What the sinusoidal table gets wrong around its frequencies.

Rows are positions, counted from 0 in float32. Sines are in the even columns, cosines in the odd ones, so there is an
even number of them.
"""


class positions_from_one:
    """your positions count from 1: the first one is 0

    Fails: test_first_row, test_even_columns, test_odd_columns
    """

    sinusoidal_positions = """
        - position = torch.arange(max_len, dtype=torch.float32, device=device)[:, None]
        + position = torch.arange(1, max_len + 1, dtype=torch.float32, device=device)[:, None]
    """


class positions_as_fractions:
    """your positions are divided by max_len: the same position would get another row in another table

    Fails: test_even_columns, test_odd_columns
    """

    sinusoidal_positions = """
        - position = torch.arange(max_len, dtype=torch.float32, device=device)[:, None]
        + position = torch.arange(max_len, dtype=torch.float32, device=device)[:, None] / max_len
    """


class positions_in_half_precision:
    """your positions are counted in half precision: past 2048, neighbours become one

    Fails: test_far_positions
    """

    sinusoidal_positions = """
        - position = torch.arange(max_len, dtype=torch.float32, device=device)[:, None]
        + position = torch.arange(max_len, dtype=torch.float16, device=device)[:, None].float()
    """


class sines_and_cosines_swapped:
    """your even columns hold cosines and your odd ones sines: it is the other way round

    Fails: test_first_row, test_even_columns, test_odd_columns
    """

    sinusoidal_positions = """
        - return torch.stack((angle.sin(), angle.cos()), dim=-1).flatten(1)
        + return torch.stack((angle.cos(), angle.sin()), dim=-1).flatten(1)
    """


class halves_not_interleaved:
    """your sines fill the first half of the columns and your cosines the second: they take turns, column by column

    Fails: test_first_row, test_even_columns, test_odd_columns
    """

    sinusoidal_positions = """
        - return torch.stack((angle.sin(), angle.cos()), dim=-1).flatten(1)
        + return torch.cat((angle.sin(), angle.cos()), dim=-1)
    """


class table_transposed:
    """your table is [d_model, max_len]: rows are positions

    Fails: test_table_shape
    """

    sinusoidal_positions = """
        - return torch.stack((angle.sin(), angle.cos()), dim=-1).flatten(1)
        + return torch.stack((angle.sin(), angle.cos()), dim=-1).flatten(1).T
    """

    class SinusoidalPositionalEncoding:
        def __init__(self, d_model, max_len):
            super().__init__()
            self.register_buffer("table", sinusoidal_positions(max_len, d_model).T)


class odd_width_accepted:
    """your table takes an odd d_model and leaves the last sine without its cosine

    Fails: test_odd_width
    """

    def sinusoidal_positions(max_len, d_model, *, device=None):
        position = torch.arange(max_len, dtype=torch.float32, device=device)[:, None]
        frequency = 10000.0 ** (-torch.arange(0, d_model, 2, device=device) / d_model)
        angle = position * frequency
        return torch.stack((angle.sin(), angle.cos()), dim=-1).flatten(1)[:, :d_model]


class odd_width_assert:
    """your odd d_model is caught by assert: it raises AssertionError, and nothing under python -O

    Fails: test_odd_width
    """

    sinusoidal_positions = """
        - if d_model % 2:
        -     raise ValueError(f"d_model ({d_model}) must be even: each sine needs its cosine")
        + assert d_model % 2 == 0, "d_model must be even"
    """


class device_ignored:
    """your sinusoidal_positions takes a device and does not use it: its table is always made on the CPU

    Fails: test_device
    """

    sinusoidal_positions = """
        - position = torch.arange(max_len, dtype=torch.float32, device=device)[:, None]
        - frequency = 10000.0 ** (-torch.arange(0, d_model, 2, device=device) / d_model)
        + position = torch.arange(max_len, dtype=torch.float32)[:, None]
        + frequency = 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
    """


class device_keyword_missing:
    """your sinusoidal_positions has no device keyword: its table is always made on the CPU

    Fails: test_device
    """

    def sinusoidal_positions(max_len, d_model):
        if d_model % 2:
            raise ValueError(f"d_model ({d_model}) must be even: each sine needs its cosine")
        position = torch.arange(max_len, dtype=torch.float32)[:, None]
        frequency = 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
        angle = position * frequency
        return torch.stack((angle.sin(), angle.cos()), dim=-1).flatten(1)


class sines_everywhere:
    """your odd columns hold sines, too: they are for the cosine of the same angle

    Fails: test_odd_columns
    """

    sinusoidal_positions = """
        - return torch.stack((angle.sin(), angle.cos()), dim=-1).flatten(1)
        + return torch.stack((angle.sin(), angle.sin()), dim=-1).flatten(1)
    """


class odd_width_not_checked:
    """your odd d_model fails where the cosines are written, with a RuntimeError: look at it first, and raise ValueError

    Fails: test_odd_width
    """

    def sinusoidal_positions(max_len, d_model, *, device=None):
        table = torch.zeros(max_len, d_model, device=device)
        position = torch.arange(max_len, dtype=torch.float32, device=device)[:, None]
        angle = position * 10000.0 ** (-torch.arange(0, d_model, 2, device=device) / d_model)
        table[:, 0::2] = torch.sin(angle)
        table[:, 1::2] = torch.cos(angle)
        return table


class table_with_batch_axis:
    """your table is [1, max_len, d_model]: it has no axis for the batch, and broadcasts without

    Fails: test_table_shape
    """

    sinusoidal_positions = """
        - return torch.stack((angle.sin(), angle.cos()), dim=-1).flatten(1)
        + return torch.stack((angle.sin(), angle.cos()), dim=-1).flatten(1)[None]
    """

    class SinusoidalPositionalEncoding:
        def __init__(self, d_model, max_len):
            super().__init__()
            self.register_buffer("table", sinusoidal_positions(max_len, d_model)[0])
