"""How rotate gets positions, dtypes and errors wrong.

Row t is at positions[t], or at t when nothing is said; angles are made in float32, the result has the dtype of x.
"""

mistake(
    "positions-ignored",
    "your rows are always at 0, 1, 2, …; they should be at the positions that are given",
    rotate="""
        - if positions is None:
        -     positions = torch.arange(x.size(-2), device=x.device)
        + positions = torch.arange(x.size(-2), device=x.device)
    """,
)

mistake(
    "positions-from-one",
    "your positions begin with 1 by default; the first should be 0",
    rotate="torch.arange(x.size(-2), device=x.device) -> torch.arange(1, x.size(-2) + 1, device=x.device)",
)

mistake(
    "length-from-axis-one",
    "your positions are as many as another axis is long, such as x.size(1); take the last but one, x.size(-2)",
    rotate="torch.arange(x.size(-2), device=x.device) -> torch.arange(x.size(1), device=x.device)",
)

mistake(
    "table-of-32",
    "your positions start again at 32; a table of angles should go as far as the positions do",
    rotate="positions[:, None] -> (positions % 32)[:, None]",
)

mistake(
    "odd-width-taken",
    "your rotate does not check whether D is even; it should raise ValueError where D is odd",
    rotate="""
        - if D % 2:
        -     raise ValueError(f"the width ({D}) must be even: columns are turned in pairs")
    """,
)

mistake(
    "angles-in-dtype-of-x",
    "your angles are made in the dtype of x, and bfloat16 counts only to 256; make them in float32",
    rotate="positions[:, None] * frequency -> positions[:, None].to(x.dtype) * frequency.to(x.dtype)",
)

mistake(
    "result-in-float32",
    "your result has the angles' dtype, float32 or wider; it should have the dtype of x",
    rotate="angle.cos().to(x.dtype), angle.sin().to(x.dtype) -> angle.cos(), angle.sin()",
)

mistake(
    "x-cut-off",
    "your rotate works on x.detach(), so queries and keys learn nothing; gradients should go through x",
    rotate="x[..., 0::2], x[..., 1::2] -> x.detach()[..., 0::2], x.detach()[..., 1::2]",
)

mistake(
    "x-overwritten",
    "your turned columns are written into the caller's x; return a new tensor",
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
    "your odd width raises AssertionError; raise ValueError, as asserts can be switched off",
    rotate="""
        - if D % 2:
        -     raise ValueError(f"the width ({D}) must be even: columns are turned in pairs")
        + assert D % 2 == 0, f"the width ({D}) must be even"
    """,
)

mistake(
    "table-kept-by-length",
    "your angles are kept only by length, so others get those of the first call; they should be made in each",
    rotate="""
        - frequency = base ** (-torch.arange(0, D, 2, device=x.device) / D)  # [D/2]
        - angle = positions[:, None] * frequency  # [T, D/2], in float32
        + tables = rotate.__dict__
        + if (x.size(-2), D) not in tables:
        +     frequency = base ** (-torch.arange(0, D, 2, device=x.device) / D)  # [D/2]
        +     tables[x.size(-2), D] = positions[:, None] * frequency  # [T, D/2], in float32
        + angle = tables[x.size(-2), D].to(x.device)
    """,
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
