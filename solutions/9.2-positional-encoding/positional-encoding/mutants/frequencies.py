"""What the frequencies of the sinusoidal table get wrong.

Columns 2i and 2i + 1 turn at 10000^(-2i / d_model) radians a position: from 1 downwards, both columns of a pair alike.
"""

mistake(
    "exponent-negative",
    "your frequencies grow with the column; divide the position by 10000^(2i / d_model), do not multiply",
    sinusoidal_positions="""
        - frequency = 10000.0 ** (-torch.arange(0, d_model, 2, device=device) / d_model)
        + frequency = 10000.0 ** (torch.arange(0, d_model, 2, device=device) / d_model)
    """,
)

mistake(
    "exponent-without-two",
    "your exponent is i / d_model; where i counts pairs it should be 2i / d_model",
    sinusoidal_positions="0, d_model, 2 -> d_model // 2",
)

mistake(
    "exponent-floored",
    "your exponent is rounded down by //, so every pair has the same frequency; divide without rounding",
    sinusoidal_positions="""
        - frequency = 10000.0 ** (-torch.arange(0, d_model, 2, device=device) / d_model)
        + frequency = 10000.0 ** (-(torch.arange(0, d_model, 2, device=device) // d_model).float())
    """,
)

mistake(
    "other-base",
    "your base is 1000; it should be 10000",
    sinusoidal_positions="10000.0 -> 1000.0",
)

mistake(
    "exponent-doubled",
    "your exponent counts by twos twice; use arange(0, d_model, 2) as it is, which is 2i already",
    sinusoidal_positions="""
        - frequency = 10000.0 ** (-torch.arange(0, d_model, 2, device=device) / d_model)
        + frequency = 10000.0 ** (-2 * torch.arange(0, d_model, 2, device=device) / d_model)
    """,
)

mistake(
    "base-e",
    "your frequencies are powers of e; the base should be 10000, so multiply the exponent by log(10000)",
    sinusoidal_positions="""
        - frequency = 10000.0 ** (-torch.arange(0, d_model, 2, device=device) / d_model)
        + frequency = torch.exp(-torch.arange(0, d_model, 2, device=device) / d_model)
    """,
)

mistake(
    "cosine-frequency-of-its-own",
    "your cosines use the number of their own column, 2i + 1; both columns of a pair should use the even one, 2i",
    sinusoidal_positions="""
        - frequency = 10000.0 ** (-torch.arange(0, d_model, 2, device=device) / d_model)
        + frequency = 10000.0 ** (-torch.arange(d_model, device=device) / d_model)

        - return torch.stack((angle.sin(), angle.cos()), dim=-1).flatten(1)
        + table = angle.cos()
        + table[:, 0::2] = angle[:, 0::2].sin()
        + return table
    """,
)

mistake(
    "slowest-at-the-end",
    "your last pair has the frequency 1/10000 exactly; the exponent should end at (d_model - 2) / d_model, not at 1",
    sinusoidal_positions="""
        - frequency = 10000.0 ** (-torch.arange(0, d_model, 2, device=device) / d_model)
        + steps = torch.arange(d_model // 2, device=device) / max(d_model // 2 - 1, 1)
        + frequency = 10000.0**-steps
    """,
)

mistake(
    "turns-instead-of-radians",
    "your angles carry a factor of 2π; leave it out, as position · frequency is in radians already",
    sinusoidal_positions="position * frequency -> 2 * torch.pi * position * frequency",
)

mistake(
    "exponent-doubled-and-cosine-of-its-own",
    "your exponent counts by twos twice, and your cosines count from i + 1; both columns of a pair should use i / "
    "d_model",
    sinusoidal_positions="""
        - frequency = 10000.0 ** (-torch.arange(0, d_model, 2, device=device) / d_model)
        - angle = position * frequency
        - return torch.stack((angle.sin(), angle.cos()), dim=-1).flatten(1)
        + i = torch.arange(0, d_model, 2, device=device)
        + sine = (position / 10000.0 ** (2 * i / d_model)).sin()
        + cosine = (position / 10000.0 ** (2 * (i + 1) / d_model)).cos()
        + return torch.stack((sine, cosine), dim=-1).flatten(1)
    """,
)

mistake(
    "exponent-by-length",
    "your exponent is divided by max_len; it should be divided by d_model",
    sinusoidal_positions="""
        - frequency = 10000.0 ** (-torch.arange(0, d_model, 2, device=device) / d_model)
        + frequency = 10000.0 ** (-torch.arange(0, d_model, 2, device=device) / max_len)
    """,
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
