"""Rotations that are right and are made pair after pair, position after position, or by matrices that are nearly empty.

Slices of every second column, the angles of all positions next to them and a stack turn everything in a few calls.
"""


@mistake(
    "pair-by-pair",
    "you turn one pair of columns after the other in Python; turn all pairs at once with slices of every second "
    "column",
    fails=["test_rotate_speed"],
)
def rotate(x, positions=None, *, base=10000.0):
    D = x.size(-1)
    if D % 2:
        raise ValueError(f"the width ({D}) must be even")
    if positions is None:
        positions = torch.arange(x.size(-2), device=x.device)
    out = torch.empty_like(x)
    for i in range(D // 2):
        angle = positions * base ** (-2 * i / D)
        cosine, sine = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
        a, b = x[..., 2 * i], x[..., 2 * i + 1]
        out[..., 2 * i] = a * cosine - b * sine
        out[..., 2 * i + 1] = a * sine + b * cosine
    return out


@mistake(
    "row-by-row",
    "you turn one position after the other in Python; use angles [T, D/2] for all positions at once",
    fails=["test_rotate_speed"],
)
def rotate(x, positions=None, *, base=10000.0):
    D = x.size(-1)
    if D % 2:
        raise ValueError(f"the width ({D}) must be even")
    if positions is None:
        positions = torch.arange(x.size(-2), device=x.device)
    frequency = base ** (-torch.arange(0, D, 2, device=x.device) / D)
    rows = []
    for t in range(x.size(-2)):
        angle = positions[t] * frequency
        cosine, sine = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
        a, b = x[..., t, 0::2], x[..., t, 1::2]
        rows.append(torch.stack((a * cosine - b * sine, a * sine + b * cosine), dim=-1).flatten(-2))
    return torch.stack(rows, dim=-2)


@mistake(
    "matrix-for-each-position",
    "you multiply by a D × D matrix for each position, all but 2 · D of its numbers zeros; use two slices instead",
    fails=["test_rotate_speed"],
    told_on="cpu",
)
def rotate(x, positions=None, *, base=10000.0):
    T, D = x.shape[-2:]
    if D % 2:
        raise ValueError(f"the width ({D}) must be even")
    if positions is None:
        positions = torch.arange(T, device=x.device)
    frequency = base ** (-torch.arange(0, D, 2, device=x.device) / D)
    angle = positions[:, None] * frequency
    cosine, sine = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    even = torch.arange(0, D, 2, device=x.device)
    turn = x.new_zeros(T, D, D)
    turn[:, even, even] = cosine
    turn[:, even, even + 1] = -sine
    turn[:, even + 1, even] = sine
    turn[:, even + 1, even + 1] = cosine
    return (turn @ x.unsqueeze(-1)).squeeze(-1)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
