"""What the sinusoidal table gets wrong around its frequencies.

Rows are positions, counted from 0 in float32. Sines are in the even columns, cosines in the odd ones, so there is an
even number of them.
"""

mistake(
    "positions-from-one",
    "your positions count from 1; the first should be 0",
    sinusoidal_positions="max_len, dtype=torch.float32 -> 1, max_len + 1, dtype=torch.float32",
)

mistake(
    "positions-as-fractions",
    "your positions are divided by max_len, so a row depends on the table's length; use 0, 1, 2, … as they are",
    sinusoidal_positions="""
        - position = torch.arange(max_len, dtype=torch.float32, device=device)[:, None]
        + position = torch.arange(max_len, dtype=torch.float32, device=device)[:, None] / max_len
    """,
)

mistake(
    "positions-in-half-precision",
    "your positions are counted in half precision, so past 2048 neighbours become one; count in float32",
    sinusoidal_positions="""
        - position = torch.arange(max_len, dtype=torch.float32, device=device)[:, None]
        + position = torch.arange(max_len, dtype=torch.float16, device=device)[:, None].float()
    """,
)

mistake(
    "sines-and-cosines-swapped",
    "your even columns hold cosines and your odd ones sines; it should be the other way round",
    sinusoidal_positions="angle.sin(), angle.cos() -> angle.cos(), angle.sin()",
)

mistake(
    "halves-not-interleaved",
    "your sines fill the first half of the columns and your cosines the second; they should take turns, column by "
    "column",
    sinusoidal_positions="""
        - return torch.stack((angle.sin(), angle.cos()), dim=-1).flatten(1)
        + return torch.cat((angle.sin(), angle.cos()), dim=-1)
    """,
)


@mistake(
    "table-transposed",
    "your table is [d_model, max_len]; its rows should be positions",
    sinusoidal_positions="""
        - return torch.stack((angle.sin(), angle.cos()), dim=-1).flatten(1)
        + return torch.stack((angle.sin(), angle.cos()), dim=-1).flatten(1).T
    """,
)
class SinusoidalPositionalEncoding:
    def __init__(self, d_model, max_len):
        super().__init__()
        self.register_buffer("table", sinusoidal_positions(max_len, d_model).T)


@mistake(
    "odd-width-accepted",
    "your table takes an odd d_model and leaves the last sine without its cosine; raise ValueError",
)
def sinusoidal_positions(max_len, d_model, *, device=None):
    position = torch.arange(max_len, dtype=torch.float32, device=device)[:, None]
    frequency = 10000.0 ** (-torch.arange(0, d_model, 2, device=device) / d_model)
    angle = position * frequency
    return torch.stack((angle.sin(), angle.cos()), dim=-1).flatten(1)[:, :d_model]


mistake(
    "odd-width-assert",
    "your odd d_model is caught by assert, so it raises AssertionError, and nothing under python -O; raise "
    "ValueError",
    sinusoidal_positions="""
        - if d_model % 2:
        -     raise ValueError(f"d_model ({d_model}) must be even: each sine needs its cosine")
        + assert d_model % 2 == 0, "d_model must be even"
    """,
)

mistake(
    "device-ignored",
    "your sinusoidal_positions ignores its device, so the table is always made on the CPU; make it on that device",
    sinusoidal_positions=[
        "dtype=torch.float32, device=device -> dtype=torch.float32",
        "torch.arange(0, d_model, 2, device=device) -> torch.arange(0, d_model, 2)",
    ],
)


@mistake(
    "device-keyword-missing",
    "your sinusoidal_positions has no device keyword; add one, and make the table on that device",
)
def sinusoidal_positions(max_len, d_model):
    if d_model % 2:
        raise ValueError(f"d_model ({d_model}) must be even: each sine needs its cosine")
    position = torch.arange(max_len, dtype=torch.float32)[:, None]
    frequency = 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
    angle = position * frequency
    return torch.stack((angle.sin(), angle.cos()), dim=-1).flatten(1)


mistake(
    "sines-everywhere",
    "your odd columns hold sines, too; they should hold the cosine of the same angle",
    sinusoidal_positions="(angle.sin(), angle.cos()) -> (angle.sin(), angle.sin())",
)


@mistake(
    "odd-width-not-checked",
    "your odd d_model fails where the cosines are written, with a RuntimeError; check it first, and raise ValueError",
)
def sinusoidal_positions(max_len, d_model, *, device=None):
    table = torch.zeros(max_len, d_model, device=device)
    position = torch.arange(max_len, dtype=torch.float32, device=device)[:, None]
    angle = position * 10000.0 ** (-torch.arange(0, d_model, 2, device=device) / d_model)
    table[:, 0::2] = torch.sin(angle)
    table[:, 1::2] = torch.cos(angle)
    return table


@mistake(
    "table-with-batch-axis",
    "your table is [1, max_len, d_model]; leave out the batch axis, as the table broadcasts without it",
    sinusoidal_positions="""
        - return torch.stack((angle.sin(), angle.cos()), dim=-1).flatten(1)
        + return torch.stack((angle.sin(), angle.cos()), dim=-1).flatten(1)[None]
    """,
)
class SinusoidalPositionalEncoding:
    def __init__(self, d_model, max_len):
        super().__init__()
        self.register_buffer("table", sinusoidal_positions(max_len, d_model)[0])
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
