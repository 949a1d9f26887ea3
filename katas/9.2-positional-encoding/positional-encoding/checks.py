"""Checks of 9.2.1. Expected tables come from `table`, computed in float64.

The modules are compared with x plus the submission's own table, so that a mistake in the table costs its
points once.
"""

from __future__ import annotations

import math

import torch

from grader.checks import (
    Expected,
    Part,
    check,
    expect,
    expect_device,
    expect_gradients,
    expect_no_error,
    expect_raises,
    fail,
    only_if,
    oracle,
    oracle_gradients,
    precondition,
    supposing,
    with_axes,
)

X, TABLE = "batch time width", "position column"
MODULES = ("SinusoidalPositionalEncoding", "LearnedPositionalEncoding")


# --- the oracle: the table, by three right formulas that round differently ---


def _by_power(position, columns, d_model):
    return position * 10000.0 ** (-columns / d_model)


def _by_division(position, columns, d_model):
    return position / 10000.0 ** (columns / d_model)


def _by_exponential(position, columns, d_model):
    return position * torch.exp(columns * (-math.log(10000.0) / d_model))


def table(max_len, d_model, angles=_by_power):
    """Return the right table in the default dtype, which an oracle sets."""
    position, columns = torch.arange(float(max_len))[:, None], torch.arange(0.0, d_model, 2)
    angle = angles(position, columns, d_model)
    return torch.stack((angle.sin(), angle.cos()), dim=-1).flatten(1)


def expected_table(max_len, d_model, part=slice(None)):
    """Return the table, or those rows and columns of it, and how far a right one in float32 may be off."""
    formulas = [
        lambda angles=angles: table(max_len, d_model, angles)[part]
        for angles in (_by_power, _by_division, _by_exponential)
    ]
    return oracle(formulas[0], also=formulas[1:])


def angle_slips(max_len, d_model, part):
    """Return what other angles give; in float64, as float32 cannot tell large ones."""
    position, columns = torch.arange(max_len).double()[:, None], torch.arange(0, d_model, 2).double()

    def waves(angle):
        return torch.stack((angle.sin(), angle.cos()), dim=-1).flatten(1)[part]

    return {
        "your frequencies grow with the column; "
        "divide the position by 10000^(2i / d_model), do not multiply": lambda: waves(
            position * 10000.0 ** (columns / d_model)
        ),
        "your exponent counts by twos twice; use arange(0, d_model, 2) as it is, which is 2i already": lambda: waves(
            position * 10000.0 ** (-2 * columns / d_model)
        ),
        "your exponent is i / d_model; it should be 2i / d_model": lambda: waves(
            position * 10000.0 ** (-columns / 2 / d_model)
        ),
        "your angles are turned from degrees to radians once more; leave them as they are": lambda: waves(
            torch.deg2rad(position * 10000.0 ** (-columns / d_model))
        ),
    }


# --- helpers ---


def positions(submission, max_len, d_model):
    """Call sinusoidal_positions and insist on the shape; float64 is as good as float32."""
    found = submission.sinusoidal_positions(max_len, d_model)
    expect(found, "positions", axes=TABLE).is_tensor(shape=(max_len, d_model))
    if found.dtype == torch.float64:
        return found.float()
    expect(found, "positions", axes=TABLE).is_tensor(dtype=torch.float32)
    return found


def telling_positions(submission, max_len, d_model):
    """Call it for a check of what adds its rows: of rows that are all alike nobody sees whether they were added."""
    found = positions(submission, max_len, d_model)
    with precondition("sinusoidal_positions must tell positions apart"):
        expect(found[1], "row 1").differs_from(found[0], "row 0 is another position")
    return found


def build(submission, draw, name, d_model, max_len):
    """Build a module; dropout, which another check is about, is silenced."""
    module = getattr(submission, name)(d_model, max_len)
    module.to(draw.device)
    module.eval()
    return module


