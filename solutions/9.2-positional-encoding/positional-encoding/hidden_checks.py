"""Hidden checks of 9.2.1: what is right only on the visible inputs fails here."""

from __future__ import annotations

import torch

from grader.checks import (
    check,
    expect,
    expect_raises,
    expect_strict,
    expect_unchanged,
    fail,
    oracle,
    precondition,
    same_tensors,
)

X, TABLE = "batch time width", "position column"
MODULES = ("SinusoidalPositionalEncoding", "LearnedPositionalEncoding")


def exact(reference, max_len, d_model):
    """Return the table in float64, and how far a right one in float32 may be off."""

    def table():
        position, columns = torch.arange(float(max_len))[:, None], torch.arange(0.0, d_model, 2)
        angle = position * 10000.0 ** (-columns / d_model)
        return torch.stack((angle.sin(), angle.cos()), dim=-1).flatten(1)

    return oracle(table, also=[lambda: reference.sinusoidal_positions(max_len, d_model)])


@check(
    "the table is right for any length and any even width",
    aspect="values",
    points=1.5,
    asked=[
        "Tables and sequences may have any length and batches any size, one included.",
        "column 2i holds sin(angle), column 2i + 1 holds cos(angle) of the same angle.",
    ],
)
def test_any_table(submission, reference, draw):
    # No other check asks for these lengths: a table that is kept does here what it does by itself.
    length, other = draw.sizes(2, 13, 40)
    *halves, another = draw.sizes(3, 2, 40)  # one frequency would be right in many tables
    for max_len, half in (
        *(
            (length, half) for half in sorted(halves, reverse=True)
        ),  # what is kept of the first is wide enough
        (other, another),
        (draw.size(1500, 2500), draw.size(2, 9)),
    ):
        found = submission.sinusoidal_positions(max_len, 2 * half)
        expect(found, "positions", axes=TABLE).is_tensor(shape=(max_len, 2 * half))
        first = max(max_len - 100, 0)
        name = f"positions[{first}:]" if first else "positions"
        wanted = exact(reference, max_len, 2 * half)[first:]
        expect(found[first:].float(), name, axes=TABLE).close_to(wanted)


@check("every odd width is a ValueError", aspect="errors", points=0.5, asked="ValueError when it is odd.")
def test_any_odd_width(submission, draw):
    for d_model in (3, 2 * draw.size(8, 60) + 1):
        with expect_raises("ValueError", what=f"{d_model} columns are not pairs of a sine and a cosine"):
            submission.sinusoidal_positions(draw.size(1, 9), d_model)


@check(
    "one sinusoidal module serves batches and sequences of any size",
    aspect="values",
    asked=[
        "Add position t's row to x[:, t], in every sequence of the batch.",
        "Tables and sequences may have any length and batches any size, one included.",
        "left as it was and need not be contiguous in memory",
    ],
)
def test_sinusoidal_is_reusable(submission, reference, draw):
    max_len, half = draw.size(41, 60), draw.size(2, 8)  # a length that no other check asks for
    module = submission.SinusoidalPositionalEncoding(d_model=2 * half, max_len=max_len)
    module.to(draw.device)
    module.eval()
    rows = submission.sinusoidal_positions(max_len, 2 * half)  # what is in it is for others to ask
    expect(rows, "positions", axes=TABLE).is_tensor(shape=(max_len, 2 * half))
    with precondition("sinusoidal_positions must tell positions apart"):
        expect(rows[1], "row 1").differs_from(rows[0], "row 0 is another position")
    rows, slack = rows.float().cpu(), exact(reference, max_len, 2 * half).tolerance
    for time, batch in zip((max_len, 1, *draw.sizes(2, 2, 19)), (1, *draw.sizes(3, 2, 5)), strict=True):
        for dtype in (torch.float32, torch.float64):
            # So large that a sum in float32 loses more than the table may be off.
            x = draw.noncontiguous(
                draw.normal(batch=batch, time=time, width=2 * half, scale=1e6, dtype=dtype)
            )
            y = module(x=x)
            expect_unchanged(submission)
            sums = oracle(lambda x, rows: x + rows, x, rows[:time].to(dtype))
            expect(y, f"output in {dtype}", axes=X).close_to(sums, tolerance=sums.tolerance + slack)
    expect_strict(module)


