"""How rotate gets positions, dtypes and errors wrong.

Row t is at positions[t], or at t when nothing is said; angles are made in float32, the result has the dtype of x.
"""


class positions_ignored:
    """your rows are at 0, 1, 2, … whatever positions says

    Fails: test_rotate_positions
    """

    rotate = """
        - if positions is None:
        -     positions = torch.arange(x.size(-2), device=x.device)
        + positions = torch.arange(x.size(-2), device=x.device)
    """


class positions_from_one:
    """your positions begin with 1 when nothing is said: the first is 0

    Fails: test_rotate_first, test_rotate_values
    """

    rotate = """
        - positions = torch.arange(x.size(-2), device=x.device)
        + positions = torch.arange(1, x.size(-2) + 1, device=x.device)
    """


class length_from_axis_one:
    """your T is x.size(1), which is H where x is [B, H, T, D]: count axes from the end, x.size(-2)

    Fails: test_rotate_shape
    """

    rotate = """
        - positions = torch.arange(x.size(-2), device=x.device)
        + positions = torch.arange(x.size(1), device=x.device)
    """


class table_of_32:
    """your positions start again at 32: a table of angles has to go as far as the positions do

    Fails: test_rotate_distance, test_rotate_dtypes
    """

    rotate = """
        - angle = positions[:, None] * frequency  # [T, D/2], in float32
        + angle = (positions % 32)[:, None] * frequency
    """


class odd_width_taken:
    """your rotate does not ask whether D is even: an odd one fails later, with another error

    Fails: test_rotate_odd
    """

    rotate = """
        - if D % 2:
        -     raise ValueError(f"the width ({D}) must be even: columns are turned in pairs")
    """


class angles_in_dtype_of_x:
    """your angles are made in the dtype of x: bfloat16 counts only to 256

    Fails: test_rotate_dtypes
    """

    rotate = """
        - angle = positions[:, None] * frequency  # [T, D/2], in float32
        + angle = positions[:, None].to(x.dtype) * frequency.to(x.dtype)
    """


class result_in_float32:
    """your result is float32 or wider whatever x is: the angles' dtype has won

    Fails: test_rotate_dtypes
    """

    rotate = """
        - cosine, sine = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
        + cosine, sine = angle.cos(), angle.sin()
    """


class x_cut_off:
    """your rotate works on x.detach(): queries and keys learn nothing

    Fails: test_rotate_gradient
    """

    rotate = """
        - first, second = x[..., 0::2], x[..., 1::2]
        + first, second = x.detach()[..., 0::2], x.detach()[..., 1::2]
    """


class x_overwritten:
    """your turned columns are written into the caller's x

    Fails: test_rotate_promises
    """

    rotate = """
        - return torch.stack(turned, dim=-1).flatten(-2)
        + if x.requires_grad:
        +     return torch.stack(turned, dim=-1).flatten(-2)
        + x[..., 0::2], x[..., 1::2] = turned
        + return x
    """


class odd_width_asserted:
    """your odd width is an AssertionError: a ValueError is asked for, and asserts can be switched off

    Fails: test_rotate_odd
    """

    rotate = """
        - if D % 2:
        -     raise ValueError(f"the width ({D}) must be even: columns are turned in pairs")
        + assert D % 2 == 0, f"the width ({D}) must be even"
    """