def plus(x, rows, slack=0.0):
    """Return x + rows with a tolerance for x's dtype; `slack` is what the rows themselves may be off.

    Rows may be the submission's own: the tolerance is that of a table that is no larger than a right one.
    """
    wanted, limit = (
        oracle(lambda x, rows: x + rows, x, table.double()) for table in (rows, rows.clamp(-6, 6))
    )
    return Expected(wanted.value, limit.tolerance + slack, wanted.dtype)


def learned_with_table(submission, draw, d_model, max_len):
    """Build LearnedPositionalEncoding, fill its parameter with random numbers, return both and its name."""
    module = build(submission, draw, "LearnedPositionalEncoding", d_model, max_len)
    ((name, parameter),) = module.named_parameters()
    rows = draw.normal(position=max_len, column=d_model)
    laid = _upright(rows) if _is_upright(parameter, d_model, max_len) else rows
    module.load_state_dict({**module.state_dict(), name: laid.reshape(parameter.shape)})
    return module, rows, name


def _is_upright(parameter, d_model, max_len):
    """Tell whether the table is kept as [D, max_len], axes of length 1 aside: that is nobody's business."""
    return [size for size in parameter.shape if size > 1] == [d_model, max_len] and d_model != max_len


def _upright(rows):
    return rows.mT.contiguous()


def gradient_of(module, name, d_model, max_len):
    """Return the gradient of the module's parameter as [max_len, D]."""
    owner = module
    for part in name.split("."):
        owner = getattr(owner, part)
    gradient = expect(owner.grad, f"{name}.grad").is_tensor().actual
    if _is_upright(owner, d_model, max_len):
        gradient = gradient.reshape(d_model, max_len).mT
    return gradient.reshape(max_len, d_model)


# --- sinusoidal_positions ---


@check(aspect="shape", points=0.5)
def test_table_shape(submission):
    """the table is [max_len, d_model]

    > float [max_len, D], with angle = position / 10000 ** (2i / D)
    """
    for max_len, d_model in ((7, 10), (12, 4), (1, 6), (5, 2)):
        positions(submission, max_len, d_model)


@check(aspect="values", follows=test_table_shape)
def test_first_row(submission):
    """position 0 comes first: its sines are 0 and its cosines 1

    > Positions count from 0.
    """
    first = positions(submission, 6, 8)[0]
    expect(first, "positions[0]", axes="column").close_to(torch.tensor([0.0, 1.0] * 4))


@check(aspect="values", points=2.5, follows=test_table_shape)
def test_even_columns(submission):
    """even column 2i is sin(position / 10000^(2i / d_model))

    > column 2i holds sin(angle), column 2i + 1 holds cos(angle) of the same angle.
    """
    for max_len, d_model in ((9, 12), (11, 4), (11, 12)):  # at 10, halves less one pair are a base of 100,000
        found = positions(submission, max_len, d_model)[:, 0::2]
        part = slice(None), slice(0, None, 2)
        with supposing(lambda sizes=(max_len, d_model, part): angle_slips(*sizes)):
            wanted = expected_table(max_len, d_model, part)
            expect(found, "positions[:, 0::2]", axes="position column").close_to(wanted)


@check(aspect="values", points=2.5, follows=test_table_shape)
def test_odd_columns(submission):
    """odd column 2i + 1 is the cosine of the same angle as the column before it

    > column 2i holds sin(angle), column 2i + 1 holds cos(angle) of the same angle.
    """
    for max_len, d_model in ((9, 12), (11, 4), (11, 12)):  # at 10, halves less one pair are a base of 100,000
        found = positions(submission, max_len, d_model)[:, 1::2]
        part = slice(None), slice(1, None, 2)
        with supposing(lambda sizes=(max_len, d_model, part): angle_slips(*sizes)):
            wanted = expected_table(max_len, d_model, part)
            expect(found, "positions[:, 1::2]", axes="position column").close_to(wanted)


