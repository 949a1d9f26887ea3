"""Hidden checks of 9.2.1: what is right only on the visible inputs fails here."""

from __future__ import annotations

import torch

from grader.checks import (
    Part,
    check,
    expect,
    expect_raises,
    oracle,
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


@check(aspect="values", points=1.5)
def test_any_table(submission, reference, draw):
    """the table is right for any length and any even width

    > Tables and sequences may have any length and batches any size, one included.
    > column 2i holds sin(angle), column 2i + 1 holds cos(angle) of the same angle.
    """
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


@check(aspect="values", points=2.5)
def test_modules_contract(submission, draw):
    """modules are right for any sizes, in every dtype, and two learned ones have tables of their own

    > Add position t's row to x[:, t], in every sequence of the batch.
    > Tables and sequences may have any length and batches any size, one included.
    > A result depends only on the arguments and the module's own table
    """
    made = {"d_model": 2 * draw.size(1, 5), "max_len": draw.size(11, 20)}
    sizes = ((1, made["max_len"]), (3, 1), draw.sizes(2, 2, 10))
    calls = [{"x": draw.normal(batch=batch, time=time, width=made["d_model"])} for batch, time in sizes]
    for name in MODULES:
        part = Part(name, made, axes=[X], dtypes=[torch.float64, torch.bfloat16])
        part.expect_values(submission, None, draw, calls)
    one, other = (submission.LearnedPositionalEncoding(**made) for _ in range(2))
    for module in (one, other):
        module.load_state_dict({name: draw.like(value) for name, value in module.state_dict().items()})
    expect(one(calls[0]["x"]), "output of one module", axes=X).differs_from(
        other(calls[0]["x"]), why="another module has another table"
    )
    one(calls[0]["x"]).sum().backward()
    with torch.no_grad():  # so that it arrives as a leaf, with its gradient
        gradient = next(value for _, value in one.named_parameters()).grad
    expect(gradient is not None and bool(gradient.any()), "one sequence teaches its table").is_value(True)


@check(aspect="errors", points=0.5)
def test_one_row(submission, draw):
    """a table of one row is not stretched over a longer sequence: that raises ValueError too

    > T > max_len is a ValueError.
    > A table with a single row would be stretched over any T by broadcasting
    """
    for name in MODULES:
        module = getattr(submission, name)(4, 1)
        module.to(draw.device)
        expect(module(draw.normal(batch=2, time=1, width=4)), "output", axes=X).is_tensor(shape=(2, 1, 4))
        for time in (2, 7):
            x = draw.normal(batch=3, time=time, width=4)
            with expect_raises("ValueError", what=f"{time} positions do not fit into max_len=1"):
                module(x)


@check(aspect="values", points=0.5)
def test_long(submission, reference, draw):
    """tables and sequences of thousands of positions are as right as short ones

    > Tables and sequences may have any length and batches any size, one included.
    """
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
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
