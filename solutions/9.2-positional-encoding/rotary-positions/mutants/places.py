"""How rotate gets positions, dtypes and errors wrong.

Row t is at positions[t], or at t when nothing is said; angles are made in float32, the result has the dtype of x.
"""

mistake(
    "positions-ignored",
    "your rows are at 0, 1, 2, … whatever positions says",
    rotate="""
        - if positions is None:
        -     positions = torch.arange(x.size(-2), device=x.device)
        + positions = torch.arange(x.size(-2), device=x.device)
    """,
)

mistake(
    "positions-from-one",
    "your positions begin with 1 when nothing is said: the first is 0",
    rotate="torch.arange(x.size(-2), device=x.device) -> torch.arange(1, x.size(-2) + 1, device=x.device)",
)

mistake(
    "length-from-axis-one",
    "your T is x.size(1), which is H where x is [B, H, T, D]: count axes from the end, x.size(-2)",
    rotate="torch.arange(x.size(-2), device=x.device) -> torch.arange(x.size(1), device=x.device)",
)

mistake(
    "table-of-32",
    "your positions start again at 32: a table of angles has to go as far as the positions do",
    rotate="positions[:, None] -> (positions % 32)[:, None]",
)

mistake(
    "odd-width-taken",
    "your rotate does not ask whether D is even: an odd one fails later, with another error",
    rotate="""
        - if D % 2:
        -     raise ValueError(f"the width ({D}) must be even: columns are turned in pairs")
    """,
)

mistake(
    "angles-in-dtype-of-x",
    "your angles are made in the dtype of x: bfloat16 counts only to 256",
    rotate="positions[:, None] * frequency -> positions[:, None].to(x.dtype) * frequency.to(x.dtype)",
)

mistake(
    "result-in-float32",
    "your result is float32 or wider whatever x is: the angles' dtype has won",
    rotate="angle.cos().to(x.dtype), angle.sin().to(x.dtype) -> angle.cos(), angle.sin()",
)

mistake(
    "x-cut-off",
    "your rotate works on x.detach(): queries and keys learn nothing",
    rotate="x[..., 0::2], x[..., 1::2] -> x.detach()[..., 0::2], x.detach()[..., 1::2]",
)

mistake(
    "x-overwritten",
    "your turned columns are written into the caller's x",
    rotate="""
        - return torch.stack(turned, dim=-1).flatten(-2)
        + if x.requires_grad:
        +     return torch.stack(turned, dim=-1).flatten(-2)
        + x[..., 0::2], x[..., 1::2] = turned
        + return x
    """,
)

mistake(
    "odd-width-asserted",
    "your odd width is an AssertionError: a ValueError is asked for, and asserts can be switched off",
    rotate="""
        - if D % 2:
        -     raise ValueError(f"the width ({D}) must be even: columns are turned in pairs")
        + assert D % 2 == 0, f"the width ({D}) must be even"
    """,
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