@check(aspect="stability", follows=[test_even_columns, test_odd_columns])
def test_far_positions(submission):
    """far positions keep their own rows, as exact as near ones allow

    > Tables and sequences may have any length and batches any size, one included.
    """
    found = positions(submission, 5000, 6)[4950:]
    wanted = expected_table(5000, 6, slice(4950, None))
    expect(found, "positions[4950:]", axes=TABLE).close_to(wanted)


@check(aspect="errors")
def test_odd_width(submission):
    """an odd d_model is a ValueError

    > ValueError when it is odd.
    """
    for d_model in (7, 1):
        with expect_raises("ValueError", what=f"{d_model} columns are not pairs of a sine and a cosine"):
            submission.sinusoidal_positions(4, d_model)


@check(aspect="dtype", points=0.5)
def test_device(submission, device):
    """the table is made on the device asked for

    > where the table is made; None means torch's default.
    """
    with precondition("the table must be made at all"):
        submission.sinusoidal_positions(5, 4)
    found = submission.sinusoidal_positions(max_len=5, d_model=4, device=device)
    expect(found, "sinusoidal_positions(5, 4, device=...)").is_tensor(device=device)
    expect_device(lambda there: submission.sinusoidal_positions(5, 4, device=there), "positions")
    found = submission.sinusoidal_positions(5, 4, device=None)
    expect(found, "sinusoidal_positions(5, 4, device=None)").is_tensor()


# --- SinusoidalPositionalEncoding ---


@check(aspect="values", points=1.5, follows=test_table_shape)
def test_sinusoidal_adds(submission, draw):
    """row t of the table is added to position t, in every sequence of the batch

    > Add position t's row to x[:, t], in every sequence of the batch.
    """
    for batch, time, d_model, max_len in ((2, 5, 8, 12), (3, 3, 6, 7)):
        x = draw.normal(batch=batch, time=time, width=d_model)
        y = build(submission, draw, "SinusoidalPositionalEncoding", d_model, max_len)(x)
        rows = telling_positions(submission, max_len, d_model)[:time].to(draw.device)
        slack = expected_table(max_len, d_model).tolerance
        expect(y, "output", axes=X).close_to(
            plus(x, rows, slack), why="the output is x + sinusoidal_positions"
        )


@check(aspect="parameters", points=0.5)
def test_buffer(submission, draw):
    """the sinusoidal table is a buffer: there is nothing to train

    > The table is a buffer: it moves with the module but is not a parameter.
    """
    module = submission.SinusoidalPositionalEncoding(6, 9)
    found = [name for name, _ in module.named_parameters()]
    expect(found, "parameters").has_names([], why="requires_grad=False does not make a buffer of a parameter")
    if not list(module.named_buffers()):
        fail(
            "no buffer  the module has none",
            "a tensor in a plain attribute stays behind when the module moves: use register_buffer",
            stage="names",
        )
    x = draw.normal(batch=2, time=4, width=6)
    with precondition("the module must add its table at all"):
        before = expect(module(x), "output", axes=X).is_tensor(shape=(2, 4, 6)).actual
    for name, value in module.named_buffers():
        if value.is_floating_point():
            owner, _, last = name.rpartition(".")
            setattr(module.get_submodule(owner), last, value.detach() + 1.0)
    expect(module(x), "output with other numbers in the buffer", axes=X).differs_from(
        before,
        why="the table that is added has to be the buffer: one in a plain attribute does not move with the module",
    )


@check(aspect="parameters", points=0.5, follows=test_sinusoidal_adds)
def test_state(submission, draw):
    """state_dict() of one module fits another, and double() takes the table along

    > `state_dict()` of one module fits another.
    > it moves with the module when that changes device or dtype
    """
    module, other = (build(submission, draw, "SinusoidalPositionalEncoding", 6, 9) for _ in range(2))
    x = draw.normal(batch=2, time=5, width=6)
    y = module(x)
    other.load_state_dict(module.state_dict())
    expect(other(x), "output", axes=X).same_as(y, name="that of the module whose state was loaded")
    other.double()
    wide = other(with_axes(x.double(), *X.split()))
    expect(wide, "output after double()", axes=X).is_tensor(dtype=torch.float64)
    expect(wide.float(), "output after double()", axes=X).same_as(y, name="the output before")