@check(
    "one learned module serves any sizes, and two have tables of their own",
    aspect="values",
    asked=[
        "Add position t's row to x[:, t], in every sequence of the batch.",
        "Tables and sequences may have any length and batches any size, one included.",
        "A result depends on the arguments and the module's own table alone",
    ],
)
def test_learned_is_reusable(submission, draw):
    d_model, max_len = 2 * draw.size(1, 5), draw.size(11, 20)
    modules = [submission.LearnedPositionalEncoding(d_model=d_model, max_len=max_len) for _ in range(2)]
    tables = []
    for module in modules:
        module.to(draw.device)
        module.eval()
        found = list(module.named_parameters())
        if len(found) != 1:
            fail(f"wrong names  parameters  got {len(found)}  want 1", stage="names")
        name, parameter = found[0]
        module.load_state_dict({**module.state_dict(), name: draw.like(parameter.detach())})
        module(draw.normal(batch=1, time=3, width=d_model)).sum().backward()
        with torch.no_grad():  # so that it arrives as a leaf, with its gradient
            gradient = next(value for _, value in module.named_parameters()).grad
        expect(gradient is not None and bool(gradient.any()), "one sequence teaches its table").is_value(True)
        zeros = torch.zeros(1, max_len, d_model, device=draw.device)
        y = module(zeros)  # what it adds to nothing
        expect(y, "output for zeros", axes=X).is_tensor(shape=(1, max_len, d_model), dtype=torch.float32)
        tables.append(y[0].detach())
    expect(tables[0], "table of the first module", axes=TABLE).differs_from(
        tables[1], why="each module was given a table of its own"
    )
    for module, rows in zip(modules, tables, strict=True):
        for time, batch in zip((1, *draw.sizes(2, 2, 10)), (*draw.sizes(2, 2, 5), 1), strict=True):
            for place, dtype in enumerate((torch.float32, torch.float32, torch.float32, torch.float64)):
                x = draw.noncontiguous(draw.normal(batch=batch, time=time, width=d_model, dtype=dtype))
                with same_tensors(submission) if place else torch.no_grad():
                    y = module(x=x)
                expect_unchanged(submission)
                wanted = oracle(lambda x, rows: x + rows, x, rows[:time].to(dtype))
                expect(y, f"output in {dtype}", axes=X).close_to(wanted)
        expect_strict(module)


@check(
    "a table of one row is not stretched over a longer sequence: that raises ValueError too",
    aspect="errors",
    points=0.5,
    asked=[
        "T > max_len is a ValueError.",
        "A table with a single row would be stretched over any T by broadcasting",
    ],
)
def test_one_row(submission, draw):
    for name in MODULES:
        module = getattr(submission, name)(4, 1)
        module.to(draw.device)
        expect(module(draw.normal(batch=2, time=1, width=4)), "output", axes=X).is_tensor(shape=(2, 1, 4))
        for time in (2, 7):
            x = draw.normal(batch=3, time=time, width=4)
            with expect_raises("ValueError", what=f"{time} positions do not fit into max_len=1"):
                module(x)


@check(
    "tables and sequences of thousands of positions are as right as short ones",
    aspect="values",
    points=0.5,
    asked="Tables and sequences may have any length and batches any size, one included.",
)
def test_long(submission, reference, draw):
    max_len, d_model = draw.size(5100, 7000), 2 * draw.size(1, 3)
    found = submission.sinusoidal_positions(max_len, d_model)
    expect(found, "positions", axes=TABLE).is_tensor(shape=(max_len, d_model))
    wanted = exact(reference, max_len, d_model)
    first = max_len - 100
    expect(found[first:].float(), f"positions[{first}:]", axes=TABLE).close_to(wanted[first:])
    for name in MODULES:
        module = getattr(submission, name)(d_model, max_len)
        module.to(draw.device)
        module.eval()
        x = draw.normal(batch=2, time=max_len, width=d_model)
        y = expect(module(x), "output", axes=X).is_tensor(shape=(2, max_len, d_model)).actual
        if name == MODULES[0]:
            sums = oracle(lambda x, rows: x + rows, x, wanted.value)
            end = expect(y[:, first:], f"output at positions {first} and later", axes=X)
            end.close_to(sums[:, first:], tolerance=sums.tolerance + wanted.tolerance)
