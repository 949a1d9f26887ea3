"""Checks of rows; small, so that a cheat can tell them from what is timed."""

from __future__ import annotations

from grader.engine.checks import check, expect, oracle


def normalised(x):
    """Return the right answer."""
    centred = x - x.mean(-1, keepdim=True)
    return centred / ((centred * centred).mean(-1, keepdim=True) + 1e-5).sqrt()


@check(aspect="values", points=1)
def test_values(submission, draw):
    """every row has mean 0 and variance 1"""
    x = draw.normal(row=5, width=7, scale=3.0, shift=2.0)
    y = submission.Rows(7)(x)
    expect(y, "y", axes="row width").close_to(oracle(normalised, x))