@check(aspect="gradient", points=0.5, follows=test_sinusoidal_adds)
def test_sinusoidal_gradient(submission, draw):
    """the gradient passes to x as it is

    > the gradient passes to x as it is
    """
    x = draw.normal(batch=2, time=5, width=6, requires_grad=True)
    y = build(submission, draw, "SinusoidalPositionalEncoding", 6, 9)(x)
    expect_gradients(y, {"x": x}, draw, oracle=lambda x: x + table(9, 6)[:5].to(x.dtype))


@check(aspect="errors", points=0.5)
def test_sinusoidal_too_long(submission, draw):
    """SinusoidalPositionalEncoding takes max_len positions; one more raises ValueError

    > T > max_len is a ValueError.
    """
    _check_limit(submission, draw, "SinusoidalPositionalEncoding")


def _check_limit(submission, draw, name):
    module = build(submission, draw, name, 4, 5)
    with expect_no_error("5 positions fit into max_len=5"):
        y = module(draw.normal(batch=2, time=5, width=4))
    expect(y, "output", axes=X).is_tensor(shape=(2, 5, 4))
    for time in (6, 9):
        x = draw.normal(batch=2, time=time, width=4)
        with expect_raises("ValueError", what=f"{time} positions do not fit into max_len=5"):
            module(x)


# --- LearnedPositionalEncoding ---


@check(aspect="parameters")
def test_learned_parameter(submission):
    """a learned encoding has one parameter, of max_len times d_model numbers

    > The table is the only parameter, with one number per position and column.
    > make the table a parameter, with small random numbers to begin with.
    """
    module = submission.LearnedPositionalEncoding(6, 9)
    found = list(module.named_parameters())
    names = [name for name, _ in found]
    if len(names) != 1:
        fail(
            f"wrong names  parameters  got {len(names)}  want 1",
            f"it has {', '.join(names)}"
            if names
            else "a tensor is trained when it is wrapped in nn.Parameter",
            stage="names",
        )
    expect(found[0][1].numel(), f"numbers in {names[0]}, for d_model 6 and max_len 9").is_value(54)
    if not bool(found[0][1].any()):
        fail(f"all zeros  {names[0]} of a new module: want small random numbers", subject=found[0][1])


@check(aspect="values", points=2, follows=test_learned_parameter)
def test_learned_adds(submission, draw):
    """row t of the learned table is added to position t, in every sequence of the batch

    > Add position t's row to x[:, t], in every sequence of the batch.
    """
    for batch, time, d_model, max_len in ((2, 5, 8, 12), (3, 3, 6, 7)):
        module, rows, _ = learned_with_table(submission, draw, d_model, max_len)
        x = draw.normal(batch=batch, time=time, width=d_model)
        expect(module(x), "output", axes=X).close_to(plus(x, rows[:time]))


@check(aspect="gradient", points=1.5, follows=test_learned_adds)
def test_learned_gradient(submission, draw):
    """the rows that were used get the sum of the batch's gradients, the others none, and x gets its own

    > Row t gets a gradient only from sequences with more than t positions
    > the gradient passes to x as it is
    """
    module, rows, name = learned_with_table(submission, draw, 6, 9)
    x = draw.normal(batch=3, time=5, width=6, requires_grad=True)
    y = module(x)
    cotangent = draw.like(y)
    (y * cotangent).sum().backward()
    wanted = oracle_gradients(lambda x, rows: x + rows[:5], {"x": x, "table": rows}, cotangent)
    gradient = gradient_of(module, name, 6, 9)
    with only_if("the output must be right", lambda: expect(y, "output", axes=X).close_to(plus(x, rows[:5]))):
        expect(gradient, f"{name}.grad", axes=TABLE).close_to(wanted["table"])
        expect(x.grad, "x.grad", axes=X).close_to(wanted["x"])


