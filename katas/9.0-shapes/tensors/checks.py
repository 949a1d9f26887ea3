"""Checks of 9.0.1. What is right is written here with slices and loops, where the lesson asks for none."""

from __future__ import annotations

import torch

from grader.checks import Part, check, expect, expect_raises, expect_unchanged, oracle, supposing

TABLE = "row column"
FLOATS = [torch.float64, torch.bfloat16]


# --- what is right ---


def right_table(a, b):
    return torch.stack([entry <= b for entry in a])


def right_rows(ids, size):
    return torch.eye(size)[ids]


def right_pick(table, ids):
    return torch.stack([table[int(i)] for i in ids.flatten()]).reshape(*ids.shape, table.shape[1])


def right_mean(x, keep):
    return torch.stack([row[where].mean(0) if where.any() else row[0] * 0 for row, where in zip(x, keep, strict=True)])


def added(found, wanted, keep):
    """Return whether each sum was divided by its count and one and the same positive number more."""
    count = keep.cpu().sum(1, keepdim=True)
    more = wanted.value * count / found.cpu() - count
    return more.min() > 1e-4 and bool((more - more.mean()).abs().max() < 1e-2 * more.mean())


def right_heads(x, heads):
    return torch.stack(x.split(x.shape[2] // heads, dim=2), dim=1)


def right_joined(x):
    return torch.cat(list(x.unbind(1)), dim=2)


def right_shifted(tokens, start):
    return torch.cat([torch.full((len(tokens), 1), start), tokens.cpu()[:, :-1]], 1)


def some_kept(draw, batch, time):
    """Draw which positions count: another number of them in each row, never the first; of one position, that."""
    keep = draw.mask(batch=batch, time=time)
    for row in range(batch):
        keep[row] = time == 1
        keep[row, draw.permutation(time - 1)[: min(2 * row + 2, time - 2)] + 1] = True
    return keep


# --- compare and pick ---


@check(aspect="values", points=2)
def test_outer_compare(submission, draw):
    """outer_compare is boolean [A, B], True where a[i] <= b[j]

    > bool [A, B], True at [i, j] where a[i] <= b[j].
    """
    for rows, columns in ((4, 6), (5, 5), (1, 3), (66, 2)):
        a = draw.integers(0, 5, row=rows)  # so few that many are equal
        b = draw.integers(0, 5, column=columns)
        a[0], b[0], b[-1] = 2, 2, 1  # equal, and less, in every draw
        found = submission.outer_compare(a, b)
        expect(found, "table", axes=TABLE).equals(right_table(a.cpu(), b.cpu()))
    near = 2**24 + torch.arange(3, device=draw.device)  # in float32 the first two are equal
    for kind, values in (("large integers", near), ("float64 numbers", near.double() / 2**24 / 2**24)):
        found = submission.outer_compare(values, values)
        expect(found, f"table of {kind} that are close", axes=TABLE).equals(
            right_table(values.cpu(), values.cpu())
        )


@check(aspect="values", points=2)
def test_one_hot(submission, draw):
    """one_hot is float32 [.., size], with a single one in each row, at the id

    > float32 [.., size], 1 where the last axis counts up to the id, 0 elsewhere.
    > `[..]` stands for any number of axes, also none.
    """
    shapes = {"time": 5}, {"batch": 2, "time": 4}, {"batch": 3, "time": 1}, {"batch": 2, "head": 3, "time": 66}, {}
    for shape in shapes:
        ids = draw.integers(0, 6, **shape) if shape else torch.tensor(3, device=draw.device)
        found = submission.one_hot(ids, 7)  # nothing has the last id
        expect(found, f"rows of {len(shape)}-d ids", axes=" ".join([*shape, "id"])).equals(
            right_rows(ids.cpu(), 7)
        )


@check(aspect="values", points=2)
def test_pick(submission, draw):
    """pick reads row ids[..] of the table, for ids of any shape

    > [.., D], of the table's dtype: row ids[..] of the table.
    > `[..]` stands for any number of axes, also none.
    """
    for rows, width, shape in (
        (6, 3, {"time": 5}),
        (5, 5, {"batch": 5, "time": 4}),
        (4, 1, {"batch": 2, "head": 3, "time": 66}),
        (1, 3, {"batch": 2, "time": 3}),
        (7, 3, {}),
    ):
        table = draw.normal(row=rows, column=width)
        ids = draw.integers(0, rows, **shape) if shape else torch.tensor(2, device=draw.device)
        found = submission.pick(table, ids)
        expect(found, f"rows for {len(shape)}-d ids", axes=" ".join([*shape, "column"])).equals(
            right_pick(table.cpu(), ids.cpu())
        )


@check(aspect="errors", points=1.5)
def test_outside(submission, draw):
    """ids outside the table are a ValueError, also negative ones, in one_hot and in pick

    > ValueError: an id is negative, or is not below size.
    > ValueError: an id is negative, or is not below V.
    """
    table = draw.normal(row=5, column=3)
    for bad in (9, 5, -1):
        ids = draw.integers(0, 5, batch=2, time=4)
        ids[1, 2] = bad
        with expect_raises("ValueError", f"id {bad} is outside a table of 5"):
            submission.one_hot(ids, 5)
        with expect_raises("ValueError", f"id {bad} is outside a table of 5"):
            submission.pick(table, ids)


# --- masked_mean ---


@check(aspect="values", points=1.5)
def test_masked_mean(submission, draw):
    """the mean is over the positions that are kept, wherever they are

    > the mean over the positions that are kept, and 0 where a row keeps none.
    > True where a position counts, anywhere in a row.
    """
    for batch, time, width in ((3, 7, 4), (4, 4, 4), (2, 66, 3), (1, 5, 2), (3, 1, 2)):
        x = draw.normal(batch=batch, time=time, width=width, scale=2.0, shift=3.0)
        keep = some_kept(draw, batch, time)
        found = submission.masked_mean(x, keep)
        wanted = oracle(lambda x, keep=keep: right_mean(x, keep.cpu()), x)
        slips = {
        "your count has something added, so every mean is too small; "
        "divide by how many positions are kept": lambda: added(
            found, wanted, keep
        )
    }
        with supposing(slips):
            expect(found, "mean", axes="batch width").close_to(wanted)


@check(aspect="stability", follows=test_masked_mean)
def test_nothing_kept(submission, draw):
    """a row that keeps nothing gets 0, and its gradient is finite

    > and 0 where a row keeps none.
    """
    x = draw.normal(batch=3, time=5, width=4, shift=3.0, requires_grad=True)
    keep = some_kept(draw, 3, 5)
    keep[1] = False
    found = submission.masked_mean(x, keep)
    wanted = oracle(lambda x: right_mean(x, keep.cpu()), x)
    expect(found, "mean", axes="batch width").close_to(wanted)
    (found * draw.like(found)).sum().backward()
    expect(x.grad, "gradient of x", axes="batch time width").is_finite()


# --- heads ---


@check(aspect="values", points=1.5)
def test_split_heads(submission, draw):
    """head h holds the columns h·D/H to (h+1)·D/H, as [B, H, T, D/H]

    > [B, H, T, D/H]; head h holds the columns h·D/H to (h+1)·D/H of x.
    """
    for batch, time, width, heads in ((2, 5, 12, 3), (3, 4, 16, 4), (1, 66, 6, 2), (2, 3, 5, 1), (2, 1, 8, 4)):
        x = draw.normal(batch=batch, time=time, width=width)
        found = submission.split_heads(x, heads)
        expect(found, f"x in {heads} heads", axes="batch head time column").equals(right_heads(x.cpu(), heads))


@check(aspect="errors", points=0.5)
def test_heads_that_do_not_fit(submission, draw):
    """heads that do not divide D are a ValueError, and so are 0 heads

    > ValueError: heads is below 1, or does not divide D.
    """
    for width, heads in ((10, 3), (6, 4), (3, 6), (4, 0), (4, -2)):
        x = draw.normal(batch=2, time=3, width=width)
        with expect_raises("ValueError", f"{heads} heads cannot share {width} columns"):
            submission.split_heads(x, heads)


@check(aspect="values")
def test_join_heads(submission, draw):
    """join_heads undoes split_heads: the heads' columns are side by side again

    > [B, T, D], so that join_heads(split_heads(x, heads)) is x.
    """
    for batch, heads, time, width in ((2, 3, 5, 4), (3, 4, 4, 4), (1, 2, 66, 3), (2, 1, 3, 5)):
        x = draw.normal(batch=batch, head=heads, time=time, column=width)
        found = submission.join_heads(x)
        expect(found, f"{heads} heads joined", axes="batch time width").equals(right_joined(x.cpu()))


# --- shift_right ---


@check(aspect="values")
def test_shift_right(submission, draw):
    """each row begins with start, and loses its last token

    > int64 [B, T]: start, then all tokens of the row but the last.
    """
    for batch, time, start in ((3, 5, 9), (2, 66, 0), (4, 1, 7), (4, 4, -1)):
        tokens = draw.integers(1, 7, batch=batch, time=time)
        tokens[:, -1] = 8  # which is nowhere in the result
        found = submission.shift_right(tokens, start)
        expect(found, f"tokens after {start}", axes="batch time").equals(right_shifted(tokens, start))
        expect_unchanged(submission)


# --- all ---


@check(aspect="arguments", follows=[
    test_outer_compare, test_one_hot, test_pick, test_masked_mean, test_split_heads, test_join_heads, test_shift_right,
])  # fmt: skip
def test_promises(submission, draw):
    """in every dtype, by name, in any memory order: the result is that of these arguments, which stay as they were

    > Arguments are left as they were and need not be contiguous in memory.
    > A function of no module
    > returns the dtype of its inputs
    > reach every parameter, and every argument of floating-point numbers, that a result depends on.
    """
    a, b = draw.normal(row=4), draw.normal(column=3)
    Part("outer_compare", outputs=["table"], axes=[TABLE], dtypes=()).expect(
        submission, right_table, draw, [{"a": a, "b": b}]
    )
    ids = draw.integers(0, 5, batch=3, time=4)
    Part("one_hot", outputs=["rows"], axes=["batch time id"], dtypes=()).expect(
        submission, right_rows, draw, [{"ids": ids, "size": 5}]
    )
    Part("pick", outputs=["rows"], axes=["batch time column"], dtypes=FLOATS, rows=False).expect(
        submission, right_pick, draw, [{"table": draw.normal(row=5, column=3), "ids": ids}]
    )
    call = {"x": draw.normal(batch=3, time=5, width=4), "keep": some_kept(draw, 3, 5)}
    Part("masked_mean", outputs=["mean"], axes=["batch width"], dtypes=FLOATS).expect(
        submission, right_mean, draw, [call]
    )
    call = {"x": draw.normal(batch=2, time=3, width=6), "heads": 2}
    Part("split_heads", outputs=["heads"], axes=["batch head time column"], dtypes=FLOATS).expect(
        submission, right_heads, draw, [call]
    )
    call = {"x": draw.normal(batch=2, head=3, time=4, column=2)}
    Part("join_heads", outputs=["joined"], axes=["batch time width"], dtypes=FLOATS).expect(
        submission, right_joined, draw, [call]
    )
    call = {"tokens": draw.integers(1, 9, batch=3, time=5), "start": 9}
    Part("shift_right", outputs=["shifted"], axes=["batch time"]).expect(
        submission, right_shifted, draw, [call]
    )
