"""Hidden checks of 9.0.1: what is right only on the visible inputs fails here."""

from __future__ import annotations

import torch

from grader.checks import Part, check, expect

FLOATS = [torch.float64, torch.bfloat16]


@check(aspect="values")
def test_compare_contract(submission, reference, draw):
    """outer_compare holds for any sizes, integers and floats

    > bool [A, B], True at [i, j] where a[i] <= b[j].
    > All of it works for any sizes
    """
    rows, columns = draw.sizes(2, 2, 12)
    calls = [
        {"a": draw.normal(row=n).round(decimals=1), "b": draw.normal(column=m).round(decimals=1)}
        for n, m in ((rows, columns), (1, 130), (130, 1), (1, 1))
    ]
    calls.append({"a": draw.integers(-9, 9, row=columns), "b": draw.integers(-9, 9, column=rows)})
    for call in calls:
        call["b"][-1] = call["a"][0]  # equal, in every draw
    part = Part("outer_compare", outputs=["table"], axes=["row column"], dtypes=())
    part.expect(submission, reference, draw, calls)


@check(aspect="values")
def test_index_contract(submission, reference, draw):
    """one_hot and pick hold for ids of any shape and tables of any size

    > `[..]` stands for any number of axes, also none.
    > the same id may come several times.
    """
    for rows, width in (draw.sizes(2, 3, 20), (1, 1), (1030, 3)):
        shapes = ({"group": 2, "batch": 1, "head": 3, "time": 2}, {"batch": 3, "time": 1}, {"time": 130})
        several = [draw.integers(0, rows, **shape) for shape in shapes]
        for ids in several:
            expect(submission.one_hot(ids, rows), "rows").equals(reference.one_hot(ids.cpu(), rows))
        table = draw.normal(row=rows, column=width)
        Part("pick", outputs=["rows"], dtypes=FLOATS, rows=False).expect(
            submission, reference, draw, [{"table": table, "ids": ids} for ids in several]
        )


@check(aspect="values")
def test_mean_contract(submission, reference, draw):
    """masked_mean holds for any sizes, and for rows that keep all, one or none

    > the mean over the positions that are kept, and 0 where a row keeps none.
    """
    calls = []
    for batch, time, width in (draw.sizes(3, 3, 9), (1, 1, 4), (3, 300, 2), (4, 1, 1)):
        keep = draw.mask(keep=0.5, batch=batch, time=time)
        keep[0] = True
        if batch > 2:
            keep[1], keep[2] = False, False
            keep[2, -1] = True
        calls.append({"x": draw.normal(batch=batch, time=time, width=width, shift=2.0), "keep": keep})
    Part("masked_mean", outputs=["mean"], axes=["batch width"], dtypes=FLOATS).expect(
        submission, reference, draw, calls
    )


@check(aspect="values")
def test_heads_contract(submission, reference, draw):
    """split_heads, join_heads and shift_right hold for any sizes

    > [B, H, T, D/H]; head h holds the columns h·D/H to (h+1)·D/H of x.
    > int64 [B, T]: start, then all tokens of the row but the last.
    """
    for batch, time, width, heads in ((*draw.sizes(3, 2, 7), 5), (1, 1, 3, 2), (2, 130, 1, 6), (3, 2, 80, 1)):
        x = draw.normal(batch=batch, time=time, width=heads * width)
        Part("split_heads", outputs=["heads"]).expect_values(
            submission, reference, draw, [{"x": x, "heads": heads}]
        )
        x = draw.normal(batch=batch, head=heads, time=time, column=width)
        Part("join_heads", outputs=["joined"]).expect_values(submission, reference, draw, [{"x": x}])
        tokens = draw.integers(0, 50_000, batch=batch, time=time)
        Part("shift_right", outputs=["shifted"]).expect_values(
            submission, reference, draw, [{"tokens": tokens, "start": draw.size(0, 50_000)}]
        )
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