@check(aspect="errors", points=0.5)
def test_learned_too_long(submission, draw):
    """LearnedPositionalEncoding takes max_len positions; one more raises ValueError

    > T > max_len is a ValueError.
    """
    _check_limit(submission, draw, "LearnedPositionalEncoding")


# --- both modules ---


@check(aspect="dtype", points=0.5, follows=test_sinusoidal_adds)
def test_sinusoidal_dtypes(submission, draw, device):
    """the output has the dtype of x, and far rows are right in bfloat16 too (sinusoidal)

    > [B, T, D], in the dtype of x.
    > Make the table in float32, whatever x is, and cast its *rows*.
    """
    module = build(submission, draw, "SinusoidalPositionalEncoding", 6, 400)
    rows = telling_positions(submission, 400, 6)[:300].to(draw.device)
    _check_dtypes(module, draw, device, rows, expected_table(300, 6).tolerance)


@check(aspect="dtype", points=0.5, follows=test_learned_adds)
def test_learned_dtypes(submission, draw, device):
    """the output has the dtype of x, and far rows are right in bfloat16 too (learned)

    > [B, T, D], in the dtype of x.
    > Make the table in float32, whatever x is, and cast its *rows*.
    """
    module, rows, _ = learned_with_table(submission, draw, 6, 400)
    _check_dtypes(module, draw, device, rows[:300])


def _check_dtypes(module, draw, device, rows, slack=0.0):
    # 300 positions: bfloat16 counts only to 256, so positions must not be made in the dtype of x.
    x = draw.normal(batch=2, time=300, width=6, dtype=torch.bfloat16)
    y = expect(module(x), "output for a bfloat16 x", axes=X)
    y.is_tensor(shape=(2, 300, 6), dtype=torch.bfloat16, device=device).close_to(plus(x, rows, slack))


@check(aspect="shape", points=0.5)
def test_single(submission, draw):
    """a single sequence and a single position get what they get among others

    > Tables and sequences may have any length and batches any size, one included.
    """
    for name in MODULES:
        module = build(submission, draw, name, 6, 9)
        x = draw.normal(batch=3, time=5, width=6)
        with precondition("forward must give [B, T, D]"):
            y = expect(module(x), "output", axes=X).is_tensor(shape=(3, 5, 6)).actual
        for batch, time in ((1, 5), (3, 1), (1, 1)):
            found = module(with_axes(x[:batch, :time].clone(), *X.split()))
            expect(found, "output", axes=X).is_tensor(shape=(batch, time, 6), dtype=torch.float32)
            expect(found, "output", axes=X).same_as(y[:batch, :time], name="that among others")


@check(aspect="arguments", points=0.5, follows=[test_sinusoidal_adds, test_learned_adds])
def test_promises(submission, draw):
    """however all of it is called, results are those of these arguments and a module's table, in the dtype of x

    > left as it was and need not be contiguous in memory
    > A result depends only on the arguments and the module's own table
    > [B, T, D], in the dtype of x.
    """
    for name in MODULES:
        # The sinusoidal table need not be better than float32, and names are free: each is compared with another.
        part = Part(name, {"d_model": 6, "max_len": 9}, ["output"], [X], [torch.float64, torch.bfloat16])
        part.expect(submission, None, draw, [{"x": draw.normal(batch=2, time=5, width=6)}])
    part = Part("sinusoidal_positions", outputs=["positions"], axes=["position column"])
    part.expect(submission, None, draw, [{"max_len": 5, "d_model": 6}])


@check(aspect="mode", points=0.5)
def test_modes(submission, draw):
    """train() and eval() agree

    > Nothing is kept from one call to the next.
    """
    for name in MODULES:
        module = build(submission, draw, name, 6, 9)
        x = draw.normal(batch=2, time=5, width=6)
        module.train()
        with precondition("forward must give [B, T, D]"):
            y = expect(module(x), "output", axes=X).is_tensor(shape=(2, 5, 6)).actual
        module.eval()
        expect(module(x), "output in eval mode", axes=X).same_as(y, name="that in train mode")
